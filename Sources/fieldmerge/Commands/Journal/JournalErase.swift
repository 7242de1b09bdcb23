import ArgumentParser
import Operations

struct JournalErase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Erases the values of one person from the journal.",
        discussion: """
            Erases the values from entries, stored answers, refused pushes and the feed. The entries stay, without values. \
            Gateways may run meanwhile. Erased entries cannot be undone, and erased pushes cannot be sent again. A client \
            that repeats a push with an erased answer gets 409 key-expired. Without --yes the command only counts.
            """)

    @OptionGroup var access: JournalAccess

    @Option(help: ArgumentHelp("Folder of the rule files (*.yaml).", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("The person is the sender of this token's pushes.", valueName: "token"))
    var who: String?

    @Option(help: ArgumentHelp("The person is a record of this resource; needs --id.", valueName: "name"))
    var resource: String?

    @Option(help: ArgumentHelp("The record's key as in a URL.", valueName: "key"))
    var id: String?

    @Option(name: .customLong("as"), help: JournalAccess.authorHelp)
    var author: String?

    @Flag(help: "Erases the values.")
    var yes = false

    func validate() throws { _ = try person() }

    private func person() throws -> ErasedPerson {
        switch (who, resource, id) {
        case (let who?, nil, nil): return .sender(who)
        case (nil, let resource?, let id?): return .record(resource: resource, id: id)
        default: throw ValidationError("Give --who, or --resource and --id.")
        }
    }

    func run() async throws {
        let person = try person()
        let report = try await access.with(for: .merging, as: author) { desk, settings in
            try await desk.erase(person, rules: try settings.required(rules, .rules), isPreview: !yes)
        }
        print(ErasureText(report, isPreview: !yes).text)
    }
}
