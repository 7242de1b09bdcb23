import ArgumentParser
import Gateway
import MergeService
import RecordStore
import SQLiteStore

/// Where the journal is kept.
struct JournalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            same-server:SCHEMA on the MariaDB server, sqlite:FILE, or off. (default: the schema “fieldmerge” where it \
            exists; for SQLite the file DATABASE.fieldmerge)
            """, valueName: "where"))
    var journal: String?

    @Option(
        help: ArgumentHelp(
            "How long the answer of a key is kept, in days. (default: 30d)", valueName: "days"))
    var keepKeys: String?

    @Option(help: ArgumentHelp("How long entries of the journal are kept, in days. (default: 400d)", valueName: "days"))
    var keepJournal: String?

    /// - Throws: `SettingsError` for what is no number of days.
    func days(_ settings: Settings) throws -> (keys: Int, entries: Int) {
        let keys = try Self.days(settings.text(keepKeys, "keep-keys") ?? "30d", "keep-keys")
        let entries = try Self.days(settings.text(keepJournal, "keep-journal") ?? "400d", "keep-journal")
        guard keys <= entries else {
            throw SettingsError("--keep-keys is longer than --keep-journal, which holds the keys")
        }
        return (keys, entries)
    }

    private static func days(_ text: String, _ name: String) throws -> Int {
        guard let days = Int(text.hasSuffix("d") ? text.dropLast() : text[...]), (1...36_500).contains(days) else {
            throw SettingsError("--\(name) is a number of days such as 400d, not “\(text)”")
        }
        return days
    }

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
            let path = Self.path(text)
            guard !path.isEmpty else { throw SettingsError("--journal sqlite:FILE needs the name of a file") }
            return .file(path)
        }
        throw SettingsError("--journal is same-server:SCHEMA, sqlite:FILE or off, not “\(text)”")
    }

    static func path(_ url: String) -> String {
        let path = String(url.dropFirst("sqlite:".count))
        return path.hasPrefix("//") ? String(path.dropFirst(2)) : path
    }
}

/// The database with what opens its journal.
struct Store {
    let engine: any RecordEngine
    private let choice: JournalOptions.Choice
    /// The journal's own store, where it cannot take part in the merge's transaction.
    private let aside: SQLiteEngine?

    /// - Throws: `SettingsError` or `StoreError` where the database or the options cannot be used.
    init(_ database: DatabaseOptions, _ options: JournalOptions, _ settings: Settings, connections: Int) throws {
        let url = try settings.required(database.database, "database")
        choice = try options.choice(settings, database: url)
        guard case .file(let path) = choice else {
            engine = try database.engine(settings, connections: connections)
            aside = nil
            return
        }
        // SQLite commits two files as one only where neither is in WAL mode.
        let isAlone = try !url.hasPrefix("sqlite:") || SQLiteEngine.usesWAL(path: JournalOptions.path(url))
        aside = isAlone ? try SQLiteEngine(path: path, creates: true) : nil
        engine = try database.engine(settings, connections: connections, journal: isAlone ? nil : path)
    }

    /// Ends every connection.
    func close() async {
        await engine.close()
        await aside?.close()
    }

    /// - Throws: `StoreError` where the journal cannot be used.
    func openJournal() async throws(StoreError) -> JournalStatus {
        switch choice {
        case .off: return .off
        case .file(let path):
            if let aside { return .aside(try await JournalOpener(aside: aside).open(), place: path) }
            return .together(try await JournalOpener(engine: engine, schema: JournalTables.attachedName).open())
        case .schema(let name, let isDefault):
            let opener = JournalOpener(engine: engine, schema: name)
            if try await opener.exists() { return .together(try await opener.open()) }
            if isDefault { return .off }
            do {
                return .together(try await opener.open(createsSchema: true))
            } catch  where error.kind == .denied || error.code == 1_044 {
                throw StoreError(
                    .denied,
                    "the server has no schema “\(name)” and the user may not make it; run “fieldmerge journal init” as one "
                        + "who may", code: error.code)
            }
        }
    }

    /// Makes the journal where it is missing.
    ///
    /// - Returns: the schema on a MariaDB server; nil for a file.
    /// - Throws: `SettingsError` where none is wanted, or `StoreError`.
    func initJournal() async throws -> String? {
        switch choice {
        case .off: throw SettingsError("--journal off keeps nothing, so there is nothing to make")
        case .file:
            _ = try await openJournal()
            return nil
        case .schema(let name, _):
            _ = try await JournalOpener(engine: engine, schema: name).open(createsSchema: true)
            return name
        }
    }
}
