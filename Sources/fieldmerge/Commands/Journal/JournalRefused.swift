import ArgumentParser
import Operations

struct JournalRefused: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refused", abstract: "Shows the pushes that are kept because they were refused, the newest last.")

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml), which --id needs.", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("With --id, pushes that name a record of this resource.", valueName: "name"))
    var resource: String?

    @Option(help: ArgumentHelp("Pushes that name this record, its key as in a URL.", valueName: "key"))
    var id: String?

    @Option(help: ArgumentHelp("Pushes of this token.", valueName: "token"))
    var who: String?

    @Option(help: ArgumentHelp("Pushes of this device.", valueName: "device"))
    var device: String?

    @Option(help: ArgumentHelp("Pushes refused for this problem, such as unique.", valueName: "code"))
    var code: String?

    @Option(
        help: ArgumentHelp(
            "Pushes of this moment or later: 2026-11-20 or 2026-11-20T10:00:00Z.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Pushes before this moment.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("How many at most, 1 to 1000. (default: 100)", valueName: "n"))
    var limit: String?

    @Flag(help: "Prints JSON, as GET /v1/journal?refused=true answers it.")
    var json = false

    func run() async throws {
        let filters = [
            "resource": resource, "id": id, "who": who, "device": device, "code": code, "since": since, "until": until,
            "limit": limit,
        ]
        let page = try await access.with { desk, settings in
            let folder = try id == nil ? nil : settings.required(rules, .rules)
            return try await desk.list(rules: folder, onlyRefused: true) { filters[$0] ?? nil }
        }
        print(json ? String(decoding: page.json, as: UTF8.self) : RefusedTable(page.entries).text)
        if page.hasMore { try JournalAccess.note("note: there are older ones; --limit shows more of them") }
    }
}
