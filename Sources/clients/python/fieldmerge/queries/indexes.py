"""Indexes of the bases. They propose records to a query, which tests each of them.

- Each index is a table `index_N(value, ids, key)` with a row for each value of a record: the text of the value, the text
  of the id, which decides ties, and the key of the record. An index for `search` has a row for each word.
- `indexes(definition, resource, number, built)` lists them. `built` is the key from which on an index has no rows yet,
  `NULL` if it has those of all records.
- `changed(resource, key, record)` lists the records whose rows are not written yet, with the record that the rows
  describe. Triggers of the table `base` fill it, so it is complete whichever program writes a record. A query reads these
  records besides those of an index.

No index counts without the triggers. They are made first and dropped first. `Database.write` drops them if a statement
fails in one of them, so no index makes an edit or a page fail.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from ..changes import Json
from ..database import TRIGGERS, Database
from ..errors import StoreClosed, UnknownName
from ..model.reading import Reading
from ..rules import Resource
from .keys import Place, id_key, keys_of, words_in
from .query import Query, Range, encoded, place_of
from .rows import Found

log = logging.getLogger("fieldmerge")

VERSION = 1
"""Of the texts in the indexes. An index of another version is built again."""

BATCH_RECORDS, BATCH_SECONDS = 200, 0.01
MOST_CHANGED = 5_000
"""So many changed records are read besides those of an index. With more, a query reads all records."""

MOST_WALKED = 20_000
"""So many records are read in the order of an index before a query tries another way."""

MOST_FAILURES = 3
_ALL = b"", b"\xff"

Declared = Mapping[str, Sequence[str]] | None

_TABLES = (
    """CREATE TABLE IF NOT EXISTS indexes (
    definition TEXT PRIMARY KEY, resource TEXT NOT NULL, number INTEGER NOT NULL, built TEXT) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS changed (
    resource TEXT NOT NULL, key TEXT NOT NULL, record TEXT, PRIMARY KEY (resource, key)) WITHOUT ROWID""",
)
_TRIGGER = """CREATE TRIGGER {name} BEFORE {event} ON base
  WHEN EXISTS (SELECT 1 FROM indexes WHERE resource = {row}.resource)
  AND NOT EXISTS (SELECT 1 FROM changed WHERE resource = {row}.resource AND key = {row}.key)
BEGIN
  INSERT INTO changed VALUES ({row}.resource, {row}.key,
    (SELECT record FROM base WHERE resource = {row}.resource AND key = {row}.key));
