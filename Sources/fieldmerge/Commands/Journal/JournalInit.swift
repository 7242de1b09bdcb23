import ArgumentParser
import RecordStore

struct JournalInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Creates the journal, and prints the GRANT that the gateway's user needs.",
        discussion: """
            On a MariaDB server, run it as a user that may create the schema. This need not be the gateway's user. The \
            output is SQL for the database's client. An existing journal does not change.
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
