"""What an app sees of a store: edits, errors, events, tokens, waits, sign-out, snapshots."""

from __future__ import annotations

import copy
import datetime
import email.utils
import gzip
import json
import os
import tempfile
import threading
import unittest
from decimal import Decimal
from pathlib import Path
from typing import Any

from defaults import DefaultingGateway
from support import cases

import fieldmerge
from fieldmerge.snapshot import to_sqlite
from fieldmerge.testing import ManualClock, MemoryGateway, ScriptedServer, memory_store
from fieldmerge.testing.scripted import Reply

MODEL = cases("model.json")
RULES = MODEL["rules"]


def gateway(clock: ManualClock | None = None) -> MemoryGateway:
    records: dict[str, list[Any]] = {}
    for line in MODEL["base"]:
        records.setdefault(line["resource"], []).append(line["record"])
    return MemoryGateway(RULES, records, clock=clock)


class StoreCase(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = ManualClock()
        self.server = gateway(self.clock)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stores: list[fieldmerge.Store] = []
        self.addCleanup(lambda: [store.close() for store in self.stores])

    def open(self, path: str = ":memory:", **more: Any) -> fieldmerge.Store:
        store = memory_store(self.server, path=path, clock=self.clock, **more)
        self.stores.append(store)
        return store

    def synced(self, path: str = ":memory:", **more: Any) -> fieldmerge.Store:
        store = self.open(path, **more)
        self.assertTrue(store.sync().ok)
        return store

    def file(self, name: str = "store.db") -> str:
        return str(Path(self.folder.name) / name)


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
    """Edits of rows whose creation has no answer yet, where the database fills in what it leaves out."""

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


class EventTests(StoreCase):
    def test_a_handler_of_conflicts_answers_with_a_value(self) -> None:
        store = self.synced()
        store.on_conflict(lambda conflict: f"{conflict.current} & {conflict.new}")
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.other_writes("Jim")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["firstName"], "Jim & Bob")

    def other_writes(self, name: str) -> None:
        record = self.server.get("shoppers", 123)
        record["customer"]["firstName"] = name
        self.server.put("shoppers", 123, record)

    def test_events_wait_for_a_handler_also_over_a_restart(self) -> None:
        path = self.file()
        store = self.synced(path)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.other_writes("Jim")
        store.sync()
        store.close()
        told: list[Any] = []
        self.open(path).on_conflict(told.append)
        self.assertEqual([(one.old, one.current, one.new, one.written) for one in told], [("Joe", "Jim", "Bob", "Bob")])
        again: list[Any] = []
        self.stores[-1].on_conflict(again.append)
        self.assertEqual(again, [])

    def test_a_handler_that_fails_stops_nothing(self) -> None:
        store = self.synced()
        store.on_conflict(lambda conflict: 1 // 0)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.other_writes("Jim")
        with self.assertLogs("fieldmerge", "ERROR"):
            self.assertTrue(store.sync().ok)

    def test_observe_tells_now_and_when_something_changes(self) -> None:
        store = self.synced()
        names: list[str] = []
        counts: list[int] = []
        end = store.observe("shoppers", 123, lambda record: names.append(record.customer.firstName))
        store.observe("aisles", lambda records: counts.append(len(records)))
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        store.sync()
        self.other_writes("Jim")
        store.sync()
        with store.create("aisles") as a:
            a.aisle.name = "Oil"
        store.sync()
        end()
        self.other_writes("Jo")
        store.sync()
        self.assertEqual(names, ["Joe", "Bob", "Jim"])
        self.assertEqual(counts, [1, 2, 2])

    def test_the_status_is_told(self) -> None:
        store = self.open()
        phases: list[str] = []
        store.on_status(lambda status: phases.append(status.phase))
        store.sync()
        self.server.no_network()
        store.sync()
        self.assertEqual(phases[0], "idle")
        self.assertEqual([phase for phase in dict.fromkeys(phases)], ["idle", "pulling", "waiting"])

    def test_before_store_adds_a_repair_to_the_same_transaction(self) -> None:
        store = self.synced()

        def repair(change: fieldmerge.Change) -> None:
            if change.resource == "shoppers" and change.after and change.after.customer.points < 0:
                with change.edit() as s:
                    s.customer.points = 0

        store.before_store(repair)
        record = self.server.get("shoppers", 124)
        record["customer"]["points"] = -3
        self.server.put("shoppers", 124, record)
        seen: list[int] = []
        store.observe("shoppers", 124, lambda record: seen.append(record.customer.points))
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 124)["customer"]["points"], 0)
        self.assertNotIn(-3, seen)

    def test_gone_without_drafts(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_gone(told.append)
        self.server.put("shoppers", 123, None)
        store.sync()
        self.assertEqual([(one.resource, one.id) for one in told], [("shoppers", 123)])
        self.assertEqual(told[0].record, MODEL["base"][0]["record"])

    def test_gone_with_a_draft_tells_what_the_server_last_told(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_gone(told.append)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.server.put("shoppers", 123, None)
        store._model.store_page(
            {"feed": self.server.feed, "revision": 2, "more": False,
             "changes": [{"resource": "shoppers", "id": 123, "record": None}]},
            asked=store._model.place(),
        )  # fmt: skip
        self.assertEqual([one.record.customer.firstName for one in told], ["Joe"])

    def test_a_sum_is_taken_back_once(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_overtaken(told.append)
        with store.edit("shoppers", 123) as s:
            s.customer.points = 6
        record = self.server.get("shoppers", 123)
        record["customer"]["points"] = 10
        self.server.put("shoppers", 123, record)
        store._model.store_page(
            {"feed": self.server.feed, "revision": self.server.revision, "more": False,
             "changes": [{"resource": "shoppers", "id": 123, "record": record}]},
            asked=store._model.place(),
        )  # fmt: skip
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 11)
        self.assertTrue(told[0].take_theirs())
        self.assertFalse(told[0].take_theirs())
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 10)

    def test_a_sum_that_was_never_sent_is_not_taken_back(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_overtaken(told.append)
        with store.edit("shoppers", 123) as s:
            s.customer.points = 6
        record = self.server.get("shoppers", 123)
        record["customer"]["points"] = 10
        self.server.put("shoppers", 123, record)
        store._model.store_page(
            {"feed": self.server.feed, "revision": self.server.revision, "more": False,
             "changes": [{"resource": "shoppers", "id": 123, "record": record}]},
            asked=store._model.place(),
        )  # fmt: skip
        for _ in range(2):
            told[0].take_theirs()
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 10)

    def test_a_handler_may_sync(self) -> None:
        store = self.synced()
        store.on_gone(lambda gone: store.sync())
        self.server.put("shoppers", 123, None)
        self.assertTrue(store.sync().ok)

    def test_resend_takes_what_was_refused_with_it_along(self) -> None:
        store = self.synced()
        with store.create("aisles") as a:
            a.aisle.name = "Oil"
        with store.edit("shoppers", 123) as s:
            s.groceries[0].aisle = a.id
        self.server.reply(Reply.of({"results": [], "changes": None}, 207))  # nothing is said of either
        store.sync()
        push = json.loads(self.server.requests[-1].body or b"")["pushes"][0]
        problem = json.loads(Reply.problem(422, "unique").body)
        failed = {"key": push["key"], "status": "failed", "code": 422, "results": [], "problem": problem}
        self.server.answer({"results": [failed], "changes": None}, 207)
        store.sync()
        entries = store.refused_edits()
        self.assertEqual([entry.problem["code"] for entry in entries], ["unique", "depends-on-refused"])
        self.assertEqual(entries[1].problem["dependsOn"]["id"], a.id)
        self.assertTrue(entries[0].resend())
        self.assertTrue(store.sync().ok)
        self.assertEqual(store.record("shoppers", 123).groceries[0].aisle, a.ticket.id)
        self.assertEqual(s.ticket.outcome(0).status, "merged")
        self.assertFalse(entries[1].resend())

    def test_what_builds_on_a_refused_edit_is_refused_at_once_and_takes_it_along(self) -> None:
        store = self.synced()
        with store.create("aisles") as a:
            a.aisle.name = "Oil"
        with store.create("aisles") as b:
            b.aisle.name = "Salt"
        for _ in range(3):
            self.server.error(400, "invalid")
        self.assertEqual(store.sync().refused, 2)
        with store.edit("shoppers", 123) as unsent:
            unsent.customer.firstName = "Bob"
        with store.edit("shoppers", 123) as s:
            s.groceries[0].aisle = a.id
            s.groceries[1].aisle = b.id
        self.assertEqual((store.status.unsent, store.status.refused), (1, 3))
        problem = s.ticket.outcome(0).problem
        self.assertEqual((problem["code"], problem["dependsOn"]["id"]), ("depends-on-refused", a.id))
        self.assertIn("aisles", problem["detail"])
        self.assertTrue(store.refused_edits()[2].resend())
        self.assertEqual((store.status.unsent, store.status.refused), (4, 0))
        self.assertTrue(store.sync().ok)
        aisles = [item["aisle"] for item in self.server.get("shoppers", 123)["groceries"]]
        self.assertEqual(aisles, [a.ticket.id, b.ticket.id])
        self.assertEqual(s.ticket.outcome(0).status, "merged")


class NetworkTests(StoreCase):
    def test_waits_double_have_jitter_and_obey_retry_after(self) -> None:
        store = self.synced(seed=7)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        waits = []
        for _ in range(12):
            self.server.no_network()
            self.assertEqual(store.sync().phase, "waiting")
            waits.append(store.status.next_try - self.clock.now())
        for number, wait in enumerate(waits):
            self.assertLessEqual(wait, min(300, 2**number))
        self.assertGreater(max(waits), 60)
        self.assertGreater(len(set(waits)), 10)
        self.server.error(503, "busy", {"Retry-After": "77"})
        store.sync()
        self.assertEqual(store.status.next_try - self.clock.now(), 77)
        self.assertTrue(store.sync().ok)
        self.server.no_network()
        store.sync()
        self.assertLessEqual(store.status.next_try - self.clock.now(), 1)

    def test_the_report_says_what_happened(self) -> None:
        store = self.open()
        self.server.no_network()
        report = store.sync()
        self.assertEqual((report.phase, report.ok), ("waiting", False))
        self.assertIn("no network", report.error or "")

    def test_a_token_that_expired_is_asked_for_once_more(self) -> None:
        asked: list[str] = []

        def token() -> str:
            asked.append(f"t{len(asked)}")
            return asked[-1]

        store = self.synced(token=token)
        self.server.error(401, "no-token")
        self.assertTrue(store.sync().ok)
        self.assertEqual(asked, ["t0", "t1"])
        self.assertEqual(self.server.requests[-1].headers["Authorization"], "Bearer t1")
        for _ in range(2):
            self.server.error(401, "no-token")
        self.assertEqual(store.sync().phase, "needsAuth")
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.assertTrue(store.sync().ok)
        self.assertEqual(s.ticket.outcome(0).status, "merged")

    def test_one_token_asking_at_a_time(self) -> None:
        from fieldmerge.tokens import TokenSource

        asked: list[int] = []
        source = TokenSource(lambda: asked.append(1) or str(len(asked)))  # type: ignore[func-returns-value]
        source.get()
        used = source.generation
        threads = [threading.Thread(target=source.renew, kwargs={"refused": used}) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(asked), 2)

    def test_a_token_that_cannot_be_had_is_no_network(self) -> None:
        def token() -> str:
            raise OSError("the identity provider is away")

        report = self.open(token=token).sync()
        self.assertEqual(report.phase, "waiting")
        self.assertIn("identity provider", report.error or "")

    def test_requests_name_client_and_device(self) -> None:
        self.synced(client="shop-till/3.2")
        headers = self.server.requests[-1].headers
        self.assertEqual(headers["X-Client"], "shop-till/3.2")
        self.assertEqual(len({request.headers["X-Device-ID"] for request in self.server.requests}), 1)

    def test_a_whole_request_that_is_refused_refuses_the_push_alone(self) -> None:
        store = self.synced()
        for record_id in (123, 124):
            with store.edit("shoppers", record_id) as s:
                s.customer.firstName = "Bob"
        for _ in range(2):
            self.server.error(400, "invalid")
        self.assertEqual(store.sync().refused, 1)
        self.assertEqual([entry.id for entry in store.refused_edits()], [123])
        self.assertEqual(self.server.get("shoppers", 124)["customer"]["firstName"], "Bob")

    def test_an_edit_of_a_field_that_the_rules_lose_is_refused_by_name(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.lastName = "Hill"
        with store.edit("shoppers", 124) as other:
            other.customer.firstName = "Eve"
        rules = copy.deepcopy(RULES)
        rules["version"] = "r2"
        groups = rules["resources"][0]["sections"][0]["groups"]
        groups[:] = [group for group in groups if group["group"] != "lastName"]
        self.server.change_rules(rules)
        store.sync()
        entry = store.refused_edits()[0]
        self.assertEqual((entry.id, entry.problem["code"]), (123, "field-removed"))
        self.assertIn("lastName", entry.problem["detail"])
        self.assertEqual(other.ticket.outcome(0).status, "merged")
        self.assertEqual(store._rules_version(), "r2")

    def test_a_stranger_that_answers_403_refuses_nothing(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.server.reply(Reply(403, b"<html>Forbidden</html>"))
        self.server.error(403, "strange-host")
        self.assertEqual(store.sync().phase, "waiting")
        self.assertEqual(store.sync().phase, "waiting")
        self.assertEqual((store.status.unsent, store.status.refused), (1, 0))

    def test_a_deadline_ends_in_order(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        original = self.server.send

        def slow(request: Any) -> Any:
            self.clock.advance(3)
            return original(request)

        self.server.send = slow  # type: ignore[method-assign, assignment]
        report = store.sync(deadline=2)
        self.assertEqual((report.phase, report.merged), ("idle", 1))
        self.server.begin_anew()
        self.assertEqual(store.sync(deadline=2).error, "out of time")

    def test_a_snapshot_that_broke_off_goes_on(self) -> None:
        self.server.answer(RULES)
        self.server.break_at(700)
        store = self.open()
        self.assertEqual(store.sync().phase, "waiting")
        self.assertGreater(store.status.progress.done, 0)
        self.assertTrue(store.sync().ok)
        paths = [request.path for request in self.server.requests if "snapshot" in request.path]
        self.assertEqual(len(paths), 2)
        self.assertIn("after=", paths[1])
        self.assertEqual(len(store.records("shoppers")), 2)

    def test_a_resource_that_is_not_kept_is_fetched_and_can_be_edited(self) -> None:
        store = self.synced(resources=["aisles"])
        self.assertEqual(store._database.value("SELECT count(*) FROM base WHERE resource = 'shoppers'"), 0)
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Joe")
        self.assertIsNone(store.record("shoppers", 999))
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.server.no_network()
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Bob")
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Bob")
        self.server._script.clear()
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["firstName"], "Bob")
        self.assertEqual(store._database.value("SELECT count(*) FROM base WHERE resource = 'shoppers'"), 0)
        self.server.no_network()
        with self.assertRaises(fieldmerge.Offline):
            store.record("shoppers", 123)

    def test_resync_reads_everything_anew_and_drafts_keep_their_old(self) -> None:
        store = self.synced()
        self.server.records["shoppers", "123"]["customer"]["lastName"] = "Silent"  # told by no change
        self.server.records.pop(("aisles", "5"))
        store.sync()
        self.assertEqual(store.record("shoppers", 123).customer.lastName, "Shaw")
        self.assertTrue(store.resync().ok)
        self.assertEqual(store.record("shoppers", 123).customer.lastName, "Silent")
        self.assertEqual(store.records("aisles"), [])

    def test_a_gateway_without_a_journal_merges_all_the_same(self) -> None:
        server = ScriptedServer(lambda request: self.without_journal(request), clock=self.clock)
        store = memory_store(server, clock=self.clock)
        self.stores.append(store)
        report = store.sync()
        self.assertEqual((report.phase, report.problem["code"]), ("idle", "no-feed"))

    def without_journal(self, request: Any) -> Reply:
        return Reply.of(RULES) if request.path == "/v1/rules" else Reply.problem(404, "no-feed")


class OlderStoreTests(StoreCase):
    def test_bytes_without_feed_and_sent_are_repeated_as_they_are(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.points = 6
        self.server.no_network()
        store.sync()
        body = json.loads(store._database.value("SELECT body FROM push"))
        older = {name: value for name, value in body.items() if name not in ("feed", "sent")}
        text = json.dumps(older).encode()
        with store._database.transaction("test"):
            store._database.write("UPDATE push SET body = ?", text)
        self.clock.advance(400)
        self.assertTrue(store.sync().ok)
        self.assertIn(text, self.server.requests[-1].body or b"")
        self.assertEqual(store.record("shoppers", 123).customer.points, 6)


class ClockTests(StoreCase):
    def test_sent_is_the_time_of_the_gateway_also_after_a_restart(self) -> None:
        self.clock, path = ManualClock(now=5), self.file()
        store = self.dated(path, date=1_767_225_600)
        self.assertEqual(self.sent(store), "2026-01-01T00:00:01.000Z")
        store.close()
        self.clock.advance(7)
        self.assertEqual(self.sent(self.open(path)), "2026-01-01T00:00:08.000Z")

    def test_sent_is_the_time_of_the_clock_without_a_date_and_never_earlier_than_the_gateways(self) -> None:
        self.clock = ManualClock(now=5)
        for date, sent in ((None, "00:05"), (4, "00:05"), (5, "00:06"), (64, "01:05")):
            self.assertEqual(self.sent(self.dated(date=date)), f"1970-01-01T00:{sent}.000Z")

    def dated(self, path: str = ":memory:", *, date: int | None) -> fieldmerge.Store:
        """Returns a store that was synced with a server whose first answer has a date."""
        self.server = gateway()
        self.server.answer(RULES, headers={} if date is None else {"date": email.utils.formatdate(date, usegmt=True)})
        return self.synced(path)

    def sent(self, store: fieldmerge.Store) -> str:
        """Edits, and returns `sent` of the push, which gets no answer."""
        with store.edit("shoppers", 123) as s:
            s.customer.points += 1
        self.server.no_network()
        store.sync()
        return str(json.loads(self.server.requests[-1].body or b"")["pushes"][-1]["sent"])


class BrokenSnapshotTests(StoreCase):
    def test_an_edit_of_records_of_a_snapshot_that_broke_off_names_its_feed(self) -> None:
        store = self.open()
        for name in ("feed-a", "feed-b"):
            head = {"feed": name, "revision": 1, "rules": RULES["version"], "records": 9}
            lines = [{"snapshot": head}, MODEL["base"][0], {"cursor": "1"}]
            text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            self.server.answer(RULES) if name == "feed-a" else self.clock.advance(400)
            self.server.reply(Reply(200, text, {"content-type": "application/x-ndjson"}))
            self.assertNotEqual(store.sync().phase, "idle")
            store._model.note(snapshot=None)  # another history: the next snapshot begins anew
        with store.edit("shoppers", 123) as s:
            s.customer.points += 1
        self.server.no_network()
        store.sync()
        push = json.loads(self.server.requests[-1].body or b"")["pushes"][0]
        self.assertEqual(push["feed"], "feed-a")


class LifeTests(StoreCase):
    def test_sign_out_refuses_while_edits_are_unsent(self) -> None:
        path = self.file()
        store = self.synced(path)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        with self.assertRaises(fieldmerge.UnsentEdits) as caught:
            store.sign_out()
        self.assertEqual(caught.exception.unsent, 1)
        self.server.no_network()
        with self.assertRaises(fieldmerge.UnsentEdits):
            store.sign_out("send")
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Bob")
        store.sign_out("send")
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["firstName"], "Bob")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_sign_out_refuses_what_was_refused_and_is_in_no_journal(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        for _ in range(2):
            self.server.error(400, "invalid")
        store.sync()
        with store.edit("shoppers", 124) as t:
            t.customer.firstName = "Eve"
        store._model.store_page(
            {"feed": self.server.feed, "revision": 2, "more": False,
             "changes": [{"resource": "shoppers", "id": 124, "record": None}]},
            asked=store._model.place(),
        )  # fmt: skip
        self.assertEqual([entry.problem["code"] for entry in store.refused_edits()], ["invalid", "gone"])
        self.assertEqual(store.status.unsent, 0)
        for how in ("refuse", "send"):
            with self.assertRaises(fieldmerge.UnsentEdits) as caught:
                store.sign_out(how)
            self.assertEqual(caught.exception.unsent, 2)
        for entry in store.refused_edits():
            entry.discard()
        store.sign_out()

    def test_sign_out_goes_on_where_the_journal_has_what_was_refused(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.status = "open"
        record = self.server.get("shoppers", 123)
        record["customer"]["status"] = "closed"
        self.server.put("shoppers", 123, record)
        self.assertEqual(store.sync().refused, 1)
        store.sign_out()
        self.assertEqual(s.ticket.outcome(0).status, "refused")

    def test_tickets_tell_the_truth_after_a_sign_out(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        with store.create("aisles") as a:
            a.aisle.name = "Oil"
        store.sign_out("send")
        outcome = s.ticket.outcome(0)
        self.assertEqual((outcome.status, outcome.record.customer.firstName), ("merged", "Bob"))
        self.assertEqual((a.ticket.outcome(0).status, type(a.ticket.id)), ("merged", int))

    def test_sign_out_may_discard(self) -> None:
        path = self.file()
        store = self.synced(path)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        store.sign_out("discard")
        self.assertEqual(s.ticket.outcome(1).status, "discarded")
        self.assertFalse(os.path.exists(path))
        with self.assertRaises(fieldmerge.StoreClosed):
            store.record("shoppers", 123)

    def test_a_store_belongs_to_one_user(self) -> None:
        path = self.file()
        self.synced(path).close()
        with self.assertRaises(fieldmerge.WrongStore):
            self.open(path, user="ben")
        other = self.file("other.db")
        Path(other).write_text("This is a letter, and no database. " * 9)
        with self.assertRaises(fieldmerge.WrongStore):
            self.open(other)

    def test_a_ticket_is_found_again(self) -> None:
        path = self.file()
        store = self.synced(path)
        with store.create("aisles") as a:
            a.aisle.name = "Oil"
        token, temporary = a.ticket.token, a.ticket.id
        store.close()
        store = self.open(path)
        for name in (token, temporary):
            found = store.ticket(name)
            self.assertIsNotNone(found)
            self.assertTrue(found.is_open)
        with self.assertRaises(TimeoutError):
            store.ticket(token).outcome(timeout=0.01)
        store.sync()
        real = store.ticket(token).id
        self.assertIsInstance(real, int)
        for name in (token, temporary, real):
            self.assertEqual(store.ticket(name).outcome(timeout=0).status, "merged")
        self.assertIsNone(store.ticket("nobody"))

    def test_other_resources_are_kept_after_they_are_asked_for(self) -> None:
        path = self.file()
        self.synced(path, resources=["aisles"]).close()
        store = self.synced(path, resources=["aisles", "shoppers"])
        self.assertEqual(len(store.records("shoppers")), 2)
        store.close()
        store = self.open(path, resources=["shoppers"])
        self.assertEqual(store._database.value("SELECT count(*) FROM base WHERE resource = 'aisles'"), 0)

    def test_a_store_begins_with_a_snapshot(self) -> None:
        text = self.server._snapshot({}).body
        for name, content in (("s.ndjson", text), ("s.ndjson.gz", gzip.compress(text))):
            Path(self.file(name)).write_bytes(content)
        to_sqlite(self.file("s.ndjson.gz"), self.file("s.sqlite"), rules=json.dumps(RULES))
        for name in ("s.ndjson", "s.ndjson.gz", "s.sqlite"):
            with self.subTest(name=name):
                before = len(self.server.requests)
                store = self.open(snapshot=self.file(name))
                self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))
                if name == "s.sqlite":
                    with store.edit("shoppers", 123) as s:
                        s.customer.lastName = "Hill"
                self.assertEqual(len(self.server.requests), before, "opening needs no network")
                self.assertTrue(store.sync().ok)
                self.assertFalse(any("snapshot" in one.path for one in self.server.requests[before:]))
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["lastName"], "Hill")

    def test_a_snapshot_that_is_not_whole_is_refused(self) -> None:
        Path(self.file("s.ndjson")).write_bytes(self.server._snapshot({}).body.rsplit(b"\n", 2)[0])
        with self.assertRaises(fieldmerge.BadSnapshot):
            self.open(snapshot=self.file("s.ndjson"))

    def test_support_gets_what_it_needs(self) -> None:
        store = self.synced(token="secret")
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bobby"
        told = json.dumps(store.diagnose())
        self.assertNotIn("secret", told)
        self.assertNotIn("Bobby", told)
        self.assertEqual(store.diagnose()["pushes"][0]["edits"][0]["id"], 123)
        store.export(self.file("export.ndjson"))
        lines = [json.loads(line) for line in Path(self.file("export.ndjson")).read_text().splitlines()]
        self.assertEqual(lines[0]["export"]["unsent"], 1)
        self.assertIn("Bobby", json.dumps(lines[1]))
        self.assertEqual(len(lines), 2 + 3)

    def test_a_lease_is_taken_over_after_three_beats(self) -> None:
        path = self.file()
        one, other = self.synced(path), self.open(path)
        self.assertTrue(one._model.take_lease())
        self.assertFalse(other._model.take_lease())
        self.clock.advance(10)
        one._model.beat()
        self.clock.advance(10)
        self.assertFalse(other._model.take_lease())
        self.clock.advance(6)
        self.assertTrue(other._model.take_lease())
        from fieldmerge.model import LeaseLost

        with self.assertRaises(LeaseLost):
            one._model.freeze(is_single=False)
        other._model.drop_lease()
        with self.assertRaises(LeaseLost):
            one._model.freeze(is_single=False)
        self.clock.jump(-365 * 24 * 3600)
        self.assertTrue(one._model.take_lease(), "a clock that was moved holds nobody up")


if __name__ == "__main__":
    unittest.main()
