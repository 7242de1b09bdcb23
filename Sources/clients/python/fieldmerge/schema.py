"""The tables of a store's file, and the upgrade of earlier formats.

- `meta(name, value)`: `format`, `server`, `user`, `feed`, `revision`, `rules` and so on, each as JSON.
- `base(resource, key, id, record, …)`: records as the server last sent them. `key` is the id as text, its parts
  separated by U+001F; `id` and `record` are JSON. A snapshot in SQLite has the tables `meta` and `base` too.
- `push(seq, state, key, body, …)`: edits in order, one row for each transaction. `owner` is the process that made it.
- `edit(push, place, resource, key, id, changes)`: the changes of a push, one row for each record.
- `conflict(seq, kind, push, place, body)`: the list of conflicts; `place` is a group of a record as JSON.
- `event(seq, kind, body, entry, owner)`: events that the app has not handled yet. `entry` is the number of a
conflict,
  `owner` the process that delivers it.
- `filled(resource, key, section, item, fields)`: the values that the database filled into a new row, as JSON. `key`
and
  `item` are the ids that the edit had; `item` is empty outside of lists.
- `ticket(token, …)`, `mapping(temporary, …)`, `lease(…)`.
- `indexes`, `changed`, `index_N`: the indexes of queries (`queries.indexes`), which may be dropped at any time.
"""

from __future__ import annotations

import sqlite3

from .errors import NewerStore, WrongStore

FORMAT = 2

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS base (
  resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0, pulled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (resource, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tombstone (
  resource TEXT NOT NULL, key TEXT NOT NULL, pulled INTEGER NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS push (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL, key TEXT, body BLOB, atomic TEXT,
  rules TEXT, doubt INTEGER NOT NULL DEFAULT 0, pulls INTEGER NOT NULL DEFAULT 0,
  creates TEXT NOT NULL DEFAULT '[]', refusal TEXT, at REAL NOT NULL, owner TEXT);
CREATE INDEX IF NOT EXISTS push_state ON push (state, seq);
CREATE TABLE IF NOT EXISTS edit (
  push INTEGER NOT NULL, place INTEGER NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL,
  changes TEXT NOT NULL, PRIMARY KEY (push, place)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edit_record ON edit (resource, key, push);
CREATE TABLE IF NOT EXISTS creation (temporary TEXT PRIMARY KEY, push INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ticket (
  token TEXT PRIMARY KEY, seq INTEGER NOT NULL, push INTEGER, id TEXT NOT NULL, key TEXT NOT NULL,
  records TEXT NOT NULL, outcome TEXT, at REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ticket_push ON ticket (push);
CREATE INDEX IF NOT EXISTS ticket_key ON ticket (key, seq);
CREATE TABLE IF NOT EXISTS mapping (temporary TEXT PRIMARY KEY, real TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS filled (
  resource TEXT NOT NULL, key TEXT NOT NULL, section TEXT NOT NULL, item TEXT NOT NULL, fields TEXT NOT NULL,
  PRIMARY KEY (resource, key, section, item)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS conflict (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, push INTEGER, place TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS conflict_push ON conflict (push);
CREATE TABLE IF NOT EXISTS event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL, entry INTEGER, owner TEXT);
CREATE TABLE IF NOT EXISTS lease (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL, beat REAL NOT NULL);
"""

_UPGRADES = {
    1: [
        "ALTER TABLE push ADD COLUMN owner TEXT",
        "ALTER TABLE event ADD COLUMN entry INTEGER",
        "ALTER TABLE event ADD COLUMN owner TEXT",
    ],
}
"""The columns that tables of each earlier format lack in the next one."""


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Creates the tables of a new file, or upgrades an earlier format, in the current transaction.

    Throws `NewerStore` for a later format, and `WrongStore` for the database of another program.
    """
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "meta" not in tables:
        raise WrongStore(f"{path} is the database of another program")
    found = format_of(connection) if tables else FORMAT
    if found > FORMAT:
        raise NewerStore(path, found, FORMAT)
    for number in range(found, FORMAT):
        for statement in _UPGRADES[number]:
            connection.execute(statement)
    for statement in _SCHEMA.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (str(FORMAT),))


def format_of(connection: sqlite3.Connection) -> int:
    """Returns the format of a store's file."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    return FORMAT if row is None else int(row[0])
