import ArgumentParser
import Operations

struct JournalRefused: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refused", abstract: "Shows refused pushes, the newest last.")

    @OptionGroup var access: JournalAccess

    @OptionGroup var filter: EntryFilterOptions

    @Option(help: ArgumentHelp("Only pushes refused with this code, such as unique.", valueName: "code"))
    var code: String?

    @Flag(help: "Prints JSON, as GET /v1/journal?refused=true returns it.")
    var json = false

    func run() async throws {
        let filters = filter.parameters.merging(["code": code]) { $1 }
        let page = try await access.with { desk, settings in
            let folder = try filter.id == nil ? nil : settings.required(filter.rules, .rules)
            return try await desk.list(rules: folder, onlyRefused: true) { filters[$0] ?? nil }
        }
        print(json ? String(decoding: page.json, as: UTF8.self) : RefusedTable(page.entries).text)
        if page.hasMore { try JournalAccess.note("note: there are older ones; --limit shows more of them") }
    }
}
