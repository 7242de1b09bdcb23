"""Edits of an app: their allowed contents, and their effects on the store."""

from __future__ import annotations

import copy
import datetime
import json
import threading
import unittest
from decimal import Decimal
from typing import Any

from defaults import DefaultingGateway
from store_case import MODEL, RULES, StoreCase

import fieldmerge


class EditTests(StoreCase):
    def test_attributes_and_members_read_alike(self) -> None:
        record = self.synced().record("shoppers", 123)
        self.assertEqual(record.customer.firstName, record["customer"]["firstName"])
        self.assertEqual(record.groceries[0].name, "Beans")
        self.assertEqual(json.loads(json.dumps(record)), MODEL["base"][0]["record"])

    def test_what_was_read_cannot_be_assigned(self) -> None:
        record = self.synced().record("shoppers", 123)
        for assign in (
            lambda: setattr(record.customer, "firstName", "Bob"),
            lambda: record.customer.__setitem__("firstName", "Bob"),
            lambda: record.groceries.append({}),
        ):
            with self.assertRaises(TypeError):
                assign()
        copied = copy.deepcopy(record)
        copied["customer"]["firstName"] = "Bob"
        self.assertEqual(record.customer.firstName, "Joe")

    def test_lists_are_lists(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.groceries += [{"name": "Rice"}, {"name": "Salt"}]
            s.groceries.insert(0, {"name": "Oil"})
            del s.groceries[1]
            popped = s.groceries.pop()
            s.groceries[0] = {"quantity": "1 l"}
            self.assertEqual(popped.name, "Salt")
        names = [(item.name, item.quantity) for item in store.record("shoppers", 123).groceries]
        self.assertEqual(names, [("Tea", "1 box"), ("Oil", "1 l"), ("Rice", None)])
        self.assertTrue(store.sync().ok)
        held = self.server.get("shoppers", 123)
        self.assertEqual([item["name"] for item in held["groceries"]], ["Tea", "Oil", "Rice"])

    def test_a_value_changed_in_place_is_an_edit_and_is_checked(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.tags.append("dog")
        self.assertEqual(store.record("shoppers", 123).customer.tags, ["dog"])
        with self.assertRaises(fieldmerge.InvalidValue) as caught:
            with store.edit("shoppers", 123) as s:
                s.customer.tags.append(7)
        self.assertEqual(caught.exception.path, "customer.tags")

    def test_an_exception_leaves_nothing(self) -> None:
        store = self.synced()
        with self.assertRaises(ZeroDivisionError):
            with store.edit("shoppers", 123) as s:
                s.customer.firstName = "Bob"
                1 // 0
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Joe")
        self.assertEqual(store.status.unsent, 0)

    def test_a_part_of_a_transaction_that_failed_is_taken_back(self) -> None:
        store = self.synced()
        with store.transaction() as t:
            t.edit("shoppers", 124).customer.firstName = "Eve"
            try:
                with t.edit("shoppers", 123) as s:
                    s.customer.firstName = "Bob"
                    s.customer.points = "many"
            except fieldmerge.InvalidValue:
                pass
            self.assertEqual(t.record("shoppers", 124).customer.firstName, "Eve")
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Joe")
        self.assertEqual(store.record("shoppers", 124).customer.firstName, "Eve")

    def test_what_does_not_exist(self) -> None:
        store = self.synced()
        with self.assertRaises(fieldmerge.RecordNotFound):
            with store.edit("shoppers", 999):
                pass
        with self.assertRaises(fieldmerge.UnknownName) as caught:
            store.delete("shopper", 1)
        self.assertEqual(caught.exception.nearest, "shoppers")
        with self.assertRaises(fieldmerge.InvalidEdit):
            with store.create("orders"):
                pass
        with self.assertRaises(fieldmerge.InvalidEdit):
            with store.create("shoppers", 123):
                pass
        self.assertIsNone(store.record("shoppers", 999))

    def test_names_are_checked_in_reads_as_in_edits(self) -> None:
        store = self.synced(resources=["shoppers"])
        for read, near in [
            (lambda: store.record("shopers", 1), "shoppers"),
            (lambda: store.records("aisle"), "aisles"),
            (lambda: store.observe("shopers", print), "shoppers"),
            (lambda: store.observe("shopers", 1, print), "shoppers"),
            (lambda: store.state("shopers", 1), "shoppers"),
            (lambda: store.state("shoppers", 123, "costumer"), "customer"),
            (lambda: store.state("shoppers", 123, "customer", "adress"), "address"),
            (lambda: store.state("shoppers", 123, "customer", "street"), "address"),
            (lambda: store.state("shoppers", 123, "groceries", 1, "isle"), "aisle"),
            (lambda: store.transaction().record("shopers", 1), "shoppers"),
        ]:
            with self.subTest(near=near), self.assertRaises(fieldmerge.UnknownName) as caught:
                read()
            self.assertEqual(caught.exception.nearest, near)
        self.assertEqual(store.record("aisles", 5).aisle.name, self.server.get("aisles", 5)["aisle"]["name"])
        self.assertEqual(store.state("shoppers", 123, "groceries", 1), "clean")
        self.assertEqual(store.state("shoppers", 123, "groceries", "aisle"), "clean")
        self.assertIsNone(self.open().record("shopers", 1))  # before the rules are known

    def test_an_edit_before_the_first_sync_says_what_is_missing(self) -> None:
        with self.assertRaises(fieldmerge.RulesUnknown):
            with self.open().edit("shoppers", 123):
                pass

    def test_a_record_that_vanishes_during_the_edit(self) -> None:
        store = self.synced()
        with self.assertRaises(fieldmerge.RecordNotFound):
            with store.edit("shoppers", 123) as s:
                s.customer.firstName = "Bob"
                self.server.put("shoppers", 123, None)
                store.sync()

    def test_two_who_edit_at_once_both_count(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as one, store.edit("shoppers", 123) as other:
            one.customer.points += 1
            other.customer.points += 1
            other.customer.firstName = "Bob"
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 7)
        self.assertEqual(one.ticket.outcome(0).conflicts[0].outcome, "combined")

    def test_threads_share_a_store(self) -> None:
        store = self.synced(self.file())

        def work() -> None:
            for _ in range(20):
                with store.edit("shoppers", 123) as s:
                    s.groceries.append({"name": "Rice"})
                    s.customer.points += 1

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            store.sync()
        for thread in threads:
            thread.join()
        self.assertTrue(store.sync().ok)
        held = self.server.get("shoppers", 123)
        self.assertEqual((len(held["groceries"]), held["customer"]["points"]), (2 + 80, 5 + 80))
        self.assertEqual(store.records("shoppers"), [held, self.server.get("shoppers", 124)])


class UnknownOldTests(StoreCase):
    """Edits of rows whose creation has no answer yet, if the database fills in omitted fields."""

    def setUp(self) -> None:
        super().setUp()
        records: dict[str, list[Any]] = {}
        for line in MODEL["base"]:
            records.setdefault(line["resource"], []).append(line["record"])
        self.server = DefaultingGateway(RULES, records, clock=self.clock)

    def lost(self, store: fieldmerge.Store, make: Any) -> None:
        """Sends an edit whose answer is lost."""
        make()
        self.server.lose_answer()
        self.assertEqual(store.sync().phase, "waiting")

    def created(self, store: fieldmerge.Store) -> Any:
        with store.create("shoppers") as s:
            s.customer.firstName = "Kim"
        return s

    def test_a_field_of_the_group_that_was_not_assigned_keeps_what_the_database_filled_in(self) -> None:
        store = self.synced()

        def append() -> None:
            with store.edit("shoppers", 123) as s:
                s.groceries.append({"name": "Rice"})

        self.lost(store, append)
        with store.edit("shoppers", 123) as s:
            s.groceries[2].name = "Brown rice"
        self.assertEqual(store.record("shoppers", 123).groceries[2].quantity, None)
        self.assertTrue(store.sync().ok)
        rice = self.server.get("shoppers", 123)["groceries"][2]
        self.assertEqual((rice["name"], rice["quantity"], s.ticket.outcome(0).status), ("Brown rice", "1", "merged"))

    def test_what_joins_the_creation_leaves_to_the_database_what_was_not_assigned(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.groceries.append({"name": "Rice"})
        with store.edit("shoppers", 123) as s:
            s.groceries[2].name = "Brown rice"
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["groceries"][2]["quantity"], "1")

    def test_what_joins_a_creation_leaves_its_rows_where_they_are(self) -> None:
        store = self.synced()
        with store.create("shoppers") as s:
            s.customer.firstName = "Kim"
            s.groceries += [{"name": "Rice"}, {"name": "Salt"}]
        with store.edit("shoppers", s.id) as edited:
            edited.customer.firstName = "Kit"
            edited.groceries[0].name = "Brown rice"
        names = [item.name for item in store.record("shoppers", s.id).groceries]
        self.assertEqual(names, ["Brown rice", "Salt"])
        self.assertTrue(store.sync().ok)
        self.assertEqual([item["name"] for item in self.server.get("shoppers", s.ticket.id)["groceries"]], names)

    def test_a_row_is_deleted_with_what_the_database_filled_in(self) -> None:
        store = self.synced()

        def append() -> None:
            with store.edit("shoppers", 123) as s:
                s.groceries.append({"name": "Rice"})

        self.lost(store, append)
        with store.edit("shoppers", 123) as s:
            s.groceries[2].name = "Brown rice"
        with store.edit("shoppers", 123) as s:
            del s.groceries[2]
        made: list[Any] = []
        self.lost(store, lambda: made.append(self.created(store)))
        store.delete("shoppers", made[0].id)
        self.assertTrue(store.sync().ok)
        self.assertEqual(len(self.server.get("shoppers", 123)["groceries"]), 2)
        self.assertEqual([record.id for record in store.records("shoppers")], [123, 124])

    def test_what_the_database_would_fill_in_is_no_edit(self) -> None:
        store = self.synced()
        made: list[Any] = []
        self.lost(store, lambda: made.append(self.created(store)))
        with store.edit("shoppers", made[0].id) as s:
            s.customer.points = 10
        self.assertTrue(store.sync().ok)
        self.assertEqual((s.ticket.outcome(0).status, len(self.server.runs)), ("merged", 1))
        self.assertEqual(store.record("shoppers", made[0].id).customer.points, 10)

    def test_an_entry_that_was_refused_for_a_null_is_mended_when_it_is_sent_again(self) -> None:
        store = self.synced()
        with store.create("shoppers") as s:
            s.customer.firstName = "Kim"
        store.sync()
        with store.edit("shoppers", s.ticket.id) as edited:
            edited.customer.points = 3
        with store._database.transaction("as an earlier version left it"):
            ((text,),) = store._database.rows("SELECT changes FROM edit")
            store._database.write("UPDATE edit SET changes = ?", text.replace('{"points": 10}', '{"points": null}'))
        self.assertEqual(store.sync().refused, 1)
        (entry,) = store.refused_edits()
        self.assertEqual(entry.edits[0].changeset["customer"]["points"]["old"], None)
        self.assertTrue(entry.resend())
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", s.ticket.id)["customer"]["points"], 3)

    def test_new_rules_leave_unknown_what_is(self) -> None:
        store = self.synced()
        made: list[Any] = []
        self.lost(store, lambda: made.append(self.created(store)))
        with store.edit("shoppers", made[0].id) as s:
            s.customer.points = 3
        rules = copy.deepcopy(RULES)
        rules["version"] = "r2"
        store._model.store_rules(json.dumps(rules))
        self.server.change_rules(rules)
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", s.ticket.id)["customer"]["points"], 3)


class ValueTests(unittest.TestCase):
    def check(self, kind: str, value: Any, **limits: Any) -> Any:
        from fieldmerge.rules import Field
        from fieldmerge.values import wire_value

        return wire_value(Field("f", kind, True, limits), value, path="s.f")

    def test_values_that_fit(self) -> None:
        day = datetime.datetime(2026, 11, 20, 10, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
        for kind, value, limits, expected in [
            ("decimal", "12.5", {"precision": 8, "scale": 2}, "12.50"),
            ("decimal", Decimal("-0.1"), {"precision": 8, "scale": 2}, "-0.10"),
            ("decimal", 100, {"precision": 5, "scale": 2}, "100.00"),
            ("decimal", 1e2, {"precision": 5, "scale": 0}, "100"),
            ("integer", "7", {}, 7),
            ("integer", 7.0, {}, 7),
            ("integer", "1.0", {}, 1),
            ("integer", "-0", {}, 0),
            ("bit", "3", {"bits": 3}, 3),
            ("integer", 2**60, {}, str(2**60)),
            ("boolean", 1, {}, True),
            ("date", datetime.date(2026, 2, 3), {}, "2026-02-03"),
            ("date", "0000-00-00", {}, "0000-00-00"),
            ("datetime", "2026-11-20 10:00:00", {"fraction": 0}, "2026-11-20T10:00:00"),
            ("datetime", "2026-11-20T10:00:00", {"fraction": 3}, "2026-11-20T10:00:00.000"),
            ("timestamp", day, {"fraction": 0}, "2026-11-20T08:00:00Z"),
            ("time", "-838:59:59", {"fraction": 0}, "-838:59:59"),
            ("set", {"b", "a"}, {"members": ["b", "a", "c"]}, ["b", "a"]),
            ("binary", b"\x00\x01", {}, "AAE="),
            ("json", {"a": (1, 2)}, {}, {"a": [1, 2]}),
            ("unheard-of", "x", {}, "x"),
        ]:
            with self.subTest(kind=kind, value=value):
                self.assertEqual(self.check(kind, value, **limits), expected)

    def test_values_that_do_not_fit(self) -> None:
        for kind, value, limits in [
            ("decimal", "12.505", {"precision": 8, "scale": 2}),
            ("decimal", "1000", {"precision": 5, "scale": 2}),
            ("decimal", "+1", {"precision": 5, "scale": 2}),
            ("decimal", float("nan"), {}),
            ("integer", True, {}),
            ("integer", 256, {"minimum": "0", "maximum": "255"}),
            ("integer", "1e400", {}),
            ("integer", "1e3", {}),
            ("integer", "007", {}),
            ("integer", "+1", {}),
            ("integer", " 1", {}),
            ("integer", "1.", {}),
            ("integer", "1.5", {}),
            ("integer", "٣", {}),
            ("year", "2e3", {}),
            ("decimal", "٣", {}),
            ("bit", 8, {"bits": 3}),
            ("boolean", "yes", {}),
            ("text", "abc", {"maximumCharacters": 2}),
            ("text", "é", {"maximumBytes": 1}),
            ("text", "\ud800", {}),
            ("enum", "x", {"members": ["a"]}),
            ("date", "2026-02-30", {}),
            ("date", "20-02-30", {}),
            ("datetime", "2026-11-20T10:00:00Z", {"fraction": 0}),
            ("datetime", "2026-11-20T10:00:00.5", {"fraction": 0}),
            ("timestamp", "2026-11-20T10:00:00", {"fraction": 0}),
            ("time", "10:60:00", {}),
            ("binary", "not base64!", {}),
            ("uuid", "x", {}),
            ("inet4", "::1", {}),
            ("json", {1: 2}, {}),
            ("json", object(), {}),
        ]:
            with self.subTest(kind=kind, value=value), self.assertRaises(fieldmerge.InvalidValue):
                self.check(kind, value, **limits)


if __name__ == "__main__":
    unittest.main()
