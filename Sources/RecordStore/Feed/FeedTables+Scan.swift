package import MergeCore

/// The tables of the scan for foreign changes.
extension FeedTables {
    /// The table of the scan lease.
    package var scan: TableName { TableName(schema: schema, name: "scan") }
    /// The table of the scanned sections.
    package var scanUnits: TableName { TableName(schema: schema, name: "scan_units") }
    /// The table of the row digests.
    package var scanRanges: TableName { TableName(schema: schema, name: "scan_ranges") }
    /// The table of delivery records, until a scan has compared them with the row digests.
    package var shown: TableName { TableName(schema: schema, name: "shown") }

    private var scanSQL: String { dialect.quoted(scan) }
    private var unitsSQL: String { dialect.quoted(scanUnits) }
    private var rangesSQL: String { dialect.quoted(scanRanges) }
    private var shownSQL: String { dialect.quoted(shown) }

    // MARK: Probes

    /// The statements that fail unless all tables exist in their current form.
    package var probes: [Statement] {
        [state(for: "", pendingAfter: 0), changes(since: 0, upTo: 0, resources: nil, limit: 1)]
            + [pending, changes].map { conditionsProbe($0) }
            + [departures, scan, scanUnits, scanRanges, shown].map { table in
                Statement(
                    sql: "SELECT 1 FROM \(dialect.quoted(table)) LIMIT 1", binds: [], columns: [JournalColumn.number])
            }
    }

    /// Returns the statement that fails if a table has no column for conditions.
    package func conditionsProbe(_ table: TableName) -> Statement {
        Statement(
            sql: "SELECT conditions FROM \(dialect.quoted(table)) LIMIT 1", binds: [], columns: [JournalColumn.bytes])
    }

    /// The statement that finds a change with a condition history.
    package var anyConditions: Statement {
        Statement(
            sql: "SELECT 1 FROM \(changesSQL) WHERE conditions IS NOT NULL LIMIT 1", binds: [],
            columns: [JournalColumn.number])
    }

    /// Returns the statement that adds the column for conditions to a table.
    package func addConditions(to table: TableName) -> Statement {
        Statement(
            sql: "ALTER TABLE \(dialect.quoted(table)) ADD COLUMN conditions "
                + (dialect.isFile ? "BLOB" : "LONGBLOB NULL"), binds: [])
    }

    // MARK: The scan lease

    /// The statement that creates the row of the scan lease; an existing row stays unchanged.
    package var beginScan: Statement {
        Statement(sql: "\(dialect.insertIfAbsent) INTO \(scanSQL) (one, term) VALUES (1, 0)", binds: [])
    }

    /// Returns the statement that acquires the scan lease if it is free.
    package func takeScan(_ holder: String, seconds: Int) -> Statement {
        Statement(
            sql: "UPDATE \(scanSQL) SET holder = ?, term = term + 1, until = \(dialect.now(plusSeconds: seconds)) "
                + "WHERE \(isFree)",
            binds: [JournalTables.bind(holder)])
    }

    /// A lease that ends too late was acquired before the clock went back.
    private var isFree: String {
        "one = 1 AND (holder IS NULL OR until IS NULL OR until < \(dialect.now) "
            + "OR until > \(dialect.now(plusSeconds: 60)))"
    }

    /// The statement that returns a row if the scan lease is free.
    package var freeScan: Statement {
        Statement(sql: "SELECT term FROM \(scanSQL) WHERE \(isFree)", binds: [], columns: [JournalColumn.number])
    }

    /// Returns the statement that renews the scan lease and stores the progress.
    package func keepScan(_ lease: ScanLease, seconds: Int, _ progress: ScanProgress) -> Statement {
        Statement(
            sql:
                "UPDATE \(scanSQL) SET until = \(dialect.now(plusSeconds: seconds)), noticed = ?, cycle = ?, speed = ? "
                + "WHERE one = 1 AND holder = ? AND term = ?",
            binds: [
                JournalTables.bind(progress.noticed), JournalTables.bind(progress.cycleMilliseconds),
                JournalTables.bind(progress.rowsPerSecond), JournalTables.bind(lease.holder),
                JournalTables.bind(lease.term),
            ])
    }

    /// Returns the statement that renews the scan lease.
    package func renewScan(_ lease: ScanLease, seconds: Int) -> Statement {
        Statement(
            sql: "UPDATE \(scanSQL) SET until = \(dialect.now(plusSeconds: seconds)) WHERE one = 1 AND holder = ? "
                + "AND term = ?",
            binds: [JournalTables.bind(lease.holder), JournalTables.bind(lease.term)])
    }

    /// Returns the statement that releases the scan lease.
    package func leaveScan(_ holder: String) -> Statement {
        Statement(
            sql: "UPDATE \(scanSQL) SET holder = NULL, until = NULL WHERE one = 1 AND holder = ?",
            binds: [JournalTables.bind(holder)])
    }

