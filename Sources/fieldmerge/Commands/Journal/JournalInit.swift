import ArgumentParser
import RecordStore

struct JournalInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Makes the journal, and prints the GRANT that the gateway's user needs for it.",
        discussion: """
            On a MariaDB server it needs a user who may make the schema; the gateway's own user need not be that one. \
            What is printed is SQL, ready for the client. A journal that is there already stays as it is.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(
        help: ArgumentHelp(
            "The account for the GRANT, as SQL spells it. (default: 'fieldmerge'@'%')", valueName: "account"))
    var grantTo: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: try Settings(file: config), bounds: DatabaseBounds())
        let place: Store.Place
        do {
            place = try await store.initJournal()
        } catch {
            await store.engine.close()
            throw error
        }
        await store.engine.close()
        switch place {
        case .file(let path): print("the journal is ready in the file \(path)")
        case .schema(let tables):
            print("-- the journal is ready in the schema “\(tables.schema)”; the gateway's user needs")
            print(tables.grant(to: grantTo ?? "'fieldmerge'@'%'"))
        }
    }
}
