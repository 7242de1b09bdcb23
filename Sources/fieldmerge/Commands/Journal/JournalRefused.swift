import ArgumentParser
import Operations

struct JournalRefused: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refused", abstract: "Shows the pushes that are kept because they were refused, the newest last.")

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("How many at most, 1 to 1000. (default: 100)", valueName: "n"))
    var limit: String?

    @Flag(help: "Prints JSON, as GET /v1/journal?refused=true answers it.")
    var json = false

    func run() async throws {
        let page = try await access.with { desk, _ in
            try await desk.list(rules: nil, onlyRefused: true) { $0 == "limit" ? limit : nil }
        }
        print(json ? String(decoding: page.json, as: UTF8.self) : RefusedTable(page.entries).text)
        if page.hasMore { try JournalAccess.note("note: there are older ones; --limit shows more of them") }
    }
}