    /// Returns the statement that reads the scan lease, the progress and the time.
    ///
    /// - Parameter locking: prevents other gateways from acquiring the lease until the transaction ends.
    package func scanState(locking: Bool) -> Statement {
        Statement(
            sql: "SELECT holder, term, noticed, cycle, speed, \(dialect.nowSeconds) FROM \(scanSQL) WHERE one = 1"
                + (locking ? dialect.lockingClause : ""), binds: [],
            columns: [
                JournalColumn.text, JournalColumn.number, JournalColumn.number, JournalColumn.number,
                JournalColumn.number, JournalColumn.number,
            ])
    }

    /// Decodes a row of `scanState`; nil if it is damaged.
    package func scanState(_ row: [Value]) -> ScanState? {
        guard row.count == 6, case .integer(let term) = row[1], case .integer(let now) = row[5] else { return nil }
        var holder: String?
        if case .text(let text) = row[0] { holder = text.string }
        func number(_ index: Int) -> Int? {
            if case .integer(let number) = row[index] { Int(clamping: number) } else { nil }
        }
        return ScanState(
            lease: holder.map { ScanLease(holder: $0, term: Int(clamping: term)) }, term: Int(clamping: term),
            progress: ScanProgress(noticed: number(2), cycleMilliseconds: number(3), rowsPerSecond: number(4)),
            now: Int(clamping: now))
    }

    // MARK: Sections

    /// Returns the statement that adds a section.
    package func addUnit(resource: String, section: String) -> Statement {
        Statement(
            sql: "\(dialect.insertIfAbsent) INTO \(unitsSQL) (resource, section, scanned) VALUES (?, ?, 0)",
            binds: [JournalTables.bind(resource), JournalTables.bind(section)])
    }

    /// Returns the statement that reads a section: its number, the revision before its last complete pass, and a flag.
    ///
    /// The flag is 1 if all rows of the section have row digests.
    package func unit(resource: String, section: String) -> Statement {
        Statement(
            sql: "SELECT id, scanned, CASE WHEN since IS NULL THEN 0 ELSE 1 END FROM \(unitsSQL) "
                + "WHERE resource = ? AND section = ?",
            binds: [JournalTables.bind(resource), JournalTables.bind(section)],
            columns: [JournalColumn.number, JournalColumn.number, JournalColumn.number])
    }

    /// The statement that reads the end of the first complete pass over each section.
    package var sectionsSince: Statement {
        Statement(
            sql: "SELECT resource, section, since FROM \(unitsSQL)", binds: [],
            columns: [JournalColumn.text, JournalColumn.text, JournalColumn.time])
    }

    /// Decodes a row of `sectionsSince`; nil if the pass has not ended, or the row is damaged.
    package func sectionSince(_ row: [Value]) -> (resource: String, section: String, since: DateTime)? {
        guard row.count == 3, case .text(let resource) = row[0], case .text(let section) = row[1],
            case .dateTime(let since) = row[2]
        else { return nil }
        return (resource.string, section.string, since)
    }

    /// Returns the statement that records a complete pass over a section.
    package func endPass(over unit: Int, from revision: Int) -> Statement {
        Statement(
            sql: "UPDATE \(unitsSQL) SET scanned = ?, since = COALESCE(since, \(dialect.now)) WHERE id = ?",
            binds: [JournalTables.bind(revision), JournalTables.bind(unit)])
    }

