import MergeCore
import RecordStore

extension SQLiteDialect {
    func creation(of feed: FeedTables) -> [Statement] {
        let (schema, changes) = (quoted(feed.schema), quoted(feed.changes))
        return [
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.feed)) (
              one INTEGER PRIMARY KEY, id TEXT NOT NULL, epoch INTEGER NOT NULL, last INTEGER NOT NULL,
              oldest INTEGER NOT NULL, holder TEXT, until TEXT)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.pending)) (
              n INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, step INTEGER NOT NULL, token TEXT,
              records BLOB NOT NULL, conditions BLOB)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(changes) (
              resource TEXT NOT NULL, record TEXT NOT NULL, revision INTEGER NOT NULL, entry INTEGER, who TEXT,
              device TEXT, at TEXT NOT NULL, conditions BLOB, PRIMARY KEY (resource, record)) WITHOUT ROWID
            """,
            "CREATE UNIQUE INDEX IF NOT EXISTS \(schema).revision ON changes (revision)",
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.departures)) (
              revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, record TEXT NOT NULL, entry INTEGER, who TEXT,
              device TEXT)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.gateways)) (
              id TEXT NOT NULL PRIMARY KEY, confirmed INTEGER NOT NULL, at TEXT NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.scan)) (
              one INTEGER PRIMARY KEY, holder TEXT, term INTEGER NOT NULL, until TEXT, noticed INTEGER, cycle INTEGER,
              speed INTEGER)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.scanUnits)) (
              id INTEGER PRIMARY KEY AUTOINCREMENT, resource TEXT NOT NULL, section TEXT NOT NULL,
              scanned INTEGER NOT NULL, since TEXT, UNIQUE (resource, section))
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.scanRanges)) (
              unit INTEGER NOT NULL, id INTEGER NOT NULL, follower INTEGER, high BLOB, size INTEGER NOT NULL,
              digest INTEGER NOT NULL, marks BLOB NOT NULL, PRIMARY KEY (unit, id)) WITHOUT ROWID
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.shown)) (
              n INTEGER PRIMARY KEY AUTOINCREMENT, resource TEXT NOT NULL, section TEXT NOT NULL,
              revision INTEGER NOT NULL, at TEXT NOT NULL, records BLOB NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS \(schema).shown_name ON shown (resource, section, n)",
        ].map { Statement(sql: $0, binds: []) }
    }

    func digest(of name: RecordName) -> [UInt8]? { nil }

    func changesNamed(_ count: Int) -> String {
        "(resource, record) IN (VALUES " + repeatElement("(?, ?)", count: count).joined(separator: ", ") + ")"
    }

    func insert(departures: Int, in feed: FeedTables) -> String {
        "INSERT INTO \(quoted(feed.departures)) (revision, resource, record, entry, who, device) VALUES "
            + repeatElement("(?, ?, ?, ?, ?, ?)", count: departures).joined(separator: ", ")
    }

    var isOfChange: String { "c.resource = d.resource AND c.record = d.record" }

    func lastWrite(to table: TableName) -> Statement? { nil }

    var fileVersion: Statement? {
        Statement(sql: "PRAGMA main.data_version", binds: [], columns: [JournalColumn.number])
    }

    func upsert(changes: Int, in feed: FeedTables) -> String {
        let row = "(?, ?, ?, ?, ?, ?, \(now), ?)"
        return
            "INSERT INTO \(quoted(feed.changes)) (resource, record, revision, entry, who, device, at, conditions) VALUES "
            + repeatElement(row, count: changes).joined(separator: ", ")
            + " ON CONFLICT (resource, record) DO UPDATE SET revision = excluded.revision, entry = excluded.entry, "
            + "who = excluded.who, device = excluded.device, at = excluded.at, "
            + "conditions = COALESCE(excluded.conditions, conditions)"
    }

    func estimate(of table: TableName) -> Statement? { nil }
}