END"""
_EVENTS = (("INSERT", "NEW"), ("UPDATE OF resource, key, record", "OLD"), ("DELETE", "OLD"))


class IndexFault(Exception):
    """An index that does not describe the records."""


@dataclass(frozen=True)
class Index:
    """An index of a field, or of the words of some fields."""

    definition: str
    resource: str
    number: int
    built: str | None
    places: tuple[Place, ...]
    is_search: bool
    id_types: tuple[str, ...]

    @staticmethod
    def of(definition: str, resource: str, number: int, built: str | None) -> Index:
        """Creates an index from a row of `indexes`."""
        _, _, is_search, id_types, places = json.loads(definition)
        known = tuple(_place(*one) for one in places)
        return Index(definition, resource, number, built, known, is_search, tuple(id_types))

    @property
    def is_of_this_version(self) -> bool:
        return bool(json.loads(self.definition)[0] == VERSION)

    def rows(self, record: Json | None) -> set[tuple[bytes, bytes]]:
        """Returns values and ids of the rows of a record."""
        if record is None:
            return set()
        if self.is_search:
            return {(encoded(word), b"") for word in words_in(record, self.places)}
        ids = encoded(id_key(record["id"], self.id_types))
        return {(encoded(key), ids) for key in keys_of(record, self.places[0])}


def _place(path: str, section: Any, field: Any, is_list: bool, kind: str, id_types: list[str], refers: bool) -> Place:
    return Place(path, section, field, is_list, kind, tuple(id_types), refers)


def definition_of(resource: str, places: Iterable[Place], id_place: Place, *, is_search: bool) -> str:
    """Returns the values that an index depends on."""
    return json.dumps([VERSION, resource, is_search, id_place.id_types, [astuple(place) for place in places]])


class Indexer:
    """Builds the declared indexes, and writes the rows of changed records."""

    def __init__(self, model: Reading, *, indexes: Declared, search: Declared) -> None:
        self._model = model
        self._database = model.database
        self._indexes = indexes
        self._search = search
        self._failures = 0
        self._edition: str | None = None
        """Of the rules for which the declared indexes were made."""
        self._is_whole = False

    @property
    def has_work(self) -> bool:
        """Returns whether the app declares indexes, or the store has some."""
        return self._is_declaring or bool(self._database.index_tables())

    @property
    def _is_declaring(self) -> bool:
        return self._indexes is not None or self._search is not None

    def step(self) -> bool:
        """Does a part of the work in one transaction. Returns whether there is more. After an error, all work begins
        again."""
        if self._failures >= MOST_FAILURES:
            return False
        try:
            if self._is_idle():
                return False
            if not self._database.has_triggers():
                self.drop_tables()
                if not self._is_declaring:
                    return False
            with self._database.transaction("index"):
                is_more = self._step()
        except StoreClosed:
            return False
        except Exception:
            log.exception("the indexes cannot be kept")
            self._failures += 1
            self.reset()
            return True
        self._is_whole = not is_more
        if not is_more:
            self._failures = 0
        return is_more

    def _is_idle(self) -> bool:
        """Returns whether there is no work, so that an edit need not wait for a transaction."""
        rules = self._model.rules
        is_made = self._is_whole and rules is not None and rules.edition == self._edition
        is_counted = is_made and self._database.has_triggers()
        return is_counted and not self._database.value("SELECT 1 FROM changed LIMIT 1")

    def reset(self) -> None:
        """Drops all indexes."""
        try:
            with self._database.transaction("index fault"):
                self._database.drop_triggers()
        except (sqlite3.Error, StoreClosed):
            log.exception("the triggers of indexes cannot be dropped")

    def drop_tables(self) -> None:
        """Drops the tables of unused indexes, one by one. A damaged table stays, and no query uses it."""
        for name in self._database.index_tables():
            try:
                with self._database.transaction("drop index"):
                    if not self._database.has_triggers():  # Another process may have begun to build.
                        self._database.write(f"DROP TABLE IF EXISTS {name}")
            except sqlite3.Error as error:
                log.warning("%s cannot be dropped: %s", name, error)

    def _step(self) -> bool:
        if self._database.meta("snapshot") is not None:
            return False  # A snapshot is running. The indexes follow.
        if not self._database.has_triggers():
            self._edition = None
            self._database.drop_triggers()
            for statement in _TABLES:
                self._database.write(statement)
            self._database.write("DELETE FROM indexes")
            self._database.write("DELETE FROM changed")
            for name, (event, row) in zip(TRIGGERS, _EVENTS):
                self._database.write(_TRIGGER.format(name=name, event=event, row=row))
        rows = self._database.rows("SELECT definition, resource, number, built FROM indexes ORDER BY number")
        kept = self._declared([Index.of(*row) for row in rows])
        end = time.monotonic() + BATCH_SECONDS
        return self._write_changed(kept, end) or self._build(kept, end)

    def _declared(self, kept: list[Index]) -> list[Index]:
        """Creates the missing indexes and drops undeclared indexes, once for each edition of the rules. If two
        processes have different declarations, the later one wins."""
        rules = self._model.rules
        if rules is None or self._edition == rules.edition:
            return kept
        wanted = self._describe(rules.resources)
        known: list[Index] = []
        for index in kept:
            # Indexes of another process stay, unless this process declares other indexes.
            declared = self._search if index.is_search else self._indexes
            if index.is_of_this_version and (declared is None or index.definition in wanted):
                known.append(index)
            else:
                self._database.write("DELETE FROM indexes WHERE definition = ?", index.definition)
                self._database.write(f"DROP TABLE index_{index.number}")
        for definition in wanted.keys() - {index.definition for index in known}:
            numbers = [name.removeprefix("index_") for name in self._database.index_tables()]
            number = 1 + max((int(one) for one in numbers if one.isdigit()), default=0)
            self._database.write(
                f"CREATE TABLE index_{number} (value BLOB NOT NULL, ids BLOB NOT NULL, key TEXT NOT NULL,"
                " PRIMARY KEY (value, ids, key)) WITHOUT ROWID"
            )
            row = definition, wanted[definition], number, ""
            self._database.write("INSERT INTO indexes VALUES (?, ?, ?, ?)", *row)
            known.append(Index.of(*row))
        edition = rules.edition
        self._database.after_commit(lambda: self._note_edition(edition))
        return known

    def _note_edition(self, edition: str) -> None:
        self._edition = edition

    def _describe(self, resources: Mapping[str, Resource]) -> dict[str, str]:
        """Returns the resources of the declared indexes by their definitions."""
        wanted = [(name, [path], False) for name, paths in (self._indexes or {}).items() for path in paths]
        wanted += [(name, list(paths), True) for name, paths in (self._search or {}).items() if paths]
        found: dict[str, str] = {}
        for name, paths, is_search in wanted:
            if name not in resources:
                continue
            try:
                places = [place_of(resources[name], path) for path in paths]
            except UnknownName as error:
                log.warning("%s has no such index: %s", name, error)
                continue
            id_place = place_of(resources[name], "id")
            found[definition_of(name, places, id_place, is_search=is_search)] = name
        return found

    def _write_changed(self, kept: list[Index], end: float) -> bool:
        changed = self._database.rows("SELECT resource, key, record FROM changed LIMIT ?", BATCH_RECORDS)
        for resource, key, text in changed:
            before = None if text is None else json.loads(text)
            text = self._database.value("SELECT record FROM base WHERE resource = ? AND key = ?", resource, key)
            now = None if text is None else json.loads(text)
            for index in kept:
                if index.resource == resource:
                    old, new = index.rows(before), index.rows(now)
                    self._delete(index, [(value, ids, key) for value, ids in old - new])
                    self._insert(index, [(value, ids, key) for value, ids in new - old])
            self._database.write("DELETE FROM changed WHERE resource = ? AND key = ?", resource, key)
            if time.monotonic() > end:
                break
        return bool(changed)

    def _build(self, kept: list[Index], end: float) -> bool:
        first = next((one for one in kept if one.built is not None), None)
        if first is None:
            return False
        together = [one for one in kept if (one.resource, one.built) == (first.resource, first.built)]
        records = self._database.rows(
            "SELECT key, record FROM base WHERE resource = ? AND key >= ? ORDER BY key LIMIT ?",
            *(first.resource, first.built, BATCH_RECORDS),
        )
        rows: list[list[tuple[bytes, bytes, str]]] = [[] for _ in together]
        built: str | None = None
        for number, (key, text) in enumerate(records, 1):
            record = json.loads(text)
            for index, own in zip(together, rows):
                own += [(value, ids, key) for value, ids in index.rows(record)]
            if number == BATCH_RECORDS or time.monotonic() > end:
                built = key + "\0"
                break
        for index, own in zip(together, rows):
            self._insert(index, own)
            self._database.write("UPDATE indexes SET built = ? WHERE definition = ?", built, index.definition)
        return True

    def _insert(self, index: Index, rows: list[tuple[bytes, bytes, str]]) -> None:
        self._database.write_many(f"INSERT OR IGNORE INTO index_{index.number} VALUES (?, ?, ?)", rows)

    def _delete(self, index: Index, rows: list[tuple[bytes, bytes, str]]) -> None:
        self._database.write_many(f"DELETE FROM index_{index.number} WHERE value = ? AND ids = ? AND key = ?", rows)


# Queries


def propose(model: Reading, query: Query, found: Found, skipped: Iterable[str]) -> str | None:
    """Passes the records that may match a query to `found`, except for some keys.

    Returns the path of the index; `None` if the query has to read all records. Throws `IndexFault`.
    """
    database = model.database
    if not database.has_triggers():
        return None
    rows = database.rows("SELECT definition, number FROM indexes WHERE resource = ? AND built IS NULL", query.resource)
    if not rows:
        return None
    changed = database.rows("SELECT key FROM changed WHERE resource = ? LIMIT ?", query.resource, MOST_CHANGED + 1)
    if len(changed) > MOST_CHANGED:
        return None
    return _Proposal(database, query, found, dict(rows), {key for (key,) in changed}, set(skipped)).run()


class _Proposal:
    def __init__(
        self,
        database: Database,
        query: Query,
        found: Found,
        numbers: dict[str, int],
        changed: set[str],
        skipped: set[str],
    ) -> None:
        self._database = database
        self._query = query
        self._found = found
        self._numbers = numbers
        self._changed = changed - skipped
        self._skipped = skipped | changed

    def run(self) -> str | None:
        query, count = self._query, self._found.count
        first = query.sort[0] if query.sort else (query.id_place, False)
        walked = None if count is None else self._number([first[0]])
        proposal = self._candidates(None if walked is None or count is None else 10 * count)
        if proposal is None and walked is not None and self._walk(walked, *first):
            proposal = first[0].path, []
        elif proposal is None and walked is not None:
            proposal = self._candidates(None)
        if proposal is None:
            return None
        path, keys = proposal
        for key in keys:
            if key not in self._skipped:
                self._consider(key)
        for key in self._changed:
            record = self._record(key)
            if record is not None:
                self._found.consider(record)
        return path

    def _number(self, places: Sequence[Place], *, is_search: bool = False) -> int | None:
        definition = definition_of(self._query.resource, places, self._query.id_place, is_search=is_search)
        return self._numbers.get(definition)

    def _candidates(self, most: int | None) -> tuple[str, Iterable[str]] | None:
        """Returns the smallest set of keys that an index proposes, and the path of the index."""
        query = self._query
        ways: list[tuple[str, int | None, Sequence[Range]]] = [
            (one.place.path, self._number([one.place]), one.ranges)
            for one in query.conditions
            if one.ranges is not None
        ]
        words = self._number(query.searched, is_search=True) if query.words else None
        ways += [("search", words, [(encoded(word), encoded(word) + b"\xff")]) for word in query.words]
        best: tuple[str, Iterable[str]] | None = None
        for path, number, ranges in ways:
            keys = None if number is None else self._keys(number, ranges, most)
            if keys is not None:
                best, most = (path, keys), len(keys)
        return best

    def _keys(self, number: int, ranges: Sequence[Range], most: int | None) -> set[str] | None:
        keys: set[str] = set()
        for low, high in ranges:
            limit = -1 if most is None else most + 1
            statement = f"SELECT DISTINCT key FROM index_{number} WHERE value >= ? AND value < ? LIMIT ?"
            keys.update(key for (key,) in self._database.rows(statement, low, high, limit))
            if most is not None and len(keys) > most:
                return None
        return keys

    def _walk(self, number: int, place: Place, is_down: bool) -> bool:
        """Reads records in the order of an index until the result is complete. Returns false if that takes too many
        records."""
        query, count = self._query, self._found.count
        assert count is not None
        ties = query.sort[1:2]
        is_unique = place.section is None or not ties or ties[0][0].section is None
        is_tie_down = is_down if place.section is None else bool(ties) and ties[0][1] and ties[0][0].section is None
        left, last = count, None
        for walked, (value, key) in enumerate(self._entries(number, place, is_down, is_tie_down)):
            if left <= 0 and (is_unique or value != last):
                return True
            if walked > MOST_WALKED + 20 * count:
                self._found.clear()
                return False
            if key in self._skipped:
                continue
            record = self._consider(key)
            if record is not None:
                if encoded(keys_of(record, place)[0]) != value:
                    raise IndexFault(f"{place.path} of {key} is another one")
                left, last = left - 1, value
        return True

    def _entries(self, number: int, place: Place, is_down: bool, is_tie_down: bool) -> Iterator[tuple[bytes, str]]:
        low, high = _ALL
        for condition in self._query.conditions:
            if condition.place == place and condition.ranges is not None and len(condition.ranges) == 1:
                low, high = condition.ranges[0]
        start = self._query.start_key
        if start is not None and is_down:
            high = min(high, encoded(start) + b"\0")
        elif start is not None:
            low = max(low, encoded(start))
        order = f"value {'DESC' if is_down else 'ASC'}, ids {'DESC' if is_tie_down else 'ASC'}"
        statement = f"SELECT value, key FROM index_{number} WHERE value >= ? AND value < ? ORDER BY {order}"
        return iter(self._database.each(statement, low, high))

    def _consider(self, key: str) -> Json | None:
        """Passes a record of an index to the query. Returns it if it is a row of the result."""
        record = self._record(key)
        if record is None:
            raise IndexFault(f"there is no record {key}")
        return record if self._found.consider(record) else None

    def _record(self, key: str) -> Any:
        statement = "SELECT record FROM base WHERE resource = ? AND key = ?"
        text = self._database.value(statement, self._query.resource, key)
        return None if text is None else json.loads(text)