    /// Returns the statement that reads the feed's latest revision and that of a record's last change.
    ///
    /// It has a row only if no complete pass over the resource has begun since this change. The scan assumes that every
    /// client reads such a change. A client that begins with the latest revision does not.
    package func unscannedChange(of name: RecordName) -> Statement {
        Statement(
            sql: "SELECT last, revision FROM \(feedSQL), \(changesSQL) WHERE one = 1 AND \(dialect.changesNamed(1)) "
                + "AND revision > (\(scannedSQL))",
            binds: dialect.address(of: name) + [JournalTables.bind(name.resource)],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    /// The revision at the beginning of the last complete pass over a resource; 0 if one of its sections has none.
    private var scannedSQL: String {
        "SELECT COALESCE(MIN(CASE WHEN scanned < \(1 << 53) THEN scanned ELSE 0 END), 0) FROM \(unitsSQL) AS units "
            + "WHERE units.resource = ?"
    }

    /// The statement for a delivery without delivery records.
    ///
    /// Until the next complete pass, the scan cannot assume that clients have read the changes before it.
    package var forgetScanned: Statement {
        Statement(sql: "UPDATE \(unitsSQL) SET scanned = \(1 << 53)", binds: [])
    }

    // MARK: Row digests

    /// Returns the statement that reads the ranges of a section without their row digests.
    package func ranges(of unit: Int) -> Statement {
        Statement(
            sql: "SELECT id, follower, high, size, digest FROM \(rangesSQL) WHERE unit = ?",
            binds: [JournalTables.bind(unit)],
            columns: [
                JournalColumn.number, JournalColumn.number, JournalColumn.bytes, JournalColumn.number,
                JournalColumn.number,
            ])
    }

    /// Decodes a row of `ranges`; nil if it is damaged.
    package func range(_ row: [Value]) -> MarkRange? {
        guard row.count == 5, case .integer(let id) = row[0], case .integer(let count) = row[3],
            case .integer(let digest) = row[4]
        else { return nil }
        var next: Int?
        if case .integer(let number) = row[1] { next = Int(clamping: number) }
        var high: [UInt8]?
        if case .bytes(let bytes) = row[2] { high = bytes }
        return MarkRange(
            id: Int(clamping: id), next: next, high: high, count: Int(clamping: count),
            digest: UInt64(truncatingIfNeeded: digest))
    }

    /// Returns the statement that reads the row digests of a range.
    package func marks(of range: Int, in unit: Int) -> Statement {
        Statement(
            sql: "SELECT marks FROM \(rangesSQL) WHERE unit = ? AND id = ?",
            binds: [JournalTables.bind(unit), JournalTables.bind(range)], columns: [JournalColumn.bytes])
    }

    /// Returns the statements that store a range with its row digests and replace an older one.
    package func keep(_ range: MarkRange, _ marks: [Mark], in unit: Int) -> [Statement] {
        [
            forgetRange(range.id, in: unit),
            Statement(
                sql: "INSERT INTO \(rangesSQL) (unit, id, follower, high, size, digest, marks) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?)",
                binds: [
                    JournalTables.bind(unit), JournalTables.bind(range.id), JournalTables.bind(range.next),
                    JournalTables.bind(range.high), JournalTables.bind(range.count),
                    JournalTables.bind(Int(truncatingIfNeeded: range.digest)), JournalTables.bind(Mark.bytes(marks)),
                ]),
        ]
    }

    /// Returns the statement that deletes a range.
    package func forgetRange(_ range: Int, in unit: Int) -> Statement {
        Statement(
            sql: "DELETE FROM \(rangesSQL) WHERE unit = ? AND id = ?",
            binds: [JournalTables.bind(unit), JournalTables.bind(range)])
    }

    // MARK: Delivery records

    /// Returns the statement that stores a delivery record.
    package func note(_ note: ShownNote) -> Statement {
        Statement(
            sql:
                "INSERT INTO \(shownSQL) (resource, section, revision, at, records) VALUES (?, ?, ?, \(dialect.now), ?)",
            binds: [
                JournalTables.bind(note.resource), JournalTables.bind(note.section), JournalTables.bind(note.revision),
                JournalTables.bind(note.content.bytes),
            ])
    }

    /// Returns the statement that reads the oldest delivery records of a section.
    package func notes(resource: String, section: String, limit: Int) -> Statement {
        Statement(
            sql: "SELECT n, revision, records FROM \(shownSQL) WHERE resource = ? AND section = ? ORDER BY n LIMIT ?",
            binds: [JournalTables.bind(resource), JournalTables.bind(section), JournalTables.bind(limit)],
            columns: [JournalColumn.number, JournalColumn.number, JournalColumn.bytes])
    }

    /// The statement that counts the delivery records of each section.
    package var noteCounts: Statement {
        Statement(
            sql: "SELECT resource, section, COUNT(*) FROM \(shownSQL) GROUP BY resource, section", binds: [],
            columns: [JournalColumn.text, JournalColumn.text, JournalColumn.number])
    }

    /// The statement that finds the newest delivery record.
    package var anyNote: Statement {
        Statement(sql: "SELECT n FROM \(shownSQL) ORDER BY n DESC LIMIT 1", binds: [], columns: [JournalColumn.number])
    }

    /// Returns the statements that delete delivery records.
    package func forgetNotes(_ numbers: [Int]) -> [Statement] {
        Self.inRuns(numbers) { run in
            let marks = repeatElement("?", count: run.count).joined(separator: ", ")
            return Statement(
                sql: "DELETE FROM \(shownSQL) WHERE n IN (\(marks))", binds: run.map { JournalTables.bind($0) })
        }
    }

    // MARK: Changes

    /// Returns the statements that read the revisions of records' last changes; a record that never changed has none.
    package func revisions(of names: [RecordName]) -> [Statement] {
        Self.inRuns(names) { run in
            Statement(
                sql: "SELECT resource, record, revision FROM \(changesSQL) WHERE \(dialect.changesNamed(run.count))",
                binds: run.flatMap { dialect.address(of: $0) },
                columns: [JournalColumn.text, JournalColumn.text, JournalColumn.number])
        }
    }

    /// Returns the statement that reads the revision and time of a record's last change, if it was a foreign change.
    package func lastForeignChange(of name: RecordName) -> Statement {
        Statement(
            sql: "SELECT revision, at FROM \(changesSQL) WHERE \(dialect.changesNamed(1)) AND entry IS NULL",
            binds: dialect.address(of: name), columns: [JournalColumn.number, JournalColumn.time])
    }
}
