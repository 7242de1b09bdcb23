"""Random records, edits, changes and queries: results, pages, counts and live queries equal those of a slow oracle."""

from __future__ import annotations

import collections
import datetime
import functools
import json
import random
import re
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support import cases, seeds

import fieldmerge
from fieldmerge.queries import indexes as index_module
from fieldmerge.queries import running
from fieldmerge.testing import ManualClock, MemoryGateway, memory_store

QUERIES = cases("queries.json")
SEARCH = {"orders": ["order.title", "lines.note"]}
INDEXES = {"orders": [*(f"order.{name}" for name in ("title", "status", "amount", "serial", "planned", "tags", "modified")),
                      "lines.article", "lines.id", "delivery.floor", "id"]}  # fmt: skip
SORTED = ["order.title", "order.status", "order.amount", "order.serial", "order.planned", "order.modified",
          "delivery.floor", "id"]  # fmt: skip

VALUES: dict[str, list[Any]] = {
    "order.title": [None, "a", "A b", "é", "e\u0301", "z\0", "z\0\x01", "～x", "😀", "😀 a", "", "ab cd", "tmp:x", "\uffff"],
    "order.status": [None, "open", "late", "done"],
    "order.amount": [None, "1", "1.00", 1, "-1", "-1.50", "-1.5", "-10.00", "0", "-0.00", "10.00", "9.99", "100"],
    "order.serial": [None, 5, "5", "9007199254740993", "9007199254740992", "-9007199254740993", -5, 50],
    "order.planned": [None, "2026-01-01T10:00:00Z", "2026-01-01T11:00:00+01:00", "2026-01-01T10:00:00.5Z",
                      "2026-01-01T10:00:00.500Z", "2025-12-31T23:00:00-11:30"],
    "order.tags": [None, [], ["red"], ["blue", "red"], ["green"]],
    "order.modified": [None, "2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z"],
    "lines.article": [None, 1, 2, 3],
    "lines.note": [None, "big", "BIG b", "size"],
    "lines.id": [11, 12, 21, 22, 31],
    "delivery.floor": [None, 0, 1, -1],
    "id": [1, 2, 3, "3", 9, 10, 39],
}  # fmt: skip
EDITED = ["title", "status", "amount", "serial", "planned", "tags"]
UNKNOWN = object()


def moment(text: str) -> datetime.datetime:
    match = re.fullmatch(r"(.{19})(\.\d+)?(Z|[+-]\d\d:\d\d)", text)
    assert match is not None
    offset = "+00:00" if match[3] == "Z" else match[3]
    return datetime.datetime.fromisoformat(f"{match[1]}{(match[2] or '.0').ljust(7, '0')}{offset}")


def plain(path: str, value: Any) -> Any:
    """A value as Python compares it. The oracle shares no code with the library."""
    name = path.split(".")[-1]
    if name in ("amount", "serial", "article", "floor"):
        return Decimal(str(value))
    if name in ("planned", "modified"):
        return moment(value)
    if name == "id":
        is_temporary = isinstance(value, str) and value.startswith("tmp:")
        return (1, 0, value) if is_temporary else (0, int(value), "")
    return value


def values_at(record: Any, path: str) -> list[Any]:
    if path == "id":
        return [record["id"]]
    section, name = path.split(".")
    rows = record["lines"] if section == "lines" else [record[section]]
    found = [None if row is None else row.get(name, UNKNOWN) for row in rows]
    return [one for value in found for one in (value if isinstance(value, list) else [value])]


def holds(record: Any, path: str, condition: Any) -> bool:
    found = values_at(record, path)
    if UNKNOWN in found:
        return False

    def equal(value: Any, wanted: Any) -> bool:
        if value is None or wanted is None:
            return value is wanted
        return bool(plain(path, value) == plain(path, wanted))

    if not isinstance(condition, dict):
        return any(
            equal(value, one) for value in found for one in (condition if isinstance(condition, list) else [condition])
        )
    known = [plain(path, value) for value in found if value is not None]
    low = plain(path, condition["from"]) if "from" in condition else None
    high = plain(path, condition["before"]) if "before" in condition else None
    if (low is not None or high is not None) and not any(
        (low is None or one >= low) and (high is None or one < high) for one in known
    ):
        return False
    if "startsWith" in condition and not any(one.startswith(condition["startsWith"]) for one in known):
        return False
    return "not" not in condition or not holds(record, path, condition["not"])


def words(text: Any) -> list[str]:
    return re.findall("[a-z]+", (text or "").replace("\u0301", "").replace("é", "e").lower())


def expected(records: list[Any], query: dict[str, Any]) -> list[Any]:
    def matches(record: Any) -> bool:
        found = [word for path in SEARCH["orders"] for text in values_at(record, path) for word in words(text)]
        return all(holds(record, path, one) for path, one in query.get("where", {}).items()) and all(
            any(one.startswith(word) for one in found) for word in words(query.get("search"))
        )

    def compare(one: Any, other: Any) -> int:
        for given in [*query.get("sort", []), "id"]:
            path = given.removeprefix("-")
            keys = []
            for record in (one, other):
                value = values_at(record, path)[0]
                keys.append((0,) if value is UNKNOWN else (1,) if value is None else (2, plain(path, value)))
            if keys[0] != keys[1]:
                return (-1 if keys[0] < keys[1] else 1) * (-1 if given.startswith("-") else 1)
        return 0

    return sorted(filter(matches, records), key=functools.cmp_to_key(compare))


