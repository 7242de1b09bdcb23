/// The tables of a store.
///
/// - `meta(name, value)`: `format`, `server`, `user`, `feed`, `revision`, `rules` and so on, each as JSON.
/// - `base(resource, key, id, record, …)`: records as the gateway last sent them. `key` is the id as text, with U+001F
///   between its parts; `id` and `record` are JSON.
/// - `push(seq, state, key, body, …)`: the edits of one transaction, in order.
/// - `edit(push, place, resource, key, id, changes)`: the changes of a push, a row for each record.
/// - `edit_use(temporary, push, place)`: the temporary ids that each edit names. Triggers keep it.
/// - `conflict_entry(seq, name, kind, …)`: the list of conflicts. `push` and `place` name the group of an overtaken edit.
/// - `created_row(resource, key, section, item, fields)`: the fields that the answer to a creation reports. `key` and `item`
///   are temporary ids if the creation had them.
/// - `ticket(token, …)`, `mapping(temporary, …)`, `event(seq, …)`, `lease(…)`.
///
/// A snapshot in SQLite is a file with `meta` and `base` only, also for the client for Python.
package enum StoreSchema {
    /// The version of these tables; a store of a later version cannot be opened.
    package static let format = 1

    /// The tables that a snapshot has as well.
    package static let snapshotTables = [
        "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE IF NOT EXISTS base (
          resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
          generation INTEGER NOT NULL DEFAULT 0, pulled INTEGER NOT NULL DEFAULT 0,
          PRIMARY KEY (resource, key)) WITHOUT ROWID
        """,
    ]

    private static let addUses = """
        INSERT INTO edit_use SELECT DISTINCT value, new.push, new.place
        FROM json_tree(json_array(json(new.id), json(new.changes))) WHERE type = 'text' AND value GLOB 'tmp:*'
        """

    private static let deleteUses = "DELETE FROM edit_use WHERE push = old.push AND place = old.place"

    /// All tables and indexes.
    static let tables =
        snapshotTables + [
            """
            CREATE TABLE IF NOT EXISTS tombstone (
              resource TEXT NOT NULL, key TEXT NOT NULL, pulled INTEGER NOT NULL,
              PRIMARY KEY (resource, key)) WITHOUT ROWID
            """,
            """
            CREATE TABLE IF NOT EXISTS push (
              seq INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL, key TEXT, body BLOB, atomic TEXT,
              rules TEXT, doubt INTEGER NOT NULL DEFAULT 0, pulls INTEGER NOT NULL DEFAULT 0,
              creates TEXT NOT NULL DEFAULT '[]', refusal TEXT, at REAL NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS push_state ON push (state, seq)",
            """
            CREATE TABLE IF NOT EXISTS edit (
              push INTEGER NOT NULL, place INTEGER NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL,
              id TEXT NOT NULL, changes TEXT NOT NULL, PRIMARY KEY (push, place)) WITHOUT ROWID
            """,
            "CREATE INDEX IF NOT EXISTS edit_record ON edit (resource, key, push)",
            """
            CREATE TABLE IF NOT EXISTS edit_use (
              temporary TEXT NOT NULL, push INTEGER NOT NULL, place INTEGER NOT NULL,
              PRIMARY KEY (temporary, push, place)) WITHOUT ROWID
            """,
            "CREATE INDEX IF NOT EXISTS edit_use_edit ON edit_use (push, place)",
            "CREATE TRIGGER IF NOT EXISTS edit_insert AFTER INSERT ON edit BEGIN \(addUses); END",
            "CREATE TRIGGER IF NOT EXISTS edit_update AFTER UPDATE ON edit BEGIN \(deleteUses); \(addUses); END",
            "CREATE TRIGGER IF NOT EXISTS edit_delete AFTER DELETE ON edit BEGIN \(deleteUses); END",
            "CREATE TABLE IF NOT EXISTS creation (temporary TEXT PRIMARY KEY, push INTEGER NOT NULL) WITHOUT ROWID",
            "CREATE INDEX IF NOT EXISTS creation_push ON creation (push)",
            """
            CREATE TABLE IF NOT EXISTS ticket (
              token TEXT PRIMARY KEY, seq INTEGER NOT NULL, push INTEGER, id TEXT NOT NULL, key TEXT NOT NULL,
              records TEXT NOT NULL, outcome TEXT, at REAL NOT NULL) WITHOUT ROWID
            """,
            "CREATE INDEX IF NOT EXISTS ticket_push ON ticket (push)",
            "CREATE INDEX IF NOT EXISTS ticket_key ON ticket (key, seq)",
            "CREATE INDEX IF NOT EXISTS ticket_seq ON ticket (seq)",
            "CREATE TABLE IF NOT EXISTS mapping (temporary TEXT PRIMARY KEY, real TEXT NOT NULL) WITHOUT ROWID",
            """
            CREATE TABLE IF NOT EXISTS created_row (
              resource TEXT NOT NULL, key TEXT NOT NULL, section TEXT NOT NULL, item TEXT NOT NULL,
              fields TEXT NOT NULL, PRIMARY KEY (resource, key, section, item)) WITHOUT ROWID
            """,
            """
            CREATE TABLE IF NOT EXISTS event (
              seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL, owner TEXT)
            """,
            """
            CREATE TABLE IF NOT EXISTS conflict_entry (
              seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, push INTEGER,
              place TEXT, body TEXT NOT NULL, delivered INTEGER NOT NULL DEFAULT 0)
            """,
            """
            CREATE TABLE IF NOT EXISTS lease (
              one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL, beat REAL NOT NULL)
            """,
        ]
}
