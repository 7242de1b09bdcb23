import Foundation
import RecordStore
import SQLiteStore
import Testing
import TestSupport

/// Files of SQLite: who may read them, and what their paths mean.
@Suite struct SQLiteFileTests {
    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func aJournalIsItsOwnersAlone() async throws {
        let folder = try TemporaryFolder()
        let ahead = folder.path + "/ahead.sqlite"
        let store = try SQLiteEngine(path: ahead, creates: true)
        #expect(try Self.mode(ahead) == 0o600)
        let attached = folder.path + "/attached.sqlite"
        let engine = try SQLiteEngine(path: ahead, journal: attached)
        #expect(try Self.mode(attached) == 0o600)
        await engine.close()
        await store.close()
        // What an operator chose stays.
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: attached)
        await (try SQLiteEngine(path: ahead, journal: attached)).close()
        #expect(try Self.mode(attached) == 0o640)
    }

    /// A path that looks like an address of SQLite's own is a path, wherever it leads.
    @Test(arguments: ["file:x.sqlite?mode=memory", "file:x.sqlite", ":memory:"])
    func pathsAreNoAddresses(_ path: String) throws {
        do {
            _ = try SQLiteEngine(path: path)
            Issue.record("a file was found at \(path)")
        } catch {
            #expect(error.kind == .unavailable)
        }
    }
}
