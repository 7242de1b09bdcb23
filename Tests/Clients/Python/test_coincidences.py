"""Edits, forms, entries and histories that coincide: nothing is lost, applied twice, or overwritten unread."""

from __future__ import annotations

import copy
import json
import unittest
from typing import Any
from unittest import mock

from defaults import DefaultingGateway
from store_case import StoreCase

import fieldmerge
from fieldmerge.testing.scripted import Reply


class MeetingCase(StoreCase):
    def refuse(self) -> None:
        """Has the gateway refuse the next pushes."""

        def answer(request: Any) -> Reply:
            problem = {"code": "check", "title": "check", "status": 422, "retry": False}
            results = [{"key": one["key"], "status": "failed", "code": 422, "results": [], "problem": problem}
                       for one in json.loads(request.body)["pushes"]]  # fmt: skip
            return Reply.of({"results": results, "changes": [], "feed": "feed-1", "revision": 1, "more": False}, 207)

        self.server._script.append(answer)

    def rename(self, store: fieldmerge.Store, name: str, **more: Any) -> Any:
        with store.edit("shoppers", 123, **more) as s:
            s.customer.firstName = name
        return s.ticket

    def names(self, store: fieldmerge.Store) -> list[Any]:
        """The unsent first names, each with its old value."""
        found = [one.edits[0].changeset["customer"].get("firstName") for one in store.unsent()]
        return [(one["old"], one["new"]) for one in found if one]


class DecisionTests(MeetingCase):
    def overtaken(self) -> tuple[fieldmerge.Store, Any]:
        """A store with an overtaken edit, and the edit of a form that has not read it."""
        store = self.synced()
        form = store.draft("shoppers", 123)
        self.rename(store, "Bob")
        form.record.customer.firstName = "Tom"
        form.save()
        self.theirs(firstName="Jim")
        self.pull(store)
        return store, store.conflicts()

    def test_take_theirs_leaves_a_later_edit_that_has_not_seen_this_one(self) -> None:
        store, entries = self.overtaken()
        entry = next(one for one in entries if one.current == "Jim")
        self.assertEqual(self.names(store), [("Joe", "Bob"), ("Joe", "Tom")])
        self.assertTrue(entry.take_theirs())
        self.assertEqual(self.names(store), [("Joe", "Tom")])
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Tom")

    def test_keep_mine_has_seen_only_what_its_entry_shows(self) -> None:
        store = self.synced()
        self.rename(store, "Bob")
        self.theirs(firstName="Jim")
        self.pull(store)
        (entry,) = store.conflicts()
        self.theirs(firstName="Tim")
        self.pull(store)
        self.assertTrue(entry.keep_mine())
        self.assertEqual(self.names(store), [("Jim", "Bob")])
        (again,) = store.conflicts()
        self.assertEqual((again.old, again.current, again.new), ("Jim", "Tim", "Bob"))
        self.assertTrue(again.keep_mine())
        self.assertEqual((self.names(store), store.conflicts()), ([("Tim", "Bob")], []))

    def test_an_edit_back_to_the_first_value_is_sent_above_another_value(self) -> None:
        store = self.synced()
        self.rename(store, "Bob")
        self.theirs(firstName="Jim")
        self.pull(store)
        self.rename(store, "Joe")
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Joe")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.name(), "Joe")

    def test_an_entry_leaves_if_the_edit_below_is_discarded(self) -> None:
        store = self.synced()
        form = store.draft("shoppers", 123)
        self.rename(store, "Bob")
        form.record.customer.firstName = "Tom"
        form.save()
        (entry,) = store.conflicts()
        self.assertEqual(entry.current, "Bob")
        store.unsent()[0].discard()
        self.assertEqual((self.names(store), store.conflicts()), ([("Joe", "Tom")], []))

    def test_a_deletion_keeps_its_old_if_it_has_not_seen_a_discarded_edit(self) -> None:
        store = self.synced()
        form = store.draft("shoppers", 123)
        with store.edit("shoppers", 123) as s:
            s.groceries[0].quantity = "2 tins"
        store.unsent()[0].discard()
        record = self.server.get("shoppers", 123)
        record["groceries"][0]["quantity"] = "9 tins"
        self.server.put("shoppers", 123, record)
        self.pull(store)
        with store.edit("shoppers", 123) as s:
            s.groceries[0].quantity = "2 tins"
        del form.record.groceries[0]
        form.save()
        store.unsent()[0].discard()
        (left,) = store.unsent()
        self.assertEqual(left.edits[0].changeset["groceries"][0]["old"]["quantity"], "1 tin")


