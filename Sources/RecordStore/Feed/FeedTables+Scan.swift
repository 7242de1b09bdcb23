package import MergeCore

/// The tables of the scan: what of other programs' changes is known.
extension FeedTables {
    /// The table of the gateway that scans.
    package var scan: TableName { TableName(schema: schema, name: "scan") }
    /// The table of the sections that are scanned.
    package var scanUnits: TableName { TableName(schema: schema, name: "scan_units") }
    /// The table of the marks.
    package var scanRanges: TableName { TableName(schema: schema, name: "scan_ranges") }
    /// The table of records as they were sent to clients, until a scan has compared them with the marks.
    package var shown: TableName { TableName(schema: schema, name: "shown") }

    private var scanSQL: String { dialect.quoted(scan) }
    private var unitsSQL: String { dialect.quoted(scanUnits) }
    private var rangesSQL: String { dialect.quoted(scanRanges) }
    private var shownSQL: String { dialect.quoted(shown) }

    // MARK: Whether they are there

    /// Returns the statements that fail where the tables are not all there in today's form.
    package var probes: [Statement] {
        [state(for: "", pendingAfter: 0), changes(since: 0, upTo: 0, resources: nil, limit: 1)]
            + [pending, changes].map { conditionsProbe($0) }
            + [departures, scan, scanUnits, scanRanges, shown].map { table in
                Statement(
                    sql: "SELECT 1 FROM \(dialect.quoted(table)) LIMIT 1", binds: [], columns: [JournalColumn.number])
            }
    }

    /// Returns the statement that fails where a table has no column for conditions of access.
    package func conditionsProbe(_ table: TableName) -> Statement {
        Statement(
            sql: "SELECT conditions FROM \(dialect.quoted(table)) LIMIT 1", binds: [], columns: [JournalColumn.bytes])
    }

    /// The statement that finds a change that conditions of access looked at, where there is one.
    package var anyConditions: Statement {
        Statement(
            sql: "SELECT 1 FROM \(changesSQL) WHERE conditions IS NOT NULL LIMIT 1", binds: [],
            columns: [JournalColumn.number])
    }

    /// Returns the statement that gives a table that column.
    package func addConditions(to table: TableName) -> Statement {
        Statement(
            sql: "ALTER TABLE \(dialect.quoted(table)) ADD COLUMN conditions "
                + (dialect.isFile ? "BLOB" : "LONGBLOB NULL"), binds: [])
    }

    // MARK: Who scans

    /// Returns the statement that makes the row of the gateway that scans; harmless where it is there.
    package var beginScan: Statement {
        Statement(sql: "\(dialect.insertIfAbsent) INTO \(scanSQL) (one, term) VALUES (1, 0)", binds: [])
    }

    /// Returns the statement by which a gateway takes the scan upon itself, where nobody else has.
    package func takeScan(_ holder: String, seconds: Int) -> Statement {
        Statement(
            sql: "UPDATE \(scanSQL) SET holder = ?, term = term + 1, until = \(dialect.now(plusSeconds: seconds)) "
                + "WHERE \(isFree)",
            binds: [JournalTables.bind(holder)])
    }

    /// One that ends far later than it could was taken by a clock that has jumped back since.
    private var isFree: String {
        "one = 1 AND (holder IS NULL OR until IS NULL OR until < \(dialect.now) "
            + "OR until > \(dialect.now(plusSeconds: 60)))"
    }

    /// Returns the statement with a row where a gateway may take the scan upon itself.
    package var freeScan: Statement {
        Statement(sql: "SELECT term FROM \(scanSQL) WHERE \(isFree)", binds: [], columns: [JournalColumn.number])
    }

    /// Returns the statement by which it goes on, and tells how far it is.
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

    /// Returns the statement that leaves the scan to others at once.
    package func leaveScan(_ holder: String) -> Statement {
        Statement(
            sql: "UPDATE \(scanSQL) SET holder = NULL, until = NULL WHERE one = 1 AND holder = ?",
            binds: [JournalTables.bind(holder)])
    }

