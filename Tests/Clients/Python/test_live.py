"""Live queries: no edit waits for them, callbacks are few, and they end."""

from __future__ import annotations

import asyncio
import sys
import threading
import unittest
from typing import Any

from support import cases
from test_indexes import IndexCase

import fieldmerge
from fieldmerge.queries import running
from fieldmerge.testing import MemoryGateway

OPEN = {"order.status": ["open", "late"]}
SECONDS = 20
"""Longer than anything here takes."""


class LiveTests(IndexCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = self.synced()
        self.worker = self.store._worker

    def frame(self) -> None:
        self.clock.advance(0.5)
        self.worker.settle()

    def test_no_edit_waits_for_a_callback(self) -> None:
        entered, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)
        live = self.store.live("orders")

        def block(value: Any) -> None:
            entered.set()
            release.wait(SECONDS)

        live.subscribe(block)
        self.assertTrue(entered.wait(SECONDS))
        self.retitle(self.store, 1, "b edited")
        self.assertEqual(self.store.record("orders", 1).order.title, "b edited")
        self.assertTrue(self.store.sync().ok)
        self.assertNotEqual(live.value[0].order.title, "b edited")
        release.set()
        self.frame()
        self.assertEqual(live.value[0].order.title, "b edited")

    def test_no_edit_waits_for_a_query_that_runs(self) -> None:
        entered, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)
        found, own = running.Found, threading.current_thread()

        class Slow(found):  # type: ignore[misc, valid-type]
            def consider(self, record: Any) -> bool:
                if threading.current_thread() is not own:
                    entered.set()
                    release.wait(SECONDS)
                return bool(super().consider(record))

        running.Found = Slow  # type: ignore[misc]
        self.addCleanup(setattr, running, "Found", found)
        live = self.store.live("orders")
        self.assertTrue(entered.wait(SECONDS))
        self.retitle(self.store, 1, "b edited")
        self.change(2)
        self.assertTrue(self.store.sync().ok)
        self.assertIsNone(live.value)
        release.set()
        self.frame()
        self.assertEqual(live.value, self.store.records("orders"))

    def test_a_hundred_edits_are_one_callback(self) -> None:
        live, calls = self.store.live("orders"), []
        live.subscribe(calls.append)
        self.frame()
        for number in range(100):
            self.retitle(self.store, 1 + number % 30, f"b {number}")
        self.frame()
        self.assertEqual(len(calls), 2)
        self.assertEqual([live._window.runs, live._window.tests], [1, 30])

    def test_a_function_that_subscribes_late_gets_the_value(self) -> None:
        live = self.store.live("orders", where=OPEN)
        self.frame()
        first, second = [], []
        live.subscribe(first.append)
        end = live.subscribe(second.append)
        self.frame()
        self.assertEqual([first, second], [[live.value], [live.value]])
        end()
        self.store.delete("orders", live.value[0].id)
        self.frame()
        self.assertEqual([len(first), len(second)], [2, 1])

    def test_the_same_function_twice(self) -> None:
        live, calls = self.store.live("orders"), []
        end = live.subscribe(calls.append)
        live.subscribe(calls.append)
        self.frame()
        end()
        self.retitle(self.store, 1, "b edited")
        self.frame()
        self.assertEqual(len(calls), 3)

    def test_a_function_that_fails_stops_no_other(self) -> None:
        live, calls = self.store.live("orders"), []

        def fail(value: Any) -> None:
            raise ValueError("a fault of the app")

        with self.assertLogs("fieldmerge"):
            live.subscribe(fail)
            live.subscribe(calls.append)
            self.frame()
        self.assertEqual(len(calls), 1)

    def test_records_that_have_not_changed_are_the_same_objects(self) -> None:
        live = self.store.live("orders")
        self.frame()
        before = live.value
        self.retitle(self.store, 1, "b edited")
        self.frame()
        self.assertEqual([one is other for one, other in zip(before, live.value)], [False] + [True] * 29)

    def test_loops_end(self) -> None:
        live, seen = self.store.live("orders", where={"id": 1}), []
        first = threading.Event()

        def loop() -> None:
            for value in live:
                seen.append(value[0].order.title)
                first.set()

        thread = threading.Thread(target=loop)
        thread.start()
        self.assertTrue(first.wait(SECONDS))
        first.clear()
        self.retitle(self.store, 1, "b edited")
        self.frame()
        self.assertTrue(first.wait(SECONDS))
        live.close()
        thread.join(SECONDS)
        self.assertFalse(thread.is_alive())
        self.assertEqual(seen[1:], ["b edited"])
        self.assertEqual(list(live), [])

    def test_the_end_of_the_store_ends_them(self) -> None:
        live = self.store.live("orders")
        loops = [threading.Thread(target=lambda: list(live)) for _ in range(2)]
        for loop in loops:
            loop.start()
        self.store.close()
        for loop in loops:
            loop.join(SECONDS)
            self.assertFalse(loop.is_alive())
        self.assertTrue(live.is_closed)
        self.assertFalse(self.worker._thread.is_alive())

    def test_a_function_may_close_its_query_and_the_store(self) -> None:
        live, other = self.store.live("orders"), self.store.live("orders", limit=1)
        done = threading.Event()

        def end(value: Any) -> None:
            live.close()
            self.store.close()
            done.set()

        live.subscribe(end)
        self.assertTrue(done.wait(SECONDS))
        self.assertTrue(other.is_closed)

    def test_errors_come_at_once(self) -> None:
        for options, error in (
            ({"where": {"order.tilte": 1}}, fieldmerge.UnknownName),
            ({"limit": 0}, fieldmerge.InvalidQuery),
            ({"sort": "order.title"}, fieldmerge.InvalidQuery),
            ({"where": {"order.due": "tomorrow"}}, fieldmerge.InvalidValue),
        ):
            with self.assertRaises(error):
                self.store.live("orders", **options)
        with self.assertRaises(fieldmerge.UnknownName):
            self.store.live("ordres")
        self.assertEqual(self.worker.lives(), [])

    def test_before_the_first_sync(self) -> None:
        store = self.open_new()
        live, calls = store.live("orders", sort=["-id"], limit=2), []
        live.subscribe(lambda value: calls.append([record.id for record in value]))
        store._worker.settle()
        self.assertEqual([calls, store.query("orders"), store.count("orders")], [[[]], [], 0])
        store.sync()
        self.clock.advance(0.5)
        store._worker.settle()
        self.assertEqual(calls[-1], [30, 29])

    def open_new(self, **options: Any) -> fieldmerge.Store:
        self.path = f"{self.path}.new"
        return self.open(**options)

    def test_what_another_process_writes(self) -> None:
        other = self.open()
        live = self.store.live("orders", where={"order.title": "b edited"})
        self.frame()
        self.assertEqual(live.value, [])
        self.retitle(other, 1, "b edited")
        self.store._on_strange_write()
        self.frame()
        self.assertEqual([record.id for record in live.value], [1])

    def test_a_resource_that_is_not_kept(self) -> None:
        store = self.open_new(resources=["people"])
        self.assertTrue(store.sync().ok)
        found = store.query("orders", where={"id": {"from": 3, "before": 6}}, sort=["-id"])
        self.assertEqual([record.id for record in found], [5, 4, 3])
        with self.assertRaises(fieldmerge.InvalidQuery):
            store.live("orders")

    def test_a_query_inside_a_transaction_of_the_server_reads_its_records(self) -> None:
        seen = []
        self.store.before_store(lambda change: seen.append(self.store.count("orders")))
        self.server.put("orders", 31, self.order(31))
        self.store.sync()
        self.assertEqual(seen, [31])

    def test_python_values_in_conditions(self) -> None:
        import datetime
        import decimal

        self.server.put("orders", 1, {**self.order(1), "order": {
            **self.order(1)["order"], "amount": "12.50", "due": "2026-11-20", "planned": "2026-11-20T10:00:00.000Z"}})  # fmt: skip
        self.store.sync()
        zone = datetime.timezone(datetime.timedelta(hours=2))
        for where in (
            {"order.amount": decimal.Decimal("12.5")},
            {"order.due": datetime.date(2026, 11, 20)},
            {"order.planned": datetime.datetime(2026, 11, 20, 12, tzinfo=zone)},
        ):
            self.assertEqual([record.id for record in self.store.query("orders", where=where)], [1])