class RestoringTests(MeetingCase):
    def refused_rest(self) -> tuple[fieldmerge.Store, Any]:
        """A refused edit that counts, of which one part fits no row any more."""
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.points += 3
            s.groceries[0].quantity = "2 tins"
        self.refuse()
        store.sync()
        record = self.server.get("shoppers", 123)
        del record["groceries"][0]
        self.server.put("shoppers", 123, record)
        store.sync()
        return store, store.refused_edits()[0]

    def test_two_forms_of_one_refused_edit_are_not_both_saved(self) -> None:
        store, entry = self.refused_rest()
        one, other = entry.restore(), entry.restore()
        one.save()
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            other.save()
        self.assertEqual(caught.exception.code, "not-refused")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 8)
        (left,) = store.refused_edits()
        self.assertEqual(list(left.edits[0].changeset), ["groceries"])

    def test_a_form_of_an_edit_that_was_sent_again_in_part_is_not_saved(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.points += 3
            s.customer.firstName = "Bob"
        self.refuse()
        store.sync()
        (entry,) = store.refused_edits()
        form = entry.restore()
        self.assertTrue(entry.resend(without=["customer.firstName"]))
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            form.save()
        self.assertEqual(caught.exception.code, "not-refused")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 8)

    def test_an_event_that_an_ended_process_was_delivering_comes_to_one_that_runs(self) -> None:
        one, other = self.synced(self.file()), self.synced(self.file())
        self.rename(one, "Bob")
        self.theirs(firstName="Jim")
        one.sync()
        told: list[Any] = []
        self.assertIsNotNone(one._model.next_event(["conflict"], after=0))
        other.on_conflict(told.append)
        self.assertEqual(told, [])
        one.close()
        other._deliver()
        self.assertEqual([one.new for one in told], ["Bob"])

    def test_what_is_left_out_of_a_resend_stays_with_what_uses_it(self) -> None:
        store = self.synced()
        with store.transaction() as t:
            aisle = t.create("aisles")
            aisle.aisle.name = "Oils"
            t.edit("shoppers", 123).groceries.append({"name": "Oil", "aisle": aisle.id})
            t.edit("shoppers", 123).customer.firstName = "Bob"
        self.refuse()
        store.sync()
        (entry,) = store.refused_edits()
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            entry.resend(without=["aisle", "customer"])
        self.assertEqual(caught.exception.code, "nothing-left")
        self.assertTrue(entry.resend(without=["aisle"]))
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.name(), "Bob")
        self.assertEqual([one["name"] for one in self.server.get("shoppers", 123)["groceries"]], ["Beans", "Tea"])
        (left,) = store.refused_edits()
        self.assertEqual([one.resource for one in left.edits], ["aisles", "shoppers"])
        self.assertTrue(left.resend())
        self.assertTrue(store.sync().ok)
        self.assertEqual(len(self.server.get("shoppers", 123)["groceries"]), 3)

    def test_a_restored_creation_keeps_the_nulls_that_it_was_given(self) -> None:
        store = self.synced()
        with store.create("shoppers") as new:
            new.customer.firstName = "Kim"
            new.customer.lastName = None
        self.refuse()
        store.sync()
        with store.refused_edits()[0].restore() as form:
            form.save()
        (entry,) = store.unsent()
        self.assertEqual(entry.edits[0].changeset["customer"]["new"], {"firstName": "Kim", "lastName": None})

    def test_what_refers_to_a_discarded_creation_with_a_key_of_its_own_goes_with_it(self) -> None:
        store = self.synced()
        with store.create("shoppers", 7) as new:
            new.customer.firstName = "Kim"
        with store.create("orders", "A1") as order:
            order.order.customer = 7
        store.unsent()[0].discard()
        self.assertEqual(store.unsent(), [])
        self.assertEqual([one.ticket.outcome(0).status for one in (new, order)], ["discarded"] * 2)


