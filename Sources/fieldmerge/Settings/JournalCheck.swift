import FoundationEssentials
import Operations
import RecordStore
import SQLiteStore

/// Checks the journal of `serve` without creating or writing anything.
struct JournalCheck {
    private let choice: JournalOptions.Choice
    private let open: () throws -> any RecordEngine

    init(_ database: DatabaseOptions, journal options: JournalOptions, settings: Settings) throws {
        choice = try options.choice(settings, database: try settings.required(database.database, .database))
        open = { try database.engine(settings, bounds: DatabaseBounds()) }
    }

    /// - Returns: the reason why the journal cannot be used; nil if it can, or does not exist yet.
    /// - Throws: `SettingsError` or `StoreError` if the database cannot be used.
    func fault() async throws -> String? {
        switch choice {
        case .off: return nil
        case .file(let path):
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            let file: SQLiteEngine
            do throws(StoreError) {
                file = try SQLiteEngine(path: path)
            } catch {
                return "the journal \(path) cannot be used: \(error)"
            }
            let fault = try await with { JournalOpener(ahead: file, of: $0) }
            await file.close()
            return fault
        case .schema(let name): return try await with { JournalOpener(engine: $0, schema: name) }
        }
    }

    private func with(_ opener: (any RecordEngine) -> JournalOpener) async throws -> String? {
        let engine = try open()
        var fault: String?
        do throws(StoreError) {
            try await opener(engine).check()
        } catch {
            fault = error.description
        }
        await engine.close()
        return fault
    }
}
