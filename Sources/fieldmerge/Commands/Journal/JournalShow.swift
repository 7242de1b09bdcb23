import ArgumentParser
import Operations

struct JournalShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one entry with complete values.")

    @OptionGroup var access: JournalAccess

    @Argument(help: "The entry's number.")
    var number: Int

    @Flag(help: "Prints JSON, as GET /v1/journal/{n} returns it.")
    var json = false

    func run() async throws {
        let entry = try await access.with { desk, _ in try await desk.entry(number) }
        print(json ? String(decoding: entry.json, as: UTF8.self) : EntryText(entry).text)
    }
}
