import ArgumentParser
import FoundationEssentials
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
    /// - Parameters:
    ///   - purpose: merging if the command may write.
    ///   - author: the name of the person who acts; nil for the user of the operating system.
    func with<Answer>(
        for purpose: JournalOpener.Purpose = .looking, as author: String? = nil,
        _ body: (JournalDesk, Settings) async throws -> Answer
    ) async throws -> Answer {
        try await withStore(for: purpose, as: author) { desk, settings, _ in try await body(desk, settings) }
    }

    /// Opens the journal as `with` does, for a command that also needs the database.
    func withStore<Answer>(
        for purpose: JournalOpener.Purpose, as author: String? = nil,
        _ body: (JournalDesk, Settings, Store) async throws -> Answer
    ) async throws -> Answer {
        let author = try Self.checked(author ?? ProcessInfo.processInfo.userName)
        let settings = try Settings(file: config)
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: settings, bounds: DatabaseBounds(connections: 2),
            makesFile: false)
        do {
            let answer = try await body(
                JournalDesk(
                    engine: store.engine, journal: try await store.journal(for: purpose), author: author), settings,
                store)
            await store.engine.close()
            return answer
        } catch {
            await store.engine.close()
            throw error
        }
    }

    static let authorHelp = ArgumentHelp(
        "Your name in the journal. (default: the user of the operating system)", valueName: "name")

    private static func checked(_ name: String) throws -> String {
        guard (1...128).contains(name.utf8.count), name.unicodeScalars.allSatisfy({ $0.properties.isVisible }) else {
            throw ValidationError("--as is a name of 1 to 128 bytes without control characters.")
        }
        return name
    }

    static func note(_ line: String) throws {
        try FileDescriptor.standardError.writeAll(Array((line + "\n").utf8))
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isVisible: Bool {
        ![.control, .format, .lineSeparator, .paragraphSeparator, .unassigned].contains(generalCategory)
    }
}