class LoadTests(IndexCase):
    def test_callbacks_while_all_records_come_are_few(self) -> None:
        self.server = MemoryGateway(cases("queries.json")["rules"], {"orders": [self.order(n) for n in range(1, 400)]})
        store = self.open()
        calls: list[int] = []
        live = store.live("orders")
        live.subscribe(lambda value: calls.append(len(value)))
        store._worker.settle()
        ticking = store._model.on_touch
        pages = 0

        def touch(places: Any) -> None:  # two records of the snapshot come every 10 ms
            nonlocal pages
            pages += 1
            ticking(places)
            self.clock.advance(0.01)

        store._model.on_touch = touch
        store.sync()
        self.clock.advance(0.5)
        store._worker.settle()
        self.assertGreater(pages, 190)
        self.assertLess(len(calls), 12)
        self.assertEqual(calls[-1], 399)
        self.assertLessEqual(live._window.runs, 2)


class AsyncTests(IndexCase):
    def test_the_same_for_asyncio(self) -> None:
        async def run() -> None:
            store = await fieldmerge.aio.open(
                self.path, server="http://x", user="test", transport=self.server, clock=self.clock, search={"orders": ["order.title"]}
            )  # fmt: skip
            async with store:
                await store.sync()
                self.assertEqual(await store.count("orders"), 30)
                found = await store.query("orders", sort=["-id"], limit=2)
                self.assertEqual([[record.id for record in found], found.next is not None], [[30, 29], True])
                live = await store.live("orders", where={"id": 1})
                seen = []
                async for records in live:
                    seen.append(records[0].order.title)
                    if len(seen) == 2:
                        live.close()
                        continue
                    async with store.edit("orders", 1) as one:
                        one.order.title = "b edited"
                    self.clock.advance(1)
                self.assertEqual(seen[1], "b edited")
                self.assertEqual([one async for one in live], [])

        asyncio.run(run())


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
