"""The library against the real gateway, on SQLite, with the shop of the samples."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, program, seeds

import fieldmerge
from fieldmerge.testing import ManualClock, RealGateway, start_gateway
from fieldmerge.transport import HTTPTransport, Request, Response

PROGRAM = program()


@unittest.skipUnless(PROGRAM, "the gateway was not built, and FIELDMERGE_PROGRAM names none")
class GatewayCase(unittest.TestCase):
    gateway: RealGateway

    @classmethod
    def setUpClass(cls) -> None:
        cls.gateway = start_gateway(
            program=PROGRAM, rules=str(ROOT / "MergeRules"), sql=str(ROOT / "Samples" / "shop" / "sqlite.sql")
        )

    @classmethod
    def tearDownClass(cls) -> None:
        cls.gateway.close()

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stores: list[fieldmerge.Store] = []
        self.addCleanup(lambda: [store.close() for store in self.stores])

    def open(self, path: str | None = ":memory:", **more: Any) -> fieldmerge.Store:
        store = fieldmerge.open(path or str(Path(self.folder.name) / "s.db"), server=self.gateway.url, user="a", **more)
        self.stores.append(store)
        return store

    def synced(self, path: str | None = ":memory:", **more: Any) -> fieldmerge.Store:
        store = self.open(path, **more)
        report = store.sync()
        self.assertTrue(report.ok, report)
        return store


class SnapshotTests(GatewayCase):
    def test_the_file_that_the_program_writes_is_opened(self) -> None:
        with self.synced(resources=["shoppers"]) as store:
            told = store.records("shoppers")
        path = str(Path(self.folder.name) / "shop.sqlite")
        command = [str(PROGRAM), "snapshot", "--rules", str(ROOT / "MergeRules"), "--resources", "shoppers"]
        subprocess.run(
            [*command, "--database", f"sqlite:{self.gateway.database}", "--out", path],
            check=True,
            capture_output=True,
        )
        store = self.open(resources=["shoppers"], snapshot=path)
        self.assertEqual(store.records("shoppers"), told)
        with store.edit("shoppers", 123) as s:
            s.customer.lastName = "Snapshot"
        report = store.sync()
        self.assertTrue(report.ok, report)
        self.assertLessEqual(report.changes, 1)


class StoryTests(GatewayCase):
    def test_edits_behind_a_creation_build_on_what_the_database_fills_in(self) -> None:
        store = self.synced()
        with store.create("shoppers") as s:
            s.customer.update(firstName="Kim", lastName="Vale", postCode="CT1 1AA", street="3 High St")
            s.groceries.append({"name": "Rice"})
            s.groceries.append({"name": "Salt"})
        with store.transaction() as t:
            edited = t.edit("shoppers", s.id)
            edited.customer.street = "4 High St"
            edited.customer.newsletter = True
            edited.customer.balance = "5.00"
            edited.customer.tags = ["vip"]
            edited.groceries[0].name = "Brown rice"
            t.edit("shoppers", 124).customer.lastName = "Both"
        with store.transaction() as later:
            del later.edit("shoppers", s.id).groceries[1]
            later.edit("shoppers", 125).customer.lastName = "Both"
        report = store.sync()
        self.assertTrue(report.ok, report)
        self.assertEqual([one.outcome(0).status for one in (s.ticket, t.ticket, later.ticket)], ["merged"] * 3)
        self.assertEqual([one.outcome(0).conflicts for one in (t.ticket, later.ticket)], [(), ()])
        record = store.record("shoppers", s.id)
        customer = record.customer
        self.assertEqual((customer.street, customer.newsletter, customer.balance), ("4 High St", True, "5.00"))
        self.assertEqual((customer.tags, customer.tier), (["vip"], "none"))
        self.assertEqual([(item.name, item.quantity) for item in record.groceries], [("Brown rice", "1")])

    def test_two_devices_edit_a_shopper(self) -> None:
        phone, tablet = self.synced(), self.synced()
        conflicts: list[fieldmerge.Conflict] = []
        tablet.on_conflict(lambda conflict: conflicts.append(conflict))
        with phone.create("shoppers") as s:
            s.customer.update(firstName="Joe", lastName="Shaw", street="1 High St", county="Kent", postCode="ct1 1aa")
            s.customer.creditLimit = 50
            s.groceries.append({"name": "Beans", "quantity": "1 tin"})
        self.assertTrue(phone.sync().ok)
        shopper = s.ticket.id
        self.assertIsInstance(shopper, int)
        self.assertEqual(phone.record("shoppers", s.id).customer.postCode, "CT1 1AA")
        tablet.sync()
        with phone.edit("shoppers", shopper) as s:
            s.customer.creditLimit = "75"
            s.groceries[0].quantity = "2 tins"
        with tablet.edit("shoppers", shopper) as s:
            s.customer.street = "2 High St"
            s.customer.creditLimit = 100
            s.groceries.append({"name": "Rice", "quantity": "1 kg"})
        self.assertTrue(phone.sync().ok)
        self.assertTrue(tablet.sync().ok)
        self.assertEqual(
            [(one.group, one.outcome, one.written) for one in conflicts], [("creditLimit", "server-won", "75.00")]
        )
        self.assertEqual(s.ticket.outcome(0).conflicts[0].current, "75.00")
        phone.sync()
        self.assertEqual(phone.record("shoppers", shopper), tablet.record("shoppers", shopper))
        ticket = conflicts[0].take_mine()
        self.assertTrue(tablet.sync().ok)
        self.assertEqual(ticket.outcome(0).record.customer.creditLimit, "100.00")
        phone.sync()
        ticket = phone.delete("shoppers", shopper)
        self.assertTrue(phone.sync().ok)
        self.assertIsNone(ticket.outcome(0).record)
        self.assertIsNone(phone.record("shoppers", shopper))

    def test_a_refusal_by_reject_shows_the_true_record(self) -> None:
        one, other = self.synced(), self.synced()
        with one.edit("orders", "A-1001") as order:
            order.order.status = "picked"
        with other.edit("orders", "A-1001") as order:
            order.order.status = "cancelled"
        self.assertTrue(one.sync().ok)
        report = other.sync()
        self.assertEqual((report.refused, other.status.unsent), (1, 0))
        entry = other.refused_edits()[0]
        self.assertEqual((entry.problem["code"], entry.record.order.status), ("rejected", "picked"))
        self.assertEqual(other.state("orders", "A-1001", "order.status"), "refused")
        self.assertEqual(order.ticket.outcome(0).conflicts[0].outcome, "refused")
        self.assertTrue(entry.discard())

    def test_where_nothing_is_kept_all_is_asked_for_and_edits_are_sent(self) -> None:
        store = self.synced(resources=[])
        for name in ("Hill", "Dale"):
            with store.edit("shoppers", 129) as s:
                s.customer.lastName = name
            self.assertTrue(store.sync().ok)
            outcome = s.ticket.outcome(timeout=0)
            self.assertEqual((outcome.status, outcome.record.customer.lastName), ("merged", name))
            self.assertEqual(store.record("shoppers", 129).customer.lastName, name)
        self.assertGreater(len(store.records("aisles")), 0)
        self.assertIsNone(store.record("shoppers", 99999))
        self.assertEqual(store._database.value("SELECT count(*) FROM base"), 0)

    def test_keys_of_two_columns_and_a_singleton(self) -> None:
        store = self.synced()
        with store.create("orders", "Z-1") as order:
            order.order.update(customer=123, placed="2026-11-20T10:00:00", status="new", total="3.00")
            order.lines.append({"id": ["Z-1", 1], "article": "Tea", "unitPrice": "1.50", "pieces": 2})
            order.delivery.place = "In the porch"
        self.assertTrue(store.sync().ok, store.refused_edits())
        with store.edit("orders", "Z-1") as order:
            order.lines[0].pieces = 3
            order.lines.append({"id": ["Z-1", 2], "article": "Rice", "unitPrice": "1.80", "pieces": 1})
            order.delivery = None
        self.assertTrue(store.sync().ok, store.refused_edits())
        record = store.record("orders", "Z-1")
        self.assertEqual([(line.id, line.pieces) for line in record.lines], [(["Z-1", 1], 3), (["Z-1", 2], 1)])
        self.assertIsNone(record.delivery)
        self.assertEqual(self.gateway.query("SELECT count(*) FROM order_lines WHERE order_no = 'Z-1'"), [(2,)])
        store.delete("orders", "Z-1")
        self.assertTrue(store.sync().ok, store.refused_edits())

    def test_a_started_store_syncs_by_itself_and_hears_of_others(self) -> None:
        one, other = self.synced(), self.synced(None)
        heard = threading.Event()
        other.observe("aisles", 3, lambda record: heard.set() if record.aisle.description == "Heard" else None)
        one.start()
        other.start()
        with one.edit("aisles", 3) as aisle:
            aisle.aisle.description = "Heard"
        self.assertEqual(aisle.ticket.outcome(timeout=20).status, "merged")
        self.assertTrue(heard.wait(20), other.status)

    def test_a_gateway_that_was_away_is_found_again(self) -> None:
        store = self.synced()
        store.start()
        self.gateway.kill()
        with store.edit("aisles", 4) as aisle:
            aisle.aisle.description = "Later"
        with self.assertRaises(TimeoutError):
            aisle.ticket.outcome(timeout=0.3)
        self.gateway.start()
        self.assertEqual(aisle.ticket.outcome(timeout=30).status, "merged")

    def test_a_snapshot_of_the_command_line(self) -> None:
        path = Path(self.folder.name) / "shop.ndjson.gz"
        command = [str(PROGRAM), "snapshot", "--rules", str(ROOT / "MergeRules"), "--out", str(path)]
        subprocess.run(
            [*command, "--database", f"sqlite:{self.gateway.database}"], check=True, capture_output=True, timeout=60
        )
        store = self.open(snapshot=path)
        self.assertEqual(store.record("aisles", 1), self.synced().record("aisles", 1))
        self.assertTrue(store.sync().ok)

    def test_asyncio(self) -> None:
        asyncio.run(self.use_asyncio())

    async def use_asyncio(self) -> None:
        async def token() -> str:
            await asyncio.sleep(0)
            return "anything"

        path = str(Path(self.folder.name) / "async.db")
        async with await fieldmerge.aio.open(path, server=self.gateway.url, user="a", token=token) as store:
            self.assertTrue((await store.sync()).ok)
            observed = store.observe("aisles", 5)
            first = await observed.__anext__()
            await store.start()
            async with store.edit("aisles", 5) as aisle:
                aisle.aisle.description = "Asynchronous"
            outcome = await aisle.ticket.outcome(timeout=20)
            self.assertEqual(outcome.status, "merged")
            self.assertNotEqual(first.aisle.description, "Asynchronous")
            self.assertEqual((await observed.__anext__()).aisle.description, "Asynchronous")
            await observed.aclose()
            async with store.transaction() as t:
                (await t.edit("aisles", 5)).aisle.description = "Again"
                (await t.edit("aisles", 6)).aisle.description = "Again"
            self.assertEqual((await t.ticket.outcome(timeout=20)).status, "merged")
            self.assertEqual((await store.record("aisles", 6)).aisle.description, "Again")
            with self.assertRaises(fieldmerge.InvalidEdit):
                async with store.edit("aisles", 5) as aisle:
                    aisle.aisle.descriptin = "x"


_WORKER = """
import sys
sys.path.insert(0, sys.argv[1])
import fieldmerge
with fieldmerge.open(sys.argv[2], server=sys.argv[3], user="a") as store:
    for number in range(15):
        with store.edit("articles", 1) as s:
            s.article.stock += 1
        with store.edit("shoppers", 124) as s:
            s.groceries.append({"name": f"{sys.argv[4]}-{number}", "quantity": "1"})
        store.sync()
    while store.status.unsent:
        store.sync()
