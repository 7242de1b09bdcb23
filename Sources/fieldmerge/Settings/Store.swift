import FoundationEssentials
import MariaDBStore
import Operations
import MergeService
import RecordStore
import SQLiteStore

/// The database and the access to its journal.
struct Store {
    let engine: any RecordEngine
    private let choice: JournalOptions.Choice
    /// The journal's own store, if the journal cannot take part in the merge's transaction.
    private let ahead: SQLiteEngine?

    /// - Parameters:
    ///   - password: the password of the database; nil to read it.
    ///   - makesFile: creates a missing file of a SQLite journal.
    /// - Throws: `SettingsError` or `StoreError` if the database or the options cannot be used.
    init(
        _ database: DatabaseOptions, journal options: JournalOptions, settings: Settings, bounds: DatabaseBounds,
        password: DatabasePassword? = nil, makesFile: Bool = true
    ) throws {
        let url = try settings.required(database.database, .database)
        choice = try options.choice(settings, database: url)
        guard case .file(let file) = choice else {
            ahead = nil
            engine = try database.engine(settings, bounds: bounds, password: password)
            return
        }
        if !makesFile, !FileManager.default.fileExists(atPath: file) {
            throw SettingsError("no journal \(file); “fieldmerge journal init” and “serve” make it")
        }
        // SQLite commits two files together only if neither is in WAL mode.
        let isAlone =
            try !url.hasPrefix("sqlite:")
            || SQLiteEngine.usesWAL(
                path: JournalOptions.path(url), startSeconds: Double(bounds.requestSeconds))
        ahead =
            isAlone
            ? try SQLiteEngine(
                path: file, creates: true, busySeconds: Double(bounds.lockSeconds),
                startSeconds: Double(bounds.requestSeconds)) : nil
        engine = try database.engine(settings, bounds: bounds, journal: isAlone ? nil : file, password: password)
    }

    func close() async {
        await engine.close()
        await ahead?.close()
    }

    /// Opens the journal for a gateway.
    ///
    /// A write-ahead journal is then locked for this process.
    ///
    /// - Throws: `StoreError` if the journal cannot be used; of the kind `busy` if another gateway uses it.
    func openServedJournal() async throws(StoreError) -> JournalStatus {
        try ahead?.claim()
        return try await openJournal()
    }

    func openJournal() async throws(StoreError) -> JournalStatus { try await openJournal(for: .merging) }

    private func openJournal(for purpose: JournalOpener.Purpose) async throws(StoreError) -> JournalStatus {
        switch choice {
        case .off: return .off
        case .file(let path):
            let journal = try await fileOpener.open(for: purpose)
            return ahead == nil ? .together(journal) : .ahead(journal, place: path)
        case .schema(let name):
            return .together(try await JournalOpener(engine: engine, schema: name).openExisting(for: purpose))
        }
    }

    private var fileOpener: JournalOpener {
        ahead.map { JournalOpener(ahead: $0, of: engine) }
            ?? JournalOpener(engine: engine, schema: JournalTables.attachedName)
    }

    /// Opens the existing journal.
    ///
    /// - Throws: `SettingsError` if the journal is off, or `StoreError` if it is missing or cannot be used.
    func journal(for purpose: JournalOpener.Purpose) async throws -> Journal {
        switch try await openJournal(for: purpose) {
        case .together(let journal), .ahead(let journal, _): return journal
        case .off: throw SettingsError("--journal off keeps nothing, so there is nothing to look up")
        }
    }

    /// Opens a copy of the journal from before a restore.
    ///
    /// - Parameter place: `same-server:SCHEMA` or `sqlite:FILE`.
    /// - Returns: the journal, and the engine of a file, which the caller closes.
    /// - Throws: `SettingsError` if there is none at this place, or `StoreError`.
    func copy(at place: String) async throws -> (journal: Journal, file: SQLiteEngine?) {
        if place.hasPrefix("same-server:"), !engine.dialect.isFile {
            let opener = JournalOpener(engine: engine, schema: String(place.dropFirst("same-server:".count)))
            guard try await opener.exists() else { throw SettingsError("no journal “\(place)”") }
            return (try await opener.open(for: .adopting), nil)
        }
        let path = JournalOptions.path(place)
        guard place.hasPrefix("sqlite:"), FileManager.default.fileExists(atPath: path) else {
            throw SettingsError("--newer is same-server:SCHEMA or sqlite:FILE of an existing journal, not “\(place)”")
        }
        let file = try SQLiteEngine(path: path)
        return (try await JournalOpener(ahead: file, of: engine).open(for: .adopting), file)
    }

    /// Makes this database the owner of the existing journal.
    ///
    /// - Throws: `SettingsError` if the journal is off, or `StoreError` if it is missing or cannot be written.
    func adoptJournal() async throws -> JournalOpener.Adoption {
        switch choice {
        case .off: throw SettingsError("--journal off keeps nothing, so there is nothing to take over")
        case .file: return try await fileOpener.adopt()
        case .schema(let name):
            let opener = JournalOpener(engine: engine, schema: name)
            try await opener.requireSchema()
            return try await opener.adopt()
        }
    }

    /// Returns the steps of an upgrade of the existing journal, without taking them.
    ///
    /// - Throws: `SettingsError` if the journal is off, or `StoreError` if there is none.
    func plannedUpgrade() async throws -> JournalUpgrade {
        switch choice {
        case .off: throw SettingsError("--journal off keeps nothing, so there is nothing to upgrade")
        case .file: return try await fileOpener.plannedUpgrade()
        case .schema(let name):
            let opener = JournalOpener(engine: engine, schema: name)
            try await opener.requireSchema()
            return try await opener.plannedUpgrade()
        }
    }

    /// The place of the journal that `journal init` created or found.
    enum Place {
        case schema(JournalTables)
        case file(String)
    }

    /// Creates the journal if it is missing.
    ///
    /// - Throws: `SettingsError` if the journal is off or cannot be created.
    func initJournal() async throws -> Place {
        switch choice {
        case .off: throw SettingsError("--journal off keeps nothing, so there is nothing to make")
        case .file(let path):
            _ = try await openJournal()
            return .file(path)
        case .schema(let name):
            // An existing schema needs no right to create it.
            let isThere = try await JournalOpener(engine: engine, schema: name).exists()
            return .schema(try await opened(name, createsSchema: !isThere).tables)
        }
    }

    private func opened(_ schema: String, createsSchema: Bool) async throws -> Journal {
        do throws(StoreError) {
            return try await JournalOpener(engine: engine, schema: schema).open(createsSchema: createsSchema)
        } catch {
            guard error.kind == .denied else { throw error }
            throw SettingsError(
                "the journal cannot be made: \(error); run this as a user with all rights on the schema “\(schema)”")
        }
    }
}
