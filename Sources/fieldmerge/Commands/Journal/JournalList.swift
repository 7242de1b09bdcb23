import ArgumentParser
import MergeCore
import Operations
import RecordStore

struct JournalList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Shows entries of the journal, the newest last.",
        discussion: """
            For each group it shows the client's base (old), the value in the database (overwritten), the value that the \
            client sent (new) and the result (written). --resource and --id show the history of one record.
            """)

    @OptionGroup var access: JournalAccess

    @OptionGroup var filter: EntryFilterOptions

    @Option(
        help: ArgumentHelp(
            "Only entries with this group, or with a group of this section.", valueName: "section.group"))
    var group: String?

    @Option(
        help: ArgumentHelp(
            "Only entries with the group of this field; needs --resource and --rules.", valueName: "section.field"))
    var field: String?

    @Option(help: ArgumentHelp("Only entries with this outcome, such as client-won.", valueName: "outcome"))
    var outcome: String?

    @Option(help: ArgumentHelp("Only entries with greater numbers, from the lowest.", valueName: "number"))
    var after: String?

    @Flag(help: "Only refused pushes.")
    var refused = false

    @Flag(help: "Prints JSON, as GET /v1/journal returns it.")
    var json = false

    @Flag(help: "Prints CSV: a line for each group, with values as JSON.")
    var csv = false

    func validate() throws {
        if json, csv { throw ValidationError("Give --json or --csv, not both.") }
    }

    func run() async throws {
        try await access.with { desk, settings in
            let own = ["group": group, "field": field, "outcome": outcome, "after": after]
            let filters = filter.parameters.merging(own) { $1 }
            let folder = try filter.id == nil && field == nil ? nil : settings.required(filter.rules, .rules)
            let page = try await desk.list(rules: folder, onlyRefused: refused) { filters[$0] ?? nil }
            if page.entries.isEmpty, let group,
                let doubt = try await desk.checkGroup(
                    group, of: filter.resource, rules: settings.text(filter.rules, .rules))
            {
                try JournalAccess.note("note: \(doubt)")
            }
            if json {
                print(String(decoding: page.json, as: UTF8.self))
            } else if csv {
                print(JournalCSV(page.entries).text, terminator: "")
            } else {
                print(JournalTable(page.entries).text)
            }
            if page.entries.isEmpty, let resource = filter.resource, let doubt = try await desk.doubt(about: resource) {
                try JournalAccess.note("note: \(doubt)")
            }
            if let moment = page.lastForeignChange {
                try JournalAccess.note(
                    "note: another program has changed this record since; that was noticed at "
                        + moment.text(separator: "T", fraction: 0) + "Z")
            }
            if page.hasMore { try JournalAccess.note(Self.more(page)) }
        }
    }

    private static func more(_ page: JournalPage) -> String {
        page.isNewest
            ? "note: there are older entries; --limit shows more of them, --after 0 begins at the oldest"
            : "note: there are more entries; go on with --after \(page.entries.last?.number ?? 0)"
    }
}
