import ArgumentParser
import Operations

struct JournalAdopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Assigns the journal to a database that was renamed, moved or restored.",
        discussion: """
            A journal belongs to one database. Run this command after the name or the server of the database has changed. \
            First stop the gateways of the former database: they cannot start again with this journal. The command needs \
            the rights of the gateway.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: try Settings(file: config), bounds: DatabaseBounds(),
            makesFile: false)
        let adoption: JournalOpener.Adoption
        do {
            adoption = try await store.adoptJournal()
        } catch {
            await store.close()
            throw error
        }
        await store.close()
        print(Self.sentence(adoption))
    }

    private static func sentence(_ adoption: JournalOpener.Adoption) -> String {
        let journal = "the journal “\(adoption.journal)”"
        guard let former = adoption.former else {
            return "\(journal) belongs to the database “\(adoption.owner.name)” now"
        }
        guard former != adoption.owner else {
            return "\(journal) belongs to the database “\(adoption.owner.name)” already"
        }
        guard former.name != adoption.owner.name else {
            return
                "\(journal) belonged to the file that was at “\(former.name)” before, and belongs to the one there now"
        }
        return "\(journal) belonged to the database “\(former.name)”, and belongs to “\(adoption.owner.name)” now"
    }
}
