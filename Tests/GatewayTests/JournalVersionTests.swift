import MergeService
import Operations
import RecordStore
import Testing
import TestSupport

/// Gateways of two versions on one journal: the older one must not read what it does not understand.
@Suite struct JournalVersionTests {
    private static func version(_ old: OldJournal) async throws -> String {
        try await old.database.runOnJournal("SELECT value FROM meta WHERE name = 'version';")
    }

    private static func opener(_ old: OldJournal) -> JournalOpener {
        let isSQLite = old.database.kind == .sqlite
        return JournalOpener(
            engine: old.engine, schema: isSQLite ? JournalTables.attachedName : old.database.journalName)
    }

    @Test(arguments: TestEngine.allCases) func anOldJournalIsMarkedAsTodays(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
        try await old.database.runOnJournal("UPDATE meta SET value = '1' WHERE name = 'version';")
        _ = try await Self.opener(old).open(for: .looking)
        #expect(try await Self.version(old) == "1\n", "who only reads changes nothing")
        _ = try await Self.opener(old).open()
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
    }

    @Test(arguments: TestEngine.allCases) func aNewerJournalIsRefused(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.database.runOnJournal("UPDATE meta SET value = '99' WHERE name = 'version';")
        let error = await #expect(throws: StoreError.self) { try await Self.opener(old).open() }
        #expect(error?.message.contains("newer version of FieldMerge") == true)
    }
}