class FormTests(MeetingCase):
    def setUp(self) -> None:
        super().setUp()
        self.server = DefaultingGateway(self.server.rules_document, {
            "shoppers": [self.server.get("shoppers", 123)]
        }, clock=self.clock)  # fmt: skip

    def test_a_form_of_a_new_record_has_what_the_database_has_filled_in(self) -> None:
        store = self.synced()
        with store.create("shoppers") as new:
            new.customer.firstName = "Kim"
            new.groceries.append({"name": "Rice"})
        told: list[Any] = []
        store.on_overtaken(told.append)
        form = store.draft("shoppers", new.id)
        form.record.customer.points = 20
        form.record.groceries[0].name = "Salt"
        self.assertTrue(store.sync().ok)
        form.save()
        changeset = store.unsent()[0].edits[0].changeset
        self.assertEqual(changeset["customer"], {"points": {"old": 10, "new": 20}})
        self.assertEqual(changeset["groceries"][0]["item"], {
            "old": {"name": "Rice", "quantity": "1"}, "new": {"name": "Salt", "quantity": "1"}
        })  # fmt: skip
        self.assertTrue(store.sync().ok)
        self.assertEqual((store.refused_edits(), store.conflicts(), told), ([], [], []))
        held = self.server.get("shoppers", new.ticket.id)
        self.assertEqual((held["customer"]["points"], held["groceries"][0]["name"]), (20, "Salt"))

    def test_a_base_that_was_read_under_a_temporary_id(self) -> None:
        store = self.synced()
        with store.create("shoppers") as new:
            new.customer.firstName = "Kim"
        base = store.record("shoppers", new.id)
        self.assertTrue(store.sync().ok)
        with store.edit("shoppers", new.id, base=base) as s:
            s.customer.points = 20
        self.assertTrue(store.sync().ok)
        self.assertEqual((store.refused_edits(), store.conflicts()), ([], []))
        self.assertEqual(self.server.get("shoppers", new.ticket.id)["customer"]["points"], 20)


    def test_an_explicit_null_over_a_field_that_the_base_lacks(self) -> None:
        store = self.synced()
        base = json.loads(json.dumps(store.record("shoppers", 123)))
        del base["customer"]["lastName"]
        del base["customer"]["county"]
        with store.edit("shoppers", 123, base=base) as s:
            s.customer.lastName = None
        report = store.sync()
        self.assertTrue(report.ok, (report, store.refused_edits()))
        self.assertEqual(store.refused_edits(), [])
        self.assertIsNone(self.server.get("shoppers", 123)["customer"]["lastName"])

    def test_an_entry_keeps_its_name_if_its_record_gets_an_id(self) -> None:
        store = self.synced()
        with store.create("shoppers") as new:
            new.customer.firstName = "Kim"
        form = store.draft("shoppers", new.id)
        with store.edit("shoppers", new.id) as s:
            s.customer.firstName = "Bob"
        form.record.customer.firstName = "Tom"
        form.save()
        (entry,) = store.conflicts()
        self.assertEqual((entry.kind, entry.current), ("overtaken", "Bob"))
        self.assertTrue(store.sync().ok)
        (conflict,) = store.conflicts()
        self.assertEqual((conflict.kind, conflict.name, conflict.id), ("conflict", entry.name, new.ticket.id))