"""


class ProcessTests(GatewayCase):
    def test_processes_share_a_store(self) -> None:
        path = str(Path(self.folder.name) / "shared.db")
        store = self.synced(path)
        stock = store.record("articles", 1).article.stock
        library = str(ROOT / "Sources" / "clients" / "python")
        workers = [
            subprocess.Popen([sys.executable, "-c", _WORKER, library, path, self.gateway.url, name])
            for name in ("one", "two", "three")
        ]
        for worker in workers:
            self.assertEqual(worker.wait(60), 0)
        self.assertTrue(store.sync().ok)
        record = store.record("shoppers", 124)
        names = sorted(item.name for item in record.groceries if "-" in item.name)
        self.assertEqual(names, sorted(f"{who}-{number}" for who in ("one", "two", "three") for number in range(15)))
        self.assertEqual(store.record("articles", 1).article.stock, stock + 45)
        held = self.gateway.query("SELECT in_stock FROM articles WHERE article_id = 1")
        self.assertEqual(held, [(stock + 45,)])

    def test_a_process_that_was_killed_holds_nobody_up(self) -> None:
        path = str(Path(self.folder.name) / "killed.db")
        self.synced(path).close()
        library = str(ROOT / "Sources" / "clients" / "python")
        text = (
            _WORKER.split("    for number")[0] + "    store._model.take_lease(); import os; os.kill(os.getpid(), 9)\n"
        )
        worker = subprocess.Popen([sys.executable, "-c", text, library, path, self.gateway.url, "x"])
        self.assertEqual(worker.wait(60), -9)
        report = self.open(path).sync(deadline=5)
        self.assertTrue(report.ok, report)


class Killed(BaseException):
    """The end of a process."""


class _Cutting:
    """The network, which fails now and then: before the request, or after it."""

    def __init__(self, url: str, dice: random.Random) -> None:
        self._inner, self._dice = HTTPTransport(url), dice
        self.fails = True

    def send(self, request: Request) -> Response:
        luck = self._dice.random() if self.fails else 1.0
        if luck < 0.15:
            raise OSError("the request was lost")
        response = self._inner.send(request)
        if luck < 0.4:
            b"".join(response.parts())
            response.close()
            raise OSError("the answer was lost")
        return response

    def abort(self) -> None:
        self._inner.abort()

    def close(self) -> None:
        self._inner.close()


class KillTests(GatewayCase):
    def test_walks(self) -> None:
        for seed in seeds(8):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                self.walk(random.Random(seed), folder, seed)

    def walk(self, dice: random.Random, folder: str, seed: int) -> None:
        clock = ManualClock(now=0)  # a push that was sent before the journal began has an expired key
        transports = [_Cutting(self.gateway.url, dice) for _ in range(2)]
        steps: list[str] = []

        def open_one(number: int) -> fieldmerge.Store:
            return fieldmerge.open(
                str(Path(folder) / f"{number}.db"), server=self.gateway.url, user="a", transport=transports[number],
                clock=clock, resources=["articles", "shoppers", "aisles"],
            )  # fmt: skip

        stores = [open_one(0), open_one(1)]
        for number, store in enumerate(stores):
            transports[number].fails = False
            self.assertTrue(store.sync().ok)
            transports[number].fails = True
        stock = stores[0].record("articles", 2).article.stock
        names: list[str] = []
        for turn in range(20):
            number = dice.randrange(2)
            store = stores[number]
            left = dice.randint(1, 50) if dice.random() < 0.4 else 10_000
            steps.clear()

            def count(name: str) -> None:
                nonlocal left
                left -= 1
                steps.append(name)
                if left <= 0:
                    raise Killed()

            store._database._connection.execute("PRAGMA synchronous = OFF")
            store._database.on_step = count
            try:
                kind = dice.choice(["add", "item", "sync", "sync"])
                if kind == "sync":
                    store.sync()
                    continue
                name = f"k{seed}-{turn}"
                try:
                    if kind == "add":
                        with store.edit("articles", 2) as s:
                            s.article.stock += 3
                    else:
                        with store.transaction() as t:
                            aisle = t.create("aisles")
                            aisle.aisle.name = name
                            t.edit("shoppers", 125).groceries.append({"name": name, "quantity": "1", "aisle": aisle.id})
                finally:
                    if "edit: committed" in steps:
                        stock += 3 if kind == "add" else 0
                        names += [name] if kind == "item" else []
            except Killed:
                store._database.close()
                transports[number].close()
                clock.advance(60)
                stores[number] = open_one(number)
        for number, store in enumerate(stores):
            transports[number].fails = False
            store._database.on_step = None
            for _ in range(3):
                report = store.sync()
            self.assertTrue(report.ok, report)
        self.assertEqual(self.gateway.query("SELECT in_stock FROM articles WHERE article_id = 2"), [(stock,)])
        rows = self.gateway.query(
            "SELECT g.name, a.name FROM groceries g JOIN aisles a ON a.AISLE_ID = g.aisle_id WHERE g.name LIKE ?",
            f"k{seed}-%",
        )
        self.assertEqual(sorted(rows), sorted((name, name) for name in names))
        stores[0].sync()
        fresh = self.synced(resources=["articles", "shoppers", "aisles"])
        for store in stores:
            self.assertEqual(store.refused_edits(), [])
            for resource in ("articles", "shoppers", "aisles"):
                self.assertEqual(store.records(resource), fresh.records(resource))
            store.close()
        for transport in transports:
            transport.close()


if __name__ == "__main__":
    unittest.main()
