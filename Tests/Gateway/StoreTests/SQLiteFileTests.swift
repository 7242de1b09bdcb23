import Foundation
import RecordStore
import SQLiteStore
import Testing
import TestSupport

/// Files of SQLite: their permissions, and the meaning of their paths.
@Suite struct SQLiteFileTests {
    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("Only the owner can read a journal")
    func permissions() async throws {
        let folder = try TemporaryFolder()
        let ahead = folder.path + "/ahead.sqlite"
        let store = try SQLiteEngine(path: ahead, creates: true)
        #expect(try Self.mode(ahead) == 0o600)
        let attached = folder.path + "/attached.sqlite"
        let engine = try SQLiteEngine(path: ahead, journal: attached)
        #expect(try Self.mode(attached) == 0o600)
        await engine.close()
        await store.close()
        // Permissions set by an operator are kept.
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: attached)
        await (try SQLiteEngine(path: ahead, journal: attached)).close()
        #expect(try Self.mode(attached) == 0o640)
    }

    /// A path that resembles an address of SQLite is a path.
    @Test("Paths are not addresses", arguments: ["file:x.sqlite?mode=memory", "file:x.sqlite", ":memory:"])
    func paths(_ path: String) throws {
        do {
            _ = try SQLiteEngine(path: path)
            Issue.record("a file was found at \(path)")
        } catch {
            #expect(error.kind == .unavailable)
        }
    }
}