class ShapeTests(MeetingCase):
    """Entries of a group that gets another field: `lastName` joins the group of `firstName`, or leaves it."""

    def regroup(self, store: fieldmerge.Store, *, joins: bool) -> None:
        rules = copy.deepcopy(self.server.rules_document)
        groups = rules["resources"][0]["sections"][0]["groups"]
        if joins:
            last = next(one for one in groups if one["group"] == "lastName")
            groups.remove(last)
            groups[0]["fields"] += last["fields"]
        else:
            address = next(one for one in groups if one["group"] == "address")
            groups += [{**address, "group": one["field"], "fields": [one]} for one in address["fields"][1:]]
            address["fields"] = address["fields"][:1]
        rules["version"], rules["resources"][0]["shape"] = "r2", "s2"
        self.server.change_rules(rules)
        store.sync()
        self.assertTrue(store.sync().ok)
        self.assertEqual(store._model.rules.version, "r2")

    def test_decisions_about_a_group_that_has_got_a_field(self) -> None:
        for decide, expected in (("take_mine", "Bob"), ("take_theirs", "Jim")):
            with self.subTest(decide=decide):
                self.setUp()
                store = self.synced()
                self.rename(store, "Bob")
                self.theirs(firstName="Jim")
                store.sync()
                self.theirs(firstName="Joe", lastName="Moore") if decide == "take_mine" else None
                self.regroup(store, joins=True)
                (entry,) = store.conflicts()
                self.assertIsNotNone(getattr(entry, decide)())
                self.assertTrue(store.sync().ok)
                held = self.server.get("shoppers", 123)["customer"]
                self.assertEqual(held["firstName"], expected)
                self.assertEqual(held["lastName"], "Moore" if decide == "take_mine" else "Shaw")

    def test_decisions_about_a_group_that_was_split(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.street, s.customer.county = "2 Low St", "Surrey"
        self.theirs(street="3 Mid St", county="Essex")
        store.sync()
        self.regroup(store, joins=False)
        (entry,) = store.conflicts()
        self.assertIsNotNone(entry.take_theirs())
        self.assertTrue(store.sync().ok)
        held = self.server.get("shoppers", 123)["customer"]
        self.assertEqual((held["street"], held["county"]), ("3 Mid St", "Essex"))

    def test_an_overtaken_edit_of_a_group_that_has_got_a_field(self) -> None:
        for decide, expected in (("keep_mine", "Bob"), ("take_theirs", "Jim")):
            with self.subTest(decide=decide):
                self.setUp()
                store = self.synced()
                self.rename(store, "Bob")
                self.theirs(firstName="Jim")
                self.pull(store)
                (entry,) = store.conflicts()
                rules = copy.deepcopy(self.server.rules_document)
                groups = rules["resources"][0]["sections"][0]["groups"]
                groups[0]["fields"] += groups.pop(1)["fields"]
                rules["version"], rules["resources"][0]["shape"] = "r2", "s1"
                store._model.store_rules(json.dumps(rules))
                self.server.change_rules(rules)
                getattr(entry, decide)()
                self.clock.advance(400)
                store.sync()
                self.assertTrue(store.sync().ok)
                self.assertEqual(self.server.get("shoppers", 123)["customer"]["firstName"], expected)
                self.assertEqual(store.conflicts(), [])


class HistoryTests(MeetingCase):
    def frozen(self, store: fieldmerge.Store) -> Any:
        return store._model.freeze(is_single=False)[0]

    def test_a_late_answer_takes_no_doubt_from_a_push_that_was_built_again(self) -> None:
        store = self.synced()
        self.rename(store, "Bob")
        late = self.frozen(store)
        store._model.thaw(late)
        store._model.note(rulesDue=None)
        again = self.frozen(store)
        self.assertNotEqual(late.key, again.key)
        store._model.nothing_written([late])
        self.assertTrue(store._model.is_in_doubt())
        store._model.nothing_written([again])
        self.assertFalse(store._model.is_in_doubt())

    def test_a_snapshot_of_the_new_history_goes_on_if_a_push_of_the_old_one_is_answered(self) -> None:
        store = self.synced()
        self.rename(store, "Bob")
        push = self.frozen(store)
        feed = json.loads(push.body)["feed"]
        head = {"feed": feed + "-new", "revision": 1, "rules": store._model.rules.version, "records": 3}
        store._model.note(resnapshot=True)
        store._model.begin_snapshot(head)
        store._model.note_other_history(push)
        self.assertEqual(store._database.meta("snapshot")["feed"], head["feed"])
        store._model.begin_snapshot({**head, "feed": feed})
        store._model.note_other_history(push)
        self.assertIsNone(store._database.meta("snapshot"))

    def test_a_snapshot_whose_note_is_gone_begins_anew(self) -> None:
        store = self.synced()
        store._model.note(resnapshot=True)
        records = self.server.records

        def forget(name: str) -> None:
            if name == "snapshot: begin":
                store._database.on_step = None
                store._model.forget_snapshot()

        store._database.on_step = forget
        report = store.sync()
        self.clock.advance(400)
        self.assertTrue(store.sync().ok, report)
        self.assertIsNone(store._database.meta("resnapshot"))
        self.assertNotIn("TypeError", str(report.error))
        self.assertEqual(len(store.records("shoppers")), len([one for one in records if one[0] == "shoppers"]))

    def test_a_push_of_another_record_stays_noted_while_it_is_sent(self) -> None:
        store = self.synced()
        self.rename(store, "Bob")
        with store.edit("shoppers", 124) as s:
            s.customer.firstName = "Eve"
        one, other = store._model.freeze(is_single=False)
        store._model.note(otherRecord=[other.seq, 99])
        store._model.note_other_history(one)
        store._model.rebuild()
        self.assertEqual(store._database.meta("otherRecord"), [other.seq])
        store._model.note_other_history(other)
        store._model.rebuild()
        (entry,) = store.refused_edits()
        self.assertEqual((entry.id, entry.problem["code"]), (124, "other-record"))
        self.assertIsNone(store._database.meta("otherRecord"))

    def test_the_lane_waits_for_rules_that_are_due(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.street = "x" * 300_000
        self.assertTrue(store._model.has_large())
        store._model.note(rulesDue=True)
        self.assertFalse(store._model.has_large())
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], "x" * 300_000)


class OpeningTests(MeetingCase):
    def test_a_store_that_is_opened_during_a_sign_out_is_not_deleted(self) -> None:
        """The sign-out is stored after the file was opened, and the file is deleted after the store was claimed."""
        one = self.synced(self.file())
        opened, calls = fieldmerge.store._opened, []

        def open_late(path: Any) -> Any:
            calls.append(path)
            database = opened(path) if len(calls) == 1 else None
            if database is not None:
                with mock.patch.object(one._database, "remove"):
                    one.sign_out()
                return database
            one._database.remove()
            return opened(path)

        with mock.patch.object(fieldmerge.store, "_opened", open_late):
            store = self.open(self.file())
        one._database.remove() if len(calls) == 1 else None
        store.sync()
        self.rename(store, "Bob")
        store.close()
        self.assertEqual(self.open(self.file()).status.unsent, 1)


if __name__ == "__main__":
    unittest.main()
