import FoundationEssentials
import Gateway
import MergeService
import RecordStore

/// The database with what opens its journal.
struct Store {
    let engine: any RecordEngine
    private let choice: JournalOptions.Choice

    /// - Parameter makesFile: makes the file of a SQLite journal where it is missing.
    /// - Throws: `SettingsError` or `StoreError` where the database or the options cannot be used.
    init(
        _ database: DatabaseOptions, _ options: JournalOptions, _ settings: Settings, connections: Int,
        makesFile: Bool = true
    ) throws {
        choice = try options.choice(settings, database: try settings.required(database.database, "database"))
        var file: String?
        if case .file(let path) = choice { file = path }
        if let file, !makesFile, !FileManager.default.fileExists(atPath: file) {
            throw SettingsError("there is no journal \(file); “fieldmerge journal init” and “serve” make it")
        }
        engine = try database.engine(settings, connections: connections, journal: file)
    }

    /// - Throws: `StoreError` where the journal cannot be used.
    func openJournal() async throws(StoreError) -> JournalStatus {
        switch choice {
        case .off: return .off
        case .file: return .together(try await JournalOpener(engine: engine, schema: JournalTables.attachedName).open())
        case .schema(let name, let isDefault):
            let opener = JournalOpener(engine: engine, schema: name)
            if try await opener.exists() { return .together(try await opener.open()) }
            if isDefault { return .off }
            throw Self.missing(name)
        }
    }

    /// The journal that is there.
    ///
    /// - Throws: `SettingsError` where none is wanted, or `StoreError` where it is missing or cannot be used.
    func journal() async throws -> Journal {
        if case .together(let journal) = try await openJournal() { return journal }
        if case .schema(let name, _) = choice { throw Self.missing(name) }
        throw SettingsError("--journal off keeps nothing, so there is nothing to look up")
    }

    private static func missing(_ schema: String) -> StoreError {
        StoreError(
            .other,
            "the server has no schema “\(schema)”, or the user may not see it; “fieldmerge journal init” makes it")
    }

    /// What `journal init` made, or found.
    enum Place {
        case schema(JournalTables)
        case file(String)
    }

    /// Makes the journal where it is missing.
    ///
    /// - Throws: `SettingsError` where none is wanted, or where it cannot be made.
    func initJournal() async throws -> Place {
        switch choice {
        case .off: throw SettingsError("--journal off keeps nothing, so there is nothing to make")
        case .file(let path):
            _ = try await opened(JournalTables.attachedName, createsSchema: false)
            return .file(path)
        case .schema(let name, _):
            // Whoever finds it made needs no right to make it.
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
                "the journal cannot be made: \(error); run this as a user who has all rights on the schema “\(schema)”")
        }
    }
}
