import MergeCore
import MergeService
import Operations
import RecordStore
import Testing
import TestSupport

/// Gateways of two versions on one journal.
///
/// The older one must not use a newer form.
@Suite struct JournalVersionTests {
    private static func version(_ old: OldJournal) async throws -> String {
        try await old.database.runOnJournal("SELECT value FROM meta WHERE name = 'version';")
    }

    private static func opener(_ old: OldJournal) -> JournalOpener {
        let isSQLite = old.database.kind == .sqlite
        return JournalOpener(
            engine: old.engine, schema: isSQLite ? JournalTables.attachedName : old.database.journalName)
    }

    @Test("An old journal gets the current version", arguments: TestEngine.allCases)
    func marked(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
        try await old.database.runOnJournal("UPDATE meta SET value = '1' WHERE name = 'version';")
        _ = try await Self.opener(old).open(for: .looking)
        #expect(try await Self.version(old) == "1\n", "who only reads changes nothing")
        _ = try await Self.opener(old).open()
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
    }

    /// An account with the rights creates the missing tables, and the contents are kept.
    @Test("A journal of the last version gets the tables of the feed", arguments: TestEngine.allCases)
    func lastVersion(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.add(3, days: 1)
        let kept = try await old.database.runOnJournal(
            "SELECT n, at, code, answer, resource, record FROM entries ORDER BY n;")
        let drop = [
            "feed", "pending", "changes", "departures", "gateways", "scan", "scan_units", "scan_ranges", "shown",
        ].map { "DROP TABLE \($0);" }.joined()
        let makeOld = drop + "UPDATE meta SET value = '2' WHERE name = 'version';"
        if kind == .mariadb {
            try await old.database.runAsOperator("USE `\(old.database.journalName)`;" + makeOld)
            let error = await #expect(throws: StoreError.self) { try await Self.opener(old).open() }
            #expect(error?.kind == .denied && error?.message.contains("journal init") == true)
            try await old.database.initJournal()
        } else {
            try await old.database.runOnJournal(makeOld)
        }
        let journal = try await Self.opener(old).open()
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
        #expect(
            try await old.database.runOnJournal("SELECT n, at, code, answer, resource, record FROM entries ORDER BY n;")
                == kept)
        let feed = journal.tables.feed
        let rows = try await old.engine.read(deadline: .now + .seconds(30)) { session throws(StoreError) in
            try session.query(feed.state(for: "", pendingAfter: 0))
        }
        #expect(rows.first?[1] == .integer(1))
    }

    /// A journal of version 3 has the feed, but nothing of other programs' changes.
    @Test("A journal of version 3 gets columns and tables", arguments: TestEngine.allCases)
    func version3(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.database.runOnJournal(
            "INSERT INTO pending (first, step, token, records) VALUES (1, 1, 'x', 'abc');")
        let makeOld =
            ["departures", "scan", "scan_units", "scan_ranges", "shown"].map { "DROP TABLE \($0);" }.joined()
            + ["pending", "changes"].map { "ALTER TABLE \($0) DROP COLUMN conditions;" }.joined()
            + "UPDATE meta SET value = '3' WHERE name = 'version';"
        if kind == .mariadb {
            try await old.database.runAsOperator("USE `\(old.database.journalName)`;" + makeOld)
            let error = await #expect(throws: StoreError.self) { try await Self.opener(old).open() }
            #expect(error?.kind == .denied && error?.message.contains("journal init") == true)
            try await old.database.initJournal()
        } else {
            try await old.database.runOnJournal(makeOld)
        }
        let journal = try await Self.opener(old).open()
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
        let feed = journal.tables.feed
        try await old.engine.read(deadline: .now + .seconds(30)) { session throws(StoreError) in
            for probe in feed.probes { _ = try session.query(probe) }
        }
        #expect(try await old.database.runOnJournal("SELECT token, conditions IS NULL FROM pending;") == "x\t1\n")
    }

    /// Version 4 stored no departures.
    ///
    /// If rows are hidden by conditions, clients need one new snapshot.
    @Test(
        "After an upgrade from version 4, clients need a new snapshot if conditions hide rows",
        arguments: TestEngine.allCases, [false, true])
    func version4(_ kind: TestEngine, _ hasConditions: Bool) async throws {
        let old = try await OldJournal(kind)
        let makeOld = "DROP TABLE departures; UPDATE meta SET value = '4' WHERE name = 'version';"
        let change = """
            INSERT INTO changes (\(kind == .mariadb ? "name, " : "")resource, record, revision, at, conditions)
            VALUES (\(kind == .mariadb ? "'n', " : "")'shoppers', '1', 2, '2026-01-01', \(hasConditions ? "'x'" : "NULL"));
            UPDATE feed SET last = 2;
            """
        let former = try await old.database.runOnJournal(change + "SELECT id FROM feed;")
        if kind == .mariadb {
            try await old.database.runAsOperator("USE `\(old.database.journalName)`;" + makeOld)
            let error = await #expect(throws: StoreError.self) { try await Self.opener(old).open() }
            #expect(error?.kind == .denied && error?.message.contains("journal init") == true)
            try await old.database.initJournal()
        } else {
            try await old.database.runOnJournal(makeOld)
        }
        _ = try await Self.opener(old).open()
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
        let now = try await old.database.runOnJournal("SELECT id FROM feed;")
        #expect((now == former) == !hasConditions)
        #expect(
            try await old.database.runOnJournal("SELECT COUNT(*), (SELECT last FROM feed) > 2 FROM changes;")
                == (hasConditions ? "0\t1\n" : "1\t0\n"))
    }

    @Test("A newer journal is refused", arguments: TestEngine.allCases)
    func newerVersion(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.database.runOnJournal("UPDATE meta SET value = '99' WHERE name = 'version';")
        let error = await #expect(throws: StoreError.self) { try await Self.opener(old).open() }
        #expect(error?.message.contains("newer version of FieldMerge") == true)
    }

    @Test("A journal of an older version is not upgraded while a gateway uses it", .tags(.mariadb), .needsMariaDB)
    func waitsForOlderGateways() async throws {
        let old = try await OldJournal(.mariadb)
        try await old.database.runOnJournal(
            """
            UPDATE meta SET value = '4' WHERE name = 'version';
            REPLACE INTO scan (one, holder, term, until) VALUES (1, 'old', 1, UTC_TIMESTAMP(6) + INTERVAL 5 MINUTE);
            """)
        let error = await #expect(throws: StoreError.self) { try await Self.opener(old).open() }
        #expect(error?.kind == .busy && error?.message.contains("stop all older gateways") == true, "\(error as Any)")
        #expect(try await Self.version(old) == "4\n")
        let plan = try await Self.opener(old).plannedUpgrade()
        #expect(plan.isInUse && plan.from == 4 && !plan.makesTables && !plan.needsAdministrator)
        try await old.database.runOnJournal("UPDATE scan SET until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND;")
        _ = try await Self.opener(old).open()
        #expect(try await Self.version(old) == "\(JournalTables.version)\n")
        #expect(try await Self.opener(old).plannedUpgrade().isCurrent)
    }

    @Test("The command shows the steps of an upgrade, and performs them", arguments: TestEngine.allCases)
    func command(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        await old.engine.close()
        var settings = ["FIELDMERGE_DATABASE": old.database.url]
        if kind == .mariadb { settings["FIELDMERGE_JOURNAL"] = "same-server:" + old.database.journalName }
        let program = [CommandLineTests.program, "journal", "upgrade"]
        let current = try await Shell.capture(program, environment: settings)
        #expect(current.status == 0 && current.output.contains("which this program uses"), "\(current)")
        let makeOld = "DROP TABLE departures; UPDATE meta SET value = '4' WHERE name = 'version';"
        if kind == .mariadb {
            try await old.database.runAsOperator("USE `\(old.database.journalName)`;" + makeOld)
        } else {
            try await old.database.runOnJournal(makeOld)
        }
        let preview = try await Shell.capture(program, environment: settings)
        // Only an administrator may make tables on a server.
        #expect(preview.status == (kind == .mariadb ? 2 : 0), "\(preview)")
        #expect(preview.output.contains("is of version 4; this program uses version \(JournalTables.version)"))
        #expect(preview.output.contains("nothing was written"), "\(preview)")
        #expect(try await Self.version(old) == "4\n")
        let upgrade = try await Shell.capture(program + ["--yes"], environment: settings)
        if kind == .mariadb {
            #expect(upgrade.status == 1 && upgrade.errors.contains("run this as a user"), "\(upgrade)")
        } else {
            #expect(upgrade.status == 0 && upgrade.output.hasSuffix("upgraded\n"), "\(upgrade)")
            #expect(try await Self.version(old) == "\(JournalTables.version)\n")
        }
    }
}
