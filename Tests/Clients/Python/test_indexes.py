"""Indexes that are killed, broken or out of date cost time, and never an edit, a page or a record of a result."""

from __future__ import annotations

import copy
import random
import sqlite3
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support import ROOT  # noqa: F401  (it sets the path of the library)
from test_query_walks import INDEXES, QUERIES, SEARCH, Walk, check_indexes, expected

import fieldmerge
from fieldmerge.database import TRIGGERS
from fieldmerge.queries import indexes as index_module
from fieldmerge.queries.indexes import Indexer
from fieldmerge.testing import ManualClock, MemoryGateway, memory_store

ALL = {"indexes": INDEXES, "search": SEARCH}
ASKED: list[dict[str, Any]] = [
    {"where": {"order.status": "open"}}, {"sort": ["-order.amount"], "limit": 5}, {"search": "b"}, {"sort": ["id"]},
    {"where": {"lines.article": [1, 2]}, "sort": ["-id"], "limit": 3}, {"where": {"order.tags": {"not": None}}},
]  # fmt: skip


class Killed(BaseException):
    """The end of a process."""


class IndexCase(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = ManualClock()
        maker = Walk.__new__(Walk)
        maker.dice = random.Random(7)
        self.order = maker.order
        self.server = MemoryGateway(QUERIES["rules"], {"orders": [self.order(number) for number in range(1, 31)]})
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stores: list[fieldmerge.Store] = []
        self.addCleanup(lambda: [store.close() for store in self.stores])
        self.path = str(Path(self.folder.name) / "store.db")

    def open(self, **options: Any) -> fieldmerge.Store:
        store = memory_store(self.server, path=self.path, clock=self.clock, **{"search": SEARCH, **options})
        with store._database.lock:
            store._database._connection.execute("PRAGMA synchronous = OFF")
        self.stores.append(store)
        return store

    def synced(self, **options: Any) -> fieldmerge.Store:
        store = self.open(**options)
        self.assertTrue(store.sync().ok)
        store._worker.settle()
        return store

    def change(self, *numbers: int) -> None:
        for number in numbers:
            self.server.put("orders", number, self.order(number))

    def retitle(self, store: fieldmerge.Store, number: int, title: str) -> None:
        with store.edit("orders", number) as one:
            one.order.title = title

    def check(self, store: fieldmerge.Store) -> None:
        records = store.records("orders")
        for query in ASKED:
            wanted = [record["id"] for record in expected(records, query)]
            found = [record.id for record in store.query("orders", **query)]
            self.assertEqual(found, wanted[: query.get("limit")], query)

    def whole(self, store: fieldmerge.Store) -> int:
        """The number of whole indexes that count."""
        is_counted = store._database.has_triggers()
        return sum(one["isWhole"] for one in store.diagnose()["indexes"]) if is_counted else 0


class BuildingTests(IndexCase):
    def test_indexes_are_built_behind_open_and_used(self) -> None:
        store = self.synced(**ALL)
        self.assertEqual(self.whole(store), 12)
        self.check(store)
        with patch("fieldmerge.queries.running.SLOW_SECONDS", 0):
            store.query("orders", sort=["-order.amount"], limit=5)
        self.assertEqual(store._runner.reports[-1]["index"], "order.amount")
        self.assertLess(store._runner.reports[-1]["read"], 10)

    def test_a_kill_at_any_step_of_the_building(self) -> None:
        steps = self.kill_at(1_000_000)
        self.assertGreater(steps, 40)
        for number in range(1, steps + 1, 3):
            with self.subTest(step=number):
                self.kill_at(number)

    def kill_at(self, number: int) -> int:
        """Builds in batches of seven while records change, and is killed at a step; returns the number of steps."""
        self.setUp()
        store = self.open(search=None)  # no thread builds
        store.sync()
        steps = 0

        def step(name: str) -> None:
            nonlocal steps
            steps += 1
            if steps == number:
                raise Killed()

        indexer = Indexer(store._model, indexes={"orders": ["order.amount", "lines.article", "id"]}, search=SEARCH)
        self.retitle(store, 1, "b edited")
        with patch.multiple(index_module, BATCH_RECORDS=7, BATCH_SECONDS=60):
            store._database.on_step = step
            try:
                indexer.step()
                self.change(2, 3, 40)
                store._database.on_step = None
                store.sync()
                store._database.on_step = step
                while indexer.step():
                    pass
            except Killed:
                pass
            store._database.on_step = None
        store.close()
        store = self.synced(**ALL)
        self.assertEqual(self.whole(store), 12)
        check_indexes(self, store)
        self.assertEqual(self.server.get("orders", 1)["order"]["title"], "b edited")
        self.check(store)
        store.close()
        return steps

    def test_an_error_of_the_storage_at_any_step(self) -> None:
        for number in range(1, 60, 2):
            with self.subTest(step=number):
                self.setUp()
                steps = 0

                def step(name: str, number: int = number) -> None:
                    nonlocal steps
                    if "index" in name or "changed" in name:
                        steps += 1
                        if steps == number:
                            raise sqlite3.OperationalError("disk I/O error")

                store = self.open(**ALL)
                store._database.on_step = step
                with self.assertLogs("fieldmerge"), patch.object(index_module, "BATCH_RECORDS", 7):
                    store.sync()
                    self.retitle(store, 1, "b edited")
                    self.change(2, 3, 40)
                    self.assertTrue(store.sync().ok)
                    store._worker.settle()
                    index_module.log.error("at least one")
                self.check(store)
                self.assertEqual(self.whole(store), 12)
                store.close()

    def test_a_storage_without_room_for_indexes(self) -> None:
        def step(name: str) -> None:
            if "index_" in name or "changed" in name:
                raise sqlite3.OperationalError("database or disk is full")

        store = self.open(**ALL)
        store._database.on_step = step
        with self.assertLogs("fieldmerge"):
            self.assertTrue(store.sync().ok)
            store._worker.settle()
        self.retitle(store, 1, "b edited")
        self.change(2, 3, 40)
        self.assertTrue(store.sync().ok)
        self.check(store)
        self.assertEqual(self.server.get("orders", 1)["order"]["title"], "b edited")

    def test_other_declarations_rules_and_versions(self) -> None:
        store = self.synced(indexes={"orders": ["order.amount"]})
        first = store.diagnose()["indexes"]
        store.close()
        store = self.synced()  # search only: the other index remains
        self.assertEqual(len(store.diagnose()["indexes"]), 2)
        store.close()
        store = self.synced(indexes={"orders": ["order.title"], "ghosts": ["a.b"]}, search=None)
        self.assertEqual(
            [one["paths"] for one in store.diagnose()["indexes"] if len(one["paths"]) == 1], [["order.title"]]
        )
        store.close()
        with patch.object(index_module, "VERSION", 2):
            store = self.synced(indexes={"orders": ["order.title"]})
            self.assertEqual(self.whole(store), 2)
            self.check(store)
            store.close()
        self.assertEqual(len(first), 2)

    def test_a_field_of_another_type(self) -> None:
        store = self.synced(**ALL)
        changed = copy.deepcopy(QUERIES["rules"])
        changed["version"], changed["resources"][0]["shape"] = "r2", "s2"
        changed["resources"][0]["sections"][0]["groups"][4]["fields"][0]["type"] = "text"
        self.server.change_rules(changed)
        self.change(1)
        for _ in range(3):
            self.assertTrue(store.sync().ok)
            self.clock.advance(10)
        store._worker.settle()
        self.assertEqual(self.whole(store), 12)
        for number in range(1, 31):
            record = self.order(number)
            record["order"]["serial"] = f"{number:03}"
            self.server.put("orders", number, record)
        store.sync()
        store._worker.settle()
        found = store.query("orders", sort=["order.serial"], limit=4)
        self.assertEqual([record.order.serial for record in found], ["001", "002", "003", "004"])


class BrokenTests(IndexCase):
    def broken(self, damage: Callable[[sqlite3.Connection], Any]) -> None:
        """Damages the indexes of a store: pages, edits and queries continue, and all indexes are built again."""
        self.setUp()
        store = self.synced(**ALL)
        with store._database.lock:
            damage(store._database._connection)
        with self.assertLogs("fieldmerge"):
            self.change(2, 3, 40)
            self.server.put("orders", 4, None)
            self.assertTrue(store.sync().ok)
            self.retitle(store, 1, "b edited")
            self.check(store)
            store._worker.settle()
            index_module.log.error("at least one")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("orders", 1)["order"]["title"], "b edited")
        store._worker.settle()
        self.assertEqual(self.whole(store), 12)
        check_indexes(self, store)
        self.check(store)
        store.close()

    def test_tables_that_are_gone(self) -> None:
        for name in ("changed", "indexes", "index_1", "index_5", "index_12"):
            with self.subTest(name):
                self.broken(lambda connection: connection.execute(f"DROP TABLE {name}"))

    def test_triggers_that_are_gone(self) -> None:
        for name in TRIGGERS:
            with self.subTest(name):
                self.broken(lambda connection: connection.execute(f"DROP TRIGGER {name}"))

    def test_rows_of_records_that_are_not_there(self) -> None:
        def damage(connection: sqlite3.Connection) -> None:
            for number in range(1, 13):
                connection.execute(f"UPDATE index_{number} SET key = '99' WHERE key = '7'")

        self.broken(damage)

    def test_damaged_pages(self) -> None:
        store = self.synced(**ALL)
        store.close()
        with sqlite3.connect(self.path) as connection:
            size = connection.execute("PRAGMA page_size").fetchone()[0]
            roots = [
                row[0]
                for row in connection.execute(
                    "SELECT rootpage FROM sqlite_master WHERE name GLOB 'index_[0-9]*' AND type = 'table'"
                )
            ]
        connection.close()
        with open(self.path, "r+b") as file:
            for page in roots:
                file.seek((page - 1) * size)
                file.write(b"\x99" * size)
        with self.assertLogs("fieldmerge"):
            store = self.open(**ALL)
            self.change(2, 3)
            self.assertTrue(store.sync().ok)
            self.retitle(store, 1, "b edited")
            self.check(store)
            store._worker.settle()
            self.assertTrue(store.sync().ok)
            store._worker.settle()
        self.check(store)
        self.assertEqual(self.server.get("orders", 1)["order"]["title"], "b edited")

    def test_a_program_without_indexes_writes_records(self) -> None:
        """For example an earlier version of this library, without these tables and triggers."""
        store = self.synced(**ALL)
        store.close()
        other = sqlite3.connect(self.path)
        text = '{"id": 5, "order": {"title": "b", "status": "open", "amount": "3.00", "tags": null}, "lines": []}'
        other.execute("INSERT OR REPLACE INTO base VALUES ('orders', '5', '5', ?, 0, 0)", (text,))
        other.execute(
            "INSERT OR REPLACE INTO base VALUES ('orders', '77', '77', ?, 0, 0)", (text.replace("5,", "77,"),)
        )
        other.execute("DELETE FROM base WHERE key = '6'")
        other.commit()
        other.close()
        store = self.open(**ALL)
        found = store.query("orders", where={"order.amount": 3})
        self.assertEqual([record.id for record in found if record.id in (5, 6, 77)], [5, 77])
        store._worker.settle()
        self.assertEqual([record.id for record in store.query("orders", where={"id": [5, 6, 77]})], [5, 77])

    def test_a_full_disk_while_pages_come(self) -> None:
        store = self.synced(**ALL)
        with store._database.lock:
            pages = store._database.value("PRAGMA page_count")
            store._database._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        for number in range(100, 160):
            self.server.put("orders", number, self.order(number))
        with self.assertLogs("fieldmerge"):
            store.sync()
            self.clock.advance(400)
            store._worker.settle()
            index_module.log.error("at least one")
        self.check(store)
        self.assertTrue(store._database.has_triggers() or not self.whole(store))
        with store._database.lock:
            store._database._connection.execute("PRAGMA max_page_count = 1073741823")
        self.assertTrue(store.sync().ok)
        self.assertEqual(len(store.records("orders")), 90)
        self.check(store)


