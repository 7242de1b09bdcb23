"""A store that cannot be written for a while: its pushes are sent all the same, and nothing is lost or doubled."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
import unittest
from typing import Any

from support import seeds
from test_store import StoreCase

import fieldmerge
from fieldmerge.testing import MemoryGateway


class Gateway(MemoryGateway):
    """A gateway for which a repeated push may differ in the time of its first sending."""

    def __init__(self, other: MemoryGateway, clock: Any) -> None:
        super().__init__(other.rules_document, clock=clock)
        self.records = other.records

    def _push(self, push: Any, ids: Any, refused: Any) -> Any:
        return super()._push({**push, "sent": "2026-11-24T00:00:00Z"}, ids, refused)


class FullDisk(StoreCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        super().setUp()

    def fill(self, store: fieldmerge.Store) -> None:
        """From now on nothing can be written."""

        def fail(step: str) -> None:
            if not step.endswith(": begin"):
                raise sqlite3.OperationalError("database or disk is full")

        store._database.on_step = fail

    def empty(self, store: fieldmerge.Store) -> None:
        store._database.on_step = None

    def add(self, store: fieldmerge.Store, points: int = 1) -> Any:
        with store.edit("shoppers", 123) as s:
            s.customer.points += points
        return s.ticket

    def points(self) -> int:
        return int(self.server.get("shoppers", 123)["customer"]["points"])

    def bodies(self) -> list[Any]:
        found = [json.loads(one.body or b"") for one in self.server.requests if one.path.startswith("/v1/sync")]
        return [push for body in found for push in body["pushes"]]


class SendingTests(FullDisk):
    def test_a_push_that_is_on_disk_is_sent_and_its_answer_is_stored_later(self) -> None:
        store = self.synced(self.file())
        ticket = self.add(store)
        self.fill(store)
        self.assertEqual(store.sync().phase, "waiting")
        self.assertEqual(self.points(), 6)
        self.assertTrue(ticket.is_open)
        self.clock.advance(400)
        self.assertEqual(store.sync().phase, "waiting")
        first, second = self.bodies()
        self.assertEqual(first, second)
        with self.assertRaises(fieldmerge.StorageError) as caught:
            self.add(store)
        self.assertEqual(caught.exception.code, "storage")
        self.empty(store)
        self.assertTrue(store.sync().ok)
        self.assertEqual(ticket.outcome(0).status, "merged")
        self.assertEqual(self.server.runs, [first["key"]])
        self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))

    def test_no_edit_joins_a_push_that_was_sent_from_memory(self) -> None:
        store = self.synced(self.file())
        self.add(store)
        self.fill(store)
        self.server.lose_answer()
        store.sync()
        self.empty(store)
        later = self.add(store)
        self.assertEqual(store.status.unsent, 2)
        self.assertTrue(store.sync().ok)
        self.assertEqual((self.points(), later.outcome(0).status), (7, "merged"))
        self.assertEqual(len(self.server.runs), 2)

    def test_an_edit_of_another_process_does_not_join_a_push_that_may_have_been_sent(self) -> None:
        one, other = self.synced(self.file()), self.synced(self.file())
        first = self.add(one)
        self.fill(one)
        self.server.lose_answer()
        one.sync()
        second = self.add(other)
        self.assertEqual(other.status.unsent, 2)
        self.empty(one)
        self.clock.advance(400)
        self.assertTrue(one.sync().ok)
        outcomes = [ticket.outcome(0) for ticket in (first, second)]
        self.assertEqual([outcome.status for outcome in outcomes], ["merged"] * 2)
        self.assertEqual([outcome.conflicts for outcome in outcomes], [()] * 2)
        self.assertEqual(self.points(), 7)
        third = self.add(other)
        one.close()
        self.add(other)
        self.assertEqual(other.status.unsent, 1, "its own push, and those of a process that has ended, are joined")
        self.assertTrue(other.sync().ok)
        self.assertEqual((self.points(), third.outcome(0).status), (9, "merged"))

    def test_a_large_push_is_sent_from_memory_too(self) -> None:
        store = self.synced(self.file())
        with store.edit("shoppers", 123) as s:
            s.customer.street = "x" * 300_000
        self.fill(store)
        store.sync()
        while store._synchronizer.lane.is_busy:
            store._synchronizer.lane.wait(10)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], "x" * 300_000)
        self.empty(store)
        self.clock.advance(400)
        self.assertTrue(store.sync().ok)
        self.assertEqual(len(self.server.runs), 1)

    def test_walks(self) -> None:
        """Edits, syncs, answers that get lost, and a disk that fills and empties, in any order."""
        for seed in seeds(30):
            with self.subTest(seed=seed):
                self.walk(random.Random(seed))

    def walk(self, dice: random.Random) -> None:
        super().setUp()
        self.server = Gateway(self.server, self.clock)
        stores = [self.synced(self.file()), self.synced(self.file())]
        expected = 5
        for _ in range(30):
            store = dice.choice(stores)
            act = dice.choice(["add", "add", "sync", "sync", "fill", "empty", "lose", "none"])
            if act == "add":
                try:
                    self.add(store)
                    expected += 1
                except fieldmerge.StorageError:
                    pass
            elif act == "sync":
                store.sync()
                self.clock.advance(60)
            elif act in ("fill", "empty"):
                getattr(self, act)(store)
            elif act == "lose":
                self.server.lose_answer()
            else:
                self.server.no_network()
        self.server._script.clear()
        for store in stores:
            self.empty(store)
        for store in stores * 2:
            self.clock.advance(400)
            report = store.sync()
        self.assertTrue(report.ok, report)
        self.assertEqual(self.points(), expected)
        self.assertEqual(len(self.server.runs), len(set(self.server.runs)))
        for store in stores:
            self.assertEqual(store.status.unsent, 0)
            self.assertIsNone(store._database.value("SELECT 1 FROM ticket WHERE outcome IS NULL"))
            store.close()


del StoreCase

if __name__ == "__main__":
    unittest.main()
