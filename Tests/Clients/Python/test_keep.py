"""A subset on the device: the cases that all clients share, and the real gateway."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, cases
from test_gateway import PROGRAM, GatewayCase
from test_model import run_case

import fieldmerge
from fieldmerge.errors import InvalidQuery
from fieldmerge.keeping import filter_of
from fieldmerge.testing import start_gateway

KEEP = {**cases("keep.json"), "rules": cases("model.json")["rules"]}


class KeepCaseTests(unittest.TestCase):
    """Has a test for each case, made below."""


def _make(case: dict[str, Any]) -> Any:
    return lambda self: run_case(self, case, model=KEEP)


for _case in KEEP["cases"]:
    setattr(KeepCaseTests, "test_" + re.sub(r"\W+", "_", _case["name"]), _make(_case))


class FilterTests(unittest.TestCase):
    """The option becomes the filter of requests."""

    def test_one_filter_has_one_text(self) -> None:
        due = {"from": datetime.date(2026, 11, 1), "before": "2026-12-01"}
        told = filter_of({"orders": {"where": {"order.status": ("open", None), "order.due": due}}, "aisles": {"where": {}}})
        expected = {"orders": {"order.due": {"from": "2026-11-01", "before": "2026-12-01"}, "order.status": ["open", None]}}
        self.assertEqual(json.loads(told or ""), expected)
        self.assertEqual(told, filter_of({"orders": {"where": {"order.due": due, "order.status": ["open", None]}}}))
        self.assertIsNone(filter_of({"orders": {}}))
        self.assertIsNone(filter_of(None))

    def test_a_subset_of_another_form_is_an_error_at_once(self) -> None:
        wrong: list[tuple[Any, str]] = [
            ({"orders": ["order.status"]}, "keep.orders"),
            ({"orders": {"when": {}}}, "keep.orders"),
            ({"orders": {"where": {"order.note": {"startsWith": "A"}}}}, "keep.orders.order.note"),
            ({"orders": {"where": {"order.note": object()}}}, "keep.orders.order.note"),
        ]
        for keep, path in wrong:
            with self.assertRaises(InvalidQuery) as caught:
                filter_of(keep)
            self.assertEqual(caught.exception.path, path)


KENT = {"shoppers": {"where": {"customer.county": ["Kent"]}}}
ESSEX = {"shoppers": {"where": {"customer.county": "Essex"}}}


@unittest.skipUnless(PROGRAM, "the gateway was not built, and FIELDMERGE_PROGRAM names none")
class KeepGatewayTests(GatewayCase):
    """The gateway filters."""

    def test_another_subset_needs_only_the_difference(self) -> None:
        whole = self.synced()
        counties = {one.id: one.customer.county for one in whole.records("shoppers")}
        kent = sorted(key for key, county in counties.items() if county == "Kent")
        store = self.synced(None, keep=KENT)
        self.assertEqual([one.id for one in store.records("shoppers")], kent)
        self.assertEqual(len(store.records("aisles")), len(whole.records("aisles")))
        first, second = kent[:2]
        # Another device moves a record out of the filter while this one edits it.
        with whole.edit("shoppers", first) as s:
            s.customer.county = "Essex"
        whole.sync()
        with store.edit("shoppers", first) as s:
            s.customer.lastName = "Hill"
        self.assertTrue(store.sync().ok)
        self.assertEqual(s.ticket.outcome(timeout=0).status, "merged")
        self.assertIsNone(store.record("shoppers", first))
        with store.edit("shoppers", second) as s:
            s.customer.lastName = "Dale"
        store.close()
        # Two processes with different subsets: the last opened one decides.
        other = self.open(None, keep=ESSEX)
        report = other.sync()
        self.assertTrue(report.ok, report)
        whole.sync()
        essex = [one for one in whole.records("shoppers") if one.customer.county == "Essex"]
        self.assertIn(first, [one.id for one in essex])
        self.assertEqual(other.records("shoppers"), essex)
        self.assertLess(report.changes, len(counties))
        self.assertEqual(whole.record("shoppers", second).customer.lastName, "Dale")
        other.close()
        refused = self.open(None, keep={"shoppers": {"where": {"customer.city": "Kent"}}})
        self.assertFalse(refused.sync().ok)
        problem = refused.status.problem
        self.assertEqual((problem["code"], problem["path"]), ("unknown-field", "filter.shoppers.customer.city"))
        self.assertEqual(refused.records("shoppers"), essex)
        with refused.edit("shoppers", first) as s:
            s.customer.lastName = "Lane"
        refused.sync()
        self.assertEqual(s.ticket.outcome(timeout=0).status, "merged")
        refused.close()
        again = self.synced(None)
        whole.sync()
        self.assertEqual(again.records("shoppers"), whole.records("shoppers"))

    def test_rules_without_a_field_of_the_filter_wait_for_another_subset(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            rules = Path(shutil.copytree(ROOT / "MergeRules", Path(folder) / "rules"))
            sql = str(ROOT / "Samples" / "shop" / "sqlite.sql")
            with start_gateway(program=PROGRAM, rules=str(rules), sql=sql) as gateway:

                def open_with(field: str, value: Any) -> fieldmerge.Store:
                    keep = {"shoppers": {"where": {f"customer.{field}": value}}}
                    return fieldmerge.open(Path(folder) / "s.db", server=gateway.url, user="a", keep=keep)

                with open_with("phone", {"from": "0", "before": "1"}) as store:
                    self.assertTrue(store.sync().ok)
                    before = [one.id for one in store.records("shoppers")]
                    text = (rules / "shoppers.yaml").read_text()
                    (rules / "shoppers.yaml").write_text(re.sub(r"(?m)^ +phone: .*\n", "", text))
                    gateway.restart()
                    with store.edit("shoppers", before[0]) as s:
                        s.customer.lastName = "Hill"
                    for _ in range(3):
                        store.sync()
                    self.assertEqual(store.status.problem["path"], "filter.shoppers.customer.phone")
                    self.assertEqual([one.id for one in store.records("shoppers")], before)
                with open_with("county", "Kent") as store:
                    for _ in range(3):
                        store.sync()
                    self.assertEqual((store.status.phase, store.status.unsent, store.status.refused), ("idle", 0, 0))
                    self.assertEqual({one.customer.county for one in store.records("shoppers")}, {"Kent"})
                    self.assertEqual(s.ticket.token, getattr(store.ticket(s.ticket.token), "token", None))


if __name__ == "__main__":
    unittest.main()