    /// Returns the statement that reads who scans, how far that is, and what time it is.
    ///
    /// - Parameter locking: keeps others from taking it upon themselves until the transaction ends.
    package func scanState(locking: Bool) -> Statement {
        Statement(
            sql: "SELECT holder, term, noticed, cycle, speed, \(dialect.nowSeconds) FROM \(scanSQL) WHERE one = 1"
                + (locking ? dialect.lockingClause : ""), binds: [],
            columns: [
                JournalColumn.text, JournalColumn.number, JournalColumn.number, JournalColumn.number,
                JournalColumn.number, JournalColumn.number,
            ])
    }

    /// Reads a row of `scanState`; nil where it is damaged.
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

    /// Returns the statement that makes a section known.
    package func addUnit(resource: String, section: String) -> Statement {
        Statement(
            sql: "\(dialect.insertIfAbsent) INTO \(unitsSQL) (resource, section, scanned) VALUES (?, ?, 0)",
            binds: [JournalTables.bind(resource), JournalTables.bind(section)])
    }

    /// Returns the statement that reads a section: its number, the revision before its last whole pass, and whether all
    /// of its rows have marks.
    package func unit(resource: String, section: String) -> Statement {
        Statement(
            sql: "SELECT id, scanned, CASE WHEN since IS NULL THEN 0 ELSE 1 END FROM \(unitsSQL) "
                + "WHERE resource = ? AND section = ?",
            binds: [JournalTables.bind(resource), JournalTables.bind(section)],
            columns: [JournalColumn.number, JournalColumn.number, JournalColumn.number])
    }

    /// The statement that reads of all sections when the first whole pass over each had ended.
    package var sectionsSince: Statement {
        Statement(
            sql: "SELECT resource, section, since FROM \(unitsSQL)", binds: [],
            columns: [JournalColumn.text, JournalColumn.text, JournalColumn.time])
    }

    /// Reads a row of `sectionsSince`; nil where that pass has not ended, or the row is damaged.
    package func sectionSince(_ row: [Value]) -> (resource: String, section: String, since: DateTime)? {
        guard row.count == 3, case .text(let resource) = row[0], case .text(let section) = row[1],
            case .dateTime(let since) = row[2]
        else { return nil }
        return (resource.string, section.string, since)
    }

    /// Returns the statement that notes a whole pass over a section.
    package func endPass(over unit: Int, from revision: Int) -> Statement {
        Statement(
            sql: "UPDATE \(unitsSQL) SET scanned = ?, since = COALESCE(since, \(dialect.now)) WHERE id = ?",
            binds: [JournalTables.bind(revision), JournalTables.bind(unit)])
    }