def check_indexes(test: unittest.TestCase, store: fieldmerge.Store) -> None:
    """Each index has exactly the rows of the records."""
    database = store._database
    with database.lock:
        for row in database.rows("SELECT definition, resource, number, built FROM indexes"):
            index = index_module.Index.of(*row)
            records = database.rows("SELECT key, record FROM base WHERE resource = ?", index.resource)
            wanted = {(*one, key) for key, text in records for one in index.rows(json.loads(text))}
            found = set(database.rows(f"SELECT value, ids, key FROM index_{index.number}"))
            test.assertEqual((found, index.built), (wanted, None), index.definition)


class Walk:
    def __init__(self, test: unittest.TestCase, seed: int, folder: str) -> None:
        self.test, self.dice, self.seed = test, random.Random(seed), seed
        self.clock = ManualClock()
        self.server = MemoryGateway(QUERIES["rules"], {"orders": [self.order(number) for number in range(1, 40)]})
        self.is_indexed = seed % 2 == 0
        self.path = ":memory:" if seed % 4 < 2 else str(Path(folder) / f"{seed}.db")
        self.store = self.open()
        self.store.sync()
        self.other_store = self.open(indexes=None, search=None) if seed % 8 > 5 else None
        self.lives: list[tuple[dict[str, Any], Any]] = []
        self.most_runs = 1
        self.touched = 0
        for _ in range(6):
            self.open_live(self.query())
        self.store._worker.settle()

    def open(self, **options: Any) -> fieldmerge.Store:
        named = {"search": SEARCH, **({"indexes": INDEXES} if self.is_indexed else {}), **options}
        store = memory_store(self.server, path=self.path, clock=self.clock, **named)
        store._runner._on_fault = lambda: self.test.fail(f"seed {self.seed}: an index is wrong")
        with store._database.lock:
            store._database._connection.execute("PRAGMA synchronous = OFF")
        return store

    def open_live(self, query: dict[str, Any]) -> None:
        self.lives.append((query, self.store.live("orders", **query)))

    # Records and queries

    def value(self, path: str) -> Any:
        return self.dice.choice(VALUES[path])

    def order(self, number: int) -> dict[str, Any]:
        lines = [{"id": number * 10 + one, "article": self.value("lines.article"), "price": None,
                  "note": self.value("lines.note")} for one in range(self.dice.choice([0, 0, 1, 2, 3]))]  # fmt: skip
        row = dict.fromkeys(QUERIES["base"][0]["record"]["order"])
        row.update({name: self.value(f"order.{name}") for name in [*EDITED, "modified"]})
        if self.dice.random() < 0.2:
            del row["modified"]
        delivery = self.dice.choice([None, {"street": None, "floor": self.value("delivery.floor")}])
        return {"id": number, "order": row, "lines": lines, "delivery": delivery}

    def bound(self, path: str) -> Any:
        value = self.dice.choice([one for one in VALUES[path] if one not in (None, [])])
        return value[0] if isinstance(value, list) else value

    def one(self, path: str) -> Any:
        value = self.value(path)
        return self.bound(path) if isinstance(value, list) or (path.endswith("id") and value is None) else value

    def condition(self, path: str, depth: int = 0) -> Any:
        kind = self.dice.random()
        if kind < 0.3:
            return self.one(path)
        if kind < 0.45:
            return [self.one(path) for _ in range(self.dice.randrange(4))]
        if kind < 0.7:
            given = {"from": self.bound(path)}
            if self.dice.random() < 0.5:
                given["before"] = self.bound(path)
            return given
        if kind < 0.8 and path in ("order.title", "order.status", "order.tags"):
            return {"startsWith": self.dice.choice(["", "a", "o", "😀", "é", "z\0", "tmp:"])}
        if depth:
            return self.bound(path)
        return {"not": self.condition(path, 1), **({"from": self.bound(path)} if self.dice.random() < 0.3 else {})}

    def query(self) -> dict[str, Any]:
        paths = self.dice.sample(sorted(VALUES), self.dice.choice([0, 1, 1, 2]))
        query: dict[str, Any] = {"where": {path: self.condition(path) for path in paths}}
        if self.dice.random() < 0.25:
            query["search"] = self.dice.choice(["a", "big", "b a", "", "e", "size b"])
        sort = self.dice.sample(SORTED, self.dice.choice([0, 1, 1, 2]))
        query["sort"] = [self.dice.choice(["", "-"]) + path for path in sort]
        if self.dice.random() < 0.6:
            query["limit"] = self.dice.choice([1, 2, 3, 5, 8, 30])
        return query

    # Steps

    def step(self) -> None:
        act = self.dice.choices(["edit", "create", "delete", "pull", "sync", "lose", "other", "reopen"],
                                [35, 10, 5, 25, 15, 5, 10, 2])[0]  # fmt: skip
        getattr(self, act)()

    def edit(self, store: fieldmerge.Store | None = None) -> None:
        store = store or self.store
        ids = [record.id for record in store.records("orders")]
        self.touched += 1
        with store.edit("orders", self.dice.choice(ids)) as s:
            name = self.dice.choice(EDITED)
            s.order[name] = self.value(f"order.{name}")
            if self.dice.random() < 0.3:
                s.lines.append({"article": self.value("lines.article"), "note": self.value("lines.note")})
            elif len(s.lines) and self.dice.random() < 0.3:
                del s.lines[0]
            if self.dice.random() < 0.2:
                s.delivery = self.dice.choice([None, {"floor": 1}])
            elif self.dice.random() < 0.2:
                s.order.parent = self.dice.choice(ids)

    def create(self) -> None:
        self.touched += 1
        with self.store.create("orders") as s:
            s.order.title, s.order.status = self.value("order.title"), self.value("order.status")

    def delete(self) -> None:
        self.touched += 1
        self.store.delete("orders", self.dice.choice([record.id for record in self.store.records("orders")]))

    def pull(self) -> None:
        for _ in range(self.dice.choice([1, 1, 3, 20])):
            number = self.dice.randrange(1, 60)
            self.server.put("orders", number, None if self.dice.random() < 0.4 else self.order(number))
        self.sync()

    def sync(self) -> None:
        self.store.sync()
        self.clock.advance(1)

    def lose(self) -> None:
        self.server.lose_answer()
        self.store.sync()
        self.clock.advance(400)
        if self.dice.random() < 0.2:
            self.server.error(422, "check", retry=False)
            self.store.sync()

    def other(self) -> None:
        if self.other_store is not None:
            self.edit(self.other_store)
            if self.dice.random() < 0.5:
                self.other_store.sync()
            self.store._on_strange_write()
            self.most_runs += 1

    def reopen(self) -> None:
        if self.path != ":memory:":
            self.store.close()
            self.store = self.open()
            queries = [query for query, _ in self.lives]
            self.lives, self.most_runs = [], 1
            for query in queries:
                self.open_live(query)

    # Checks

    def check(self) -> None:
        self.clock.advance(0.5)
        if self.dice.random() < 0.7:
            self.store._worker.settle()
        records = [json.loads(json.dumps(record)) for record in self.store.records("orders")]
        query = self.query()
        limit = query.get("limit")
        wanted = [record["id"] for record in expected(records, query)]
        found = self.store.query("orders", **query)
        told = f"seed {self.seed}: {query}"
        self.test.assertEqual([record.id for record in found], wanted[:limit], told)
        conditions = {name: query[name] for name in ("where", "search") if name in query}
        self.test.assertEqual(self.store.count("orders", **conditions), len(wanted), told)
        pages = [record.id for record in found]
        while found.next is not None:
            found = self.store.query("orders", **query, after=found.next)
            pages += [record.id for record in found]
        self.test.assertEqual(pages, wanted, told)
        self.store._worker.settle()
        for query, live in self.lives:
            wanted = expected(records, query)
            shown = [json.loads(json.dumps(record)) for record in live.value]
            self.test.assertEqual(shown, wanted[: query.get("limit")], f"seed {self.seed}, live: {query}")
            self.test.assertEqual(live.value.next is not None, len(shown) < len(wanted), f"{query}")
            if "limit" not in query:
                self.test.assertLessEqual(live._window.runs, self.most_runs, f"seed {self.seed}, live: {query}")

    def run(self) -> None:
        for _ in range(25):
            self.step()
            self.check()
        if self.store._database.has_triggers():
            check_indexes(self.test, self.store)
        self.store.close()
        if self.other_store is not None:
            self.other_store.close()


class WalkTests(unittest.TestCase):
    def setUp(self) -> None:
        self.used: collections.Counter[str | None] = collections.Counter()
        reporting = patch.object(running, "SLOW_SECONDS", 0)  # every query is reported
        reporting.start()
        self.addCleanup(reporting.stop)

    def walk(self, ordinary: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for seed in seeds(ordinary):
                with self.subTest(seed=seed):
                    walk = Walk(self, seed, folder)
                    walk.run()
                    self.used.update(one["index"] for one in walk.store._runner.reports)

    def test_walks(self) -> None:
        self.walk(16)
        self.assertGreaterEqual(self.used.keys(), {None, "id", "search", "order.amount", "lines.article"})

    def test_walks_with_indexes_that_lag(self) -> None:
        """Batches of one record, and limits from which on a query tries another way."""
        lagging = patch.multiple(index_module, BATCH_SECONDS=-1, MOST_CHANGED=6, MOST_WALKED=-100)
        with lagging, patch("fieldmerge.queries.live.SPARE_ROWS", 1):
            self.walk(12)


if __name__ == "__main__":
    unittest.main()
