import ArgumentParser
import Operations
import RecordStore
import SystemPackage

/// The options that a command uses to find the journal, the same as those of `serve`.
struct JournalAccess: ParsableArguments {
    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    /// Opens the existing journal for `body`, and always closes the database.
    ///
    /// - Parameter purpose: merging if the command may write.
    func with<Answer>(
        for purpose: JournalOpener.Purpose = .looking, _ body: (JournalDesk, Settings) async throws -> Answer
    ) async throws -> Answer {
        try await withStore(for: purpose) { desk, settings, _ in try await body(desk, settings) }
    }

    /// Opens the journal as `with` does, for a command that also needs the database.
    func withStore<Answer>(
        for purpose: JournalOpener.Purpose, _ body: (JournalDesk, Settings, Store) async throws -> Answer
    ) async throws -> Answer {
        let settings = try Settings(file: config)
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: settings, bounds: DatabaseBounds(connections: 2),
            makesFile: false)
        do {
            let answer = try await body(
                JournalDesk(engine: store.engine, journal: try await store.journal(for: purpose)), settings,
                store)
            await store.engine.close()
            return answer
        } catch {
            await store.engine.close()
            throw error
        }
    }

    static func note(_ line: String) throws {
        try FileDescriptor.standardError.writeAll(Array((line + "\n").utf8))
    }
}
