"""Subsets with unsent edits, on SQLite and MariaDB."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import ROOT
from test_gateway import PROGRAM

import fieldmerge
from fieldmerge.testing import RealGateway, start_gateway


def counties(*names: str) -> dict[str, Any]:
    return {"shoppers": {"where": {"customer.county": list(names)}}}


def named(store: fieldmerge.Store) -> list[tuple[Any, str]]:
    return [(one.id, one.customer.county) for one in store.records("shoppers")]


class SubsetStories:
    """The test cases; a subclass names the engine."""

    engine: list[str] = []

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)  # type: ignore[attr-defined]
        self.folder = Path(folder.name)

    def serve(self, rules: Path = ROOT / "MergeRules") -> RealGateway:
        sql = str(ROOT / "Samples" / "shop" / "sqlite.sql")
        gateway = start_gateway(program=PROGRAM, rules=str(rules), sql=sql, options=self.engine)
        self.addCleanup(gateway.close)  # type: ignore[attr-defined]
        return gateway

    def open(self, gateway: RealGateway, keep: Any = None, path: Any = ":memory:") -> fieldmerge.Store:
        store = fieldmerge.open(path, server=gateway.url, user="a", keep=keep)
        self.addCleanup(store.close)  # type: ignore[attr-defined]
        return store

    def synced(self, *stores: fieldmerge.Store) -> None:
        for store in stores:
            report = store.sync()
            self.assertTrue(report.ok, report)  # type: ignore[attr-defined]

    def test_a_subset_changes_while_edits_wait(self: Any) -> None:
        gateway, path = self.serve(), self.folder / "s.db"
        whole, store = self.open(gateway), self.open(gateway, counties("Kent"), path)
        self.synced(whole, store)
        first, second, third = [key for key, county in named(whole) if county == "Kent"][:3]
        with store.edit("shoppers", first) as one:
            one.customer.lastName = "Hill"
        with store.edit("shoppers", second) as two:
            two.customer.county = "Essex"
            two.groceries.append({"name": "Rice", "quantity": "1 kg"})
        with store.create("shoppers") as new:
            new.customer.update(
                firstName="Ada", lastName="Nought", street="1 Zero Rd", county="Kent", postCode="CT1 1AA"
            )
        store.close()
        with whole.edit("shoppers", third) as s:
            s.customer.county = "Essex"
        self.synced(whole)
        store = self.open(gateway, counties("Essex"), path)
        with store.edit("shoppers", first) as again:
            again.customer.phone = "01632 960001"
        self.assertEqual(store.status.unsent, 3)
        self.synced(store, whole, store)
        outcomes = [store.ticket(one.ticket.token).outcome(timeout=0) for one in (one, two, new, again)]
        self.assertEqual([outcome.status for outcome in outcomes], ["merged"] * 4)
        left, moved = whole.record("shoppers", first), whole.record("shoppers", second)
        self.assertEqual((left.customer.lastName, left.customer.phone), ("Hill", "01632 960001"))
        self.assertEqual((moved.customer.county, moved.groceries[-1].name), ("Essex", "Rice"))
        created = outcomes[2].record.id
        self.assertEqual(whole.record("shoppers", created).customer.lastName, "Nought")
        self.assertEqual(named(store), [one for one in named(whole) if one[1] == "Essex"])
        self.assertIsNotNone(store.record("shoppers", third))
        self.assertIsNone(store.record("shoppers", first))
        self.assertIsNone(store.record("shoppers", created))
        self.assertEqual((store.status.unsent, store.status.refused), (0, 0))

    def test_two_stores_edit_one_record_which_leaves_one_of_them(self: Any) -> None:
        gateway = self.serve()
        whole = self.open(gateway)
        inland, coast = (self.open(gateway, counties("Kent", other)) for other in ("Devon", "Cornwall"))
        self.synced(whole, inland, coast)
        first, second, *others = [key for key, county in named(whole) if county == "Kent"]
        with inland.edit("shoppers", first) as s:
            s.customer.lastName = "Inland"
        with coast.edit("shoppers", first) as s:
            s.customer.update(lastName="Coast", county="Cornwall", balance="1.00")
        self.synced(coast)
        # The record has departed. Its unsent edit is sent, and is a conflict.
        self.assertEqual(inland.sync().conflicts, 1)
        self.assertIsNone(inland.record("shoppers", first))
        self.synced(coast, whole)
        record = whole.record("shoppers", first)
        self.assertEqual((record.customer.lastName, record.customer.county), ("Inland", "Cornwall"))
        self.assertEqual(coast.record("shoppers", first), record)
        with coast.edit("shoppers", first) as s:
            s.customer.county = "Devon"
        whole.delete("shoppers", second)
        with inland.edit("shoppers", second) as late:
            late.customer.lastName = "Late"
        self.synced(coast, whole)
        inland.sync()
        self.assertEqual(inland.record("shoppers", first).customer.county, "Devon")
        self.assertIsNone(coast.record("shoppers", first))
        self.assertIsNone(inland.record("shoppers", second))
        self.assertEqual((late.ticket.outcome(timeout=0).status, inland.status.refused), ("refused", 1))
        # Values of a filter are compared exactly, whatever the collation of the column.
        for number, county in zip(others, ("kent", "Kent ")):
            with whole.edit("shoppers", number) as s:
                s.customer.county = county
        self.synced(whole, inland, coast)
        self.assertEqual({county for _, county in named(inland)}, {"Devon", "Kent"})
        self.assertEqual({county for _, county in named(coast)}, {"Cornwall", "Kent"})
        fresh = self.open(gateway, counties("Kent"))
        self.synced(fresh)
        self.assertEqual(named(fresh), [one for one in named(whole) if one[1] == "Kent"])

    def test_other_rules_and_another_subset_while_edits_wait(self: Any) -> None:
        rules, path = Path(shutil.copytree(ROOT / "MergeRules", self.folder / "rules")), self.folder / "s.db"
        gateway = self.serve(rules)
        store = self.open(gateway, counties("Kent"), path)
        self.synced(store)
        first = store.records("shoppers")[0].id
        with store.edit("shoppers", first) as s:
            s.customer.update(lastName="Ruled", county="Devon")
        text = re.sub(r"(?m)^ +birthday: .*\n", "", (rules / "shoppers.yaml").read_text())
        text = text.replace("      email: email\n", "      mail: {column: email, formerly: email}\n")
        (rules / "shoppers.yaml").write_text(text)
        gateway.restart()
        store.close()
        store = self.open(gateway, counties("Devon"), path)
        with store.edit("shoppers", first) as later:
            later.customer.phone = "01632 960002"
        for _ in range(3):
            store.sync()
        self.assertEqual((store.status.phase, store.status.unsent, store.status.refused), ("idle", 0, 0))
        self.assertEqual(store.ticket(s.ticket.token).outcome(timeout=0).status, "merged")
        customer = store.record("shoppers", first).customer
        self.assertEqual((customer.lastName, customer.county, customer.phone), ("Ruled", "Devon", "01632 960002"))
        self.assertEqual(("birthday" in customer, "mail" in customer), (False, True))
        self.assertEqual({county for _, county in named(store)}, {"Devon"})


@unittest.skipUnless(PROGRAM, "the gateway was not built, and FIELDMERGE_PROGRAM names none")
class SQLiteSubsetTests(SubsetStories, unittest.TestCase):
    pass


@unittest.skipUnless(PROGRAM, "the gateway was not built, and FIELDMERGE_PROGRAM names none")
class MariaDBSubsetTests(SubsetStories, unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        script = str(ROOT / "Tests" / "Clients" / "Cases" / "mariadb.py")
        cls.server = subprocess.Popen(
            [sys.executable, script, str(PROGRAM), str(ROOT / "MergeRules")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert cls.server.stdin and cls.server.stdout
        cls.engine = ["--database", cls.server.stdout.readline().strip()]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.communicate("")


if __name__ == "__main__":
    unittest.main()