    /// Returns the statement that reads the feed's latest revision and that of a record, if no whole pass over the record's
    /// resource has begun since the record changed last; else it has no row.
    ///
    /// A scan takes it that every client reads such a change. A client that begins with the latest revision does not.
    package func unscannedChange(of name: RecordName) -> Statement {
        Statement(
            sql: "SELECT last, revision FROM \(feedSQL), \(changesSQL) WHERE one = 1 AND \(dialect.changesNamed(1)) "
                + "AND revision > (\(scannedSQL))",
            binds: dialect.address(of: name) + [JournalTables.bind(name.resource)],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    /// The revision at the beginning of the last whole pass over a resource; 0 as long as one of its sections has none.
    private var scannedSQL: String {
        "SELECT COALESCE(MIN(CASE WHEN scanned < \(1 << 53) THEN scanned ELSE 0 END), 0) FROM \(unitsSQL) AS units "
            + "WHERE units.resource = ?"
    }

    /// The statement that notes that something is sent without being noted: until the next whole pass nobody can say
    /// that clients were told of what was found.
    package var forgetScanned: Statement {
        Statement(sql: "UPDATE \(unitsSQL) SET scanned = \(1 << 53)", binds: [])
    }

    // MARK: Marks

    /// Returns the statement that reads the ranges of a section without their marks.
    package func ranges(of unit: Int) -> Statement {
        Statement(
            sql: "SELECT id, follower, high, size, digest FROM \(rangesSQL) WHERE unit = ?",
            binds: [JournalTables.bind(unit)],
            columns: [
                JournalColumn.number, JournalColumn.number, JournalColumn.bytes, JournalColumn.number,
                JournalColumn.number,
            ])
    }

    /// Reads a row of `ranges`; nil where it is damaged.
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

    /// Returns the statement that reads the marks of a range.
    package func marks(of range: Int, in unit: Int) -> Statement {
        Statement(
            sql: "SELECT marks FROM \(rangesSQL) WHERE unit = ? AND id = ?",
            binds: [JournalTables.bind(unit), JournalTables.bind(range)], columns: [JournalColumn.bytes])
    }

    /// Returns the statements that keep a range with its marks in place of what was there under its number.
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

    /// Returns the statement that forgets a range.
    package func forgetRange(_ range: Int, in unit: Int) -> Statement {
        Statement(
            sql: "DELETE FROM \(rangesSQL) WHERE unit = ? AND id = ?",
            binds: [JournalTables.bind(unit), JournalTables.bind(range)])
    }

    // MARK: Records that were sent

    /// Returns the statement that notes records as they were sent.
    package func note(_ note: ShownNote) -> Statement {
        Statement(
            sql:
                "INSERT INTO \(shownSQL) (resource, section, revision, at, records) VALUES (?, ?, ?, \(dialect.now), ?)",
            binds: [
                JournalTables.bind(note.resource), JournalTables.bind(note.section), JournalTables.bind(note.revision),
                JournalTables.bind(note.content.bytes),
            ])
    }

    /// Returns the statement that reads the oldest notes of a section.
    package func notes(resource: String, section: String, limit: Int) -> Statement {
        Statement(
            sql: "SELECT n, revision, records FROM \(shownSQL) WHERE resource = ? AND section = ? ORDER BY n LIMIT ?",
            binds: [JournalTables.bind(resource), JournalTables.bind(section), JournalTables.bind(limit)],
            columns: [JournalColumn.number, JournalColumn.number, JournalColumn.bytes])
    }

    /// The statement that finds a note, where there is one.
    package var anyNote: Statement {
        Statement(sql: "SELECT n FROM \(shownSQL) ORDER BY n DESC LIMIT 1", binds: [], columns: [JournalColumn.number])
    }

    /// Returns the statements that forget notes.
    package func forgetNotes(_ numbers: [Int]) -> [Statement] {
        Self.inRuns(numbers) { run in
            let marks = repeatElement("?", count: run.count).joined(separator: ", ")
            return Statement(
                sql: "DELETE FROM \(shownSQL) WHERE n IN (\(marks))", binds: run.map { JournalTables.bind($0) })
        }
    }

    // MARK: Changes

    /// Returns the statements that read the revisions of the last changes of records; of those that never changed there
    /// is none.
    package func revisions(of names: [RecordName]) -> [Statement] {
        Self.inRuns(names) { run in
            Statement(
                sql: "SELECT resource, record, revision FROM \(changesSQL) WHERE \(dialect.changesNamed(run.count))",
                binds: run.flatMap { dialect.address(of: $0) },
                columns: [JournalColumn.text, JournalColumn.text, JournalColumn.number])
        }
    }

    /// Returns the statement that reads the last change of a record where no push made it: its revision, and when it was
    /// noticed.
    package func lastForeignChange(of name: RecordName) -> Statement {
        Statement(
            sql: "SELECT revision, at FROM \(changesSQL) WHERE \(dialect.changesNamed(1)) AND entry IS NULL",
            binds: dialect.address(of: name), columns: [JournalColumn.number, JournalColumn.time])
    }
}
