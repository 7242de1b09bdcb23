import ArgumentParser
import Gateway
import MergeService
import RecordStore

/// Where the journal is kept.
struct JournalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            same-server:SCHEMA on the MariaDB server; sqlite:FILE beside a SQLite database; or off. (default: the schema \
            “fieldmerge” where it exists; for SQLite the file DATABASE.fieldmerge)
            """, valueName: "where"))
    var journal: String?

    private static let defaultSchema = "fieldmerge"

    /// What the option and the database come to.
    enum Choice {
        /// A schema of the MariaDB server; one that was not asked for by name may be missing.
        case schema(String, isDefault: Bool)
        case file(String)
        case off
    }

    /// - Throws: `SettingsError` for a journal that does not go with the database.
    func choice(_ settings: Settings, database: String) throws -> Choice {
        let text = settings.text(journal, "journal")
        let isEmbedded = database.hasPrefix("sqlite:")
        guard let text else {
            if isEmbedded { return .file(Self.path(database) + ".fieldmerge") }
            return .schema(Self.defaultSchema, isDefault: true)
        }
        if text == "off" { return .off }
        if text.hasPrefix("same-server:") {
            let name = String(text.dropFirst("same-server:".count))
            guard !isEmbedded else {
                throw SettingsError("--journal same-server:… is for MariaDB; a SQLite database takes sqlite:FILE")
            }
            guard !name.isEmpty, name.count <= 64 else {
                throw SettingsError("--journal same-server:SCHEMA needs the name of a schema")
            }
            return .schema(name, isDefault: false)
        }
        if text.hasPrefix("sqlite:") {
            guard isEmbedded else {
                throw SettingsError(
                    "--journal sqlite:… beside MariaDB is not supported; use same-server:SCHEMA, which is written in the "
                        + "same transaction")
            }
            let path = Self.path(text)
            guard !path.isEmpty else { throw SettingsError("--journal sqlite:FILE needs the name of a file") }
            return .file(path)
        }
        throw SettingsError("--journal is same-server:SCHEMA, sqlite:FILE or off, not “\(text)”")
    }

    private static func path(_ url: String) -> String {
        let path = String(url.dropFirst("sqlite:".count))
        return path.hasPrefix("//") ? String(path.dropFirst(2)) : path
    }
}

/// The database with its journal.
struct Store {
    let engine: any RecordEngine
    let journal: JournalStatus

    /// - Parameter isRequired: fails where no journal is kept.
    /// - Throws: `SettingsError` or `StoreError` where the database or the journal cannot be used.
    static func open(
        _ database: DatabaseOptions, _ options: JournalOptions, _ settings: Settings, connections: Int,
        isRequired: Bool = false
    ) async throws -> Store {
        let url = try settings.required(database.database, "database")
        let choice = try options.choice(settings, database: url)
        var file: String?
        if case .file(let path) = choice { file = path }
        let engine = try database.engine(settings, connections: connections, journal: file)
        do {
            let journal = try await status(engine, choice)
            if isRequired, case .off = journal {
                throw SettingsError("no journal is kept here; see “fieldmerge journal init --help”")
            }
            return Store(engine: engine, journal: journal)
        } catch {
            await engine.close()
            throw error
        }
    }

    private static func status(_ engine: any RecordEngine, _ choice: JournalOptions.Choice) async throws -> JournalStatus {
        switch choice {
        case .off: return .off
        case .file:
            return .together(try await JournalOpener(engine: engine, schema: JournalTables.attachedName).open())
        case .schema(let name, let isDefault):
            let opener = JournalOpener(engine: engine, schema: name)
            if try await opener.exists() { return .together(try await opener.open()) }
            if isDefault { return .off }
            throw SettingsError(
                "the server has no schema “\(name)”, or the user may not see it; “fieldmerge journal init” makes it")
        }
    }
}