class SharedTests(IndexCase):
    def test_a_record_that_changes_often_before_its_rows_are_written(self) -> None:
        store = self.synced(**ALL)
        with self.assertNoLogs("fieldmerge", "WARNING"), store._database.lock:  # the thread of the indexes waits
            for _ in range(3):
                self.change(*range(1, 10))
                self.server.put("orders", 10, None)
                self.server.put("orders", 40, self.order(40))
                self.server.put("orders", 11, None)
                self.assertTrue(store.sync().ok)
                self.change(11)
                self.server.put("orders", 40, None)
                self.assertTrue(store.sync().ok)
        store._worker.settle()
        self.assertEqual(self.whole(store), 12)
        check_indexes(self, store)

    def test_two_openings_with_other_declarations(self) -> None:
        one, other = (
            self.synced(**ALL),
            self.synced(indexes={"orders": ["order.status"]}, search={"orders": ["lines.note"]}),
        )
        numbers = other._database.value("SELECT max(number) FROM indexes")
        for number in range(1, 20):
            self.change(number, number + 1)
            self.assertTrue((one if number % 2 else other).sync().ok)
            self.retitle(other if number % 2 else one, number, "b")
            self.clock.advance(60)
            self.check(one)
            self.assertEqual(
                [record.id for record in other.query("orders", where={"order.status": "open"})],
                [record.id for record in other.records("orders") if record.order.status == "open"],
            )
        one._worker.settle()
        other._worker.settle()
        self.check(one)
        self.assertEqual(one._database.value("SELECT max(number) FROM indexes"), numbers, "each has built its own once")

    def test_signing_out_leaves_no_index(self) -> None:
        store = self.synced(**ALL)
        with patch.object(fieldmerge.database.Database, "remove", lambda self: self.close()):
            store.sign_out()
        with sqlite3.connect(self.path) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        connection.close()
        self.assertFalse({name for name in names if name.startswith("index") or name == "changed"}, names)


if __name__ == "__main__":
    unittest.main()
