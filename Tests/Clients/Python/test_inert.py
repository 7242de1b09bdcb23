"""Entries of edits that do not exist any more: they do nothing, or fail with a clear error."""

from __future__ import annotations

import unittest
from typing import Any

from test_lists import ListCase

import fieldmerge
from fieldmerge.model import conflicts as entries

DECISIONS = ("keep_mine", "take_mine", "take_theirs", "dismiss")


class InertTests(ListCase):
    def edit(self, store: fieldmerge.Store, **values: Any) -> Any:
        with store.edit("shoppers", 123) as s:
            s.customer.update(values)
        return s.ticket

    def overtaken(self, store: fieldmerge.Store, **theirs: str) -> list[Any]:
        """Has edits of the first and the last name of shopper 123 overtaken."""
        self.edit(store, firstName="Bob", lastName="Hill")
        self.theirs(**theirs)
        self.pull(store)
        return [one for one in store.conflicts() if one.kind == "overtaken"]

    def cancel(self, store: fieldmerge.Store, **values: str) -> None:
        """Sets the first values of groups in the store and at the gateway."""
        self.theirs(**values)
        self.pull(store)
        self.edit(store, **values)

    def queue(self, store: fieldmerge.Store) -> list[Any]:
        return [[edit.changeset for edit in push.edits] for push in store.unsent()]

    def assertInert(self, store: fieldmerge.Store, entry: Any) -> None:
        before = self.queue(store), [one.name for one in store.conflicts()]
        for decide in DECISIONS:
            self.assertFalse(getattr(entry, decide)(), decide)
            self.assertEqual((self.queue(store), [one.name for one in store.conflicts()]), before, decide)


class OvertakenEntryTests(InertTests):
    def test_an_entry_whose_edit_cancelled_itself_is_inert(self) -> None:
        store = self.synced()
        (entry,) = self.overtaken(store, firstName="Jim")
        self.cancel(store, firstName="Joe", lastName="Shaw")
        self.assertEqual((self.queue(store), store.conflicts()), ([], []))
        self.assertInert(store, entry)

    def test_an_entry_does_not_act_on_a_later_edit_of_its_push(self) -> None:
        store = self.synced()
        (entry,) = self.overtaken(store, firstName="Jim")
        push = store.unsent()[0].name
        self.cancel(store, firstName="Joe")
        self.edit(store, firstName="Tom")
        self.assertEqual([one.name for one in store.unsent()], [push], "the later edit joins the push")
        self.assertInert(store, entry)
        self.theirs(firstName="Tim")
        self.pull(store)
        (later,) = store.conflicts()
        self.assertNotEqual(later.name, entry.name)
        self.assertInert(store, entry)

    def test_of_two_entries_of_one_record_one_is_inert_and_the_other_acts(self) -> None:
        store = self.synced()
        first, last = self.overtaken(store, firstName="Jim", lastName="Moore")
        self.cancel(store, firstName="Joe")
        self.assertEqual([one.name for one in store.conflicts()], [last.name])
        self.assertInert(store, first)
        self.assertTrue(last.keep_mine())
        self.assertEqual(self.queue(store), [[{"customer": {"lastName": {"old": "Moore", "new": "Hill"}}}]])
        self.edit(store, lastName="Moore")
        self.edit(store, firstName="Tom", lastName="Wood")
        for entry in (first, last):
            self.assertInert(store, entry)

    def test_an_entry_of_a_discarded_or_refused_edit_is_inert(self) -> None:
        store = self.synced()
        (entry,) = self.overtaken(store, firstName="Jim")
        self.assertTrue(store.unsent()[0].discard())
        self.assertInert(store, entry)
        store = self.synced()
        (entry,) = self.overtaken(store, firstName="Tim")
        for _ in range(2):
            self.server.error(400, "invalid")
        store.sync()
        self.assertEqual(store.status.refused, 1)
        self.assertInert(store, entry)

    def test_an_entry_whose_edit_was_merged_without_a_conflict_acts_once(self) -> None:
        for decide, name in (("keep_mine", "Bob"), ("take_theirs", "Jim")):
            with self.subTest(decide=decide):
                self.setUp()
                store = self.synced()
                (entry,) = self.overtaken(store, firstName="Jim")
                self.server.put("shoppers", 123, {**self.server.get("shoppers", 123), **self.joe()})
                store.sync()
                self.assertEqual((store.conflicts(), self.name()), ([], "Bob"))
                self.theirs(firstName="Tim")
                store.sync()
                self.assertTrue(getattr(entry, decide)())
                self.assertInert(store, entry)
                store.sync()
                self.assertEqual(self.name(), name)

    def joe(self) -> dict[str, Any]:
        held: Any = self.server.get("shoppers", 123)
        return {"customer": {**held["customer"], "firstName": "Joe"}}


class ConflictEntryTests(InertTests):
    def test_a_conflict_that_was_pruned_cannot_be_decided(self) -> None:
        kept, entries.ENTRIES_KEPT = entries.ENTRIES_KEPT, 1
        self.addCleanup(setattr, entries, "ENTRIES_KEPT", kept)
        store = self.synced()
        tickets = [self.conflict(store, f"Bob {number}", f"Jim {number}") for number in range(2)]
        store.on_conflict(lambda conflict: None)
        first, last = (ticket.outcome(0).conflicts[0] for ticket in tickets)
        for decide in ("take_mine", "take_theirs"):
            with self.assertRaises(fieldmerge.NotPossible) as caught:
                getattr(first, decide)()
            self.assertEqual(caught.exception.code, "not-listed")
        first.dismiss()
        self.assertEqual((self.queue(store), [one.name for one in store.conflicts()]), ([], [last.name]))

    def test_entries_of_merged_edits_leave_room_for_conflicts(self) -> None:
        kept, entries.ENTRIES_KEPT = entries.ENTRIES_KEPT, 2
        self.addCleanup(setattr, entries, "ENTRIES_KEPT", kept)
        store = self.synced()
        self.conflict(store)
        store.on_conflict(lambda conflict: None)
        store.on_overtaken(lambda event: None)
        for name in ("Hill", "Wood", "Moore"):
            self.edit(store, lastName=name)
            self.theirs(lastName="Smith")
            self.pull(store)
            self.theirs(lastName=name)
            self.assertEqual(len(store.conflicts()), 2)
            store.sync()
        self.assertEqual([one.new for one in store.conflicts()], ["Bob"])

    def test_of_two_conflicts_of_one_record_each_is_decided_once(self) -> None:
        store = self.synced()
        self.edit(store, firstName="Bob", lastName="Hill")
        self.theirs(firstName="Jim", lastName="Moore")
        store.sync()
        first, last = store.conflicts()
        self.assertTrue(first.take_theirs())
        self.edit(store, firstName="Tom")
        before = self.queue(store)
        self.assertIsNone(first.take_theirs())
        self.assertIsNone(first.take_mine())
        self.assertEqual((self.queue(store), [one.name for one in store.conflicts()]), (before, [last.name]))


class UnsentEntryTests(InertTests):
    def test_an_entry_whose_edit_cancelled_itself_is_inert(self) -> None:
        store = self.synced()
        self.edit(store, firstName="Bob")
        (entry,) = store.unsent()
        self.edit(store, firstName="Joe")
        ticket = self.edit(store, firstName="Tom")
        self.assertFalse(entry.discard())
        self.assertEqual(len(store.unsent()), 1)
        self.assertTrue(ticket.is_open)

    def test_an_entry_does_not_discard_a_later_edit_that_has_joined_its_push(self) -> None:
        store = self.synced()
        self.edit(store, firstName="Bob")
        (entry,) = store.unsent()
        self.edit(store, lastName="Hill")
        self.edit(store, firstName="Joe")
        (later,) = store.unsent()
        self.assertEqual(later.name, entry.name)
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            entry.discard()
        self.assertEqual(caught.exception.code, "changed")
        self.assertEqual(self.queue(store), [[{"customer": {"lastName": {"old": "Shaw", "new": "Hill"}}}]])
        self.assertTrue(later.discard())
        self.assertEqual(self.queue(store), [])

    def test_of_two_entries_of_one_record_one_is_inert_and_the_other_acts(self) -> None:
        store = self.synced()
        self.edit(store, firstName="Bob")
        with store.transaction() as t:
            t.edit("shoppers", 123).customer.lastName = "Hill"
            t.edit("shoppers", 124).customer.lastName = "Hill"
        first, second = store.unsent()
        self.assertTrue(first.discard())
        self.assertFalse(first.discard())
        self.assertTrue(second.discard())
        self.assertEqual(self.queue(store), [])

    def test_an_entry_of_an_edit_that_names_a_new_row_follows_its_id(self) -> None:
        store = self.synced()
        with store.create("aisles") as aisle:
            aisle.aisle.name = "Oils"
        with store.edit("shoppers", 123) as s:
            s.groceries[0].aisle = aisle.id
        entry = store.unsent()[1]
        store._synchronizer._is_single = True
        original = store._model.freeze
        calls: list[int] = []

        def once(**named: Any) -> Any:
            calls.append(1)
            return original(**named) if len(calls) == 1 else []

        store._model.freeze = once
        store.sync()
        self.assertEqual([push.name for push in store.unsent()], [entry.name])
        self.assertTrue(entry.discard())


class RefusedEntryTests(InertTests):
    def refused(self, store: fieldmerge.Store, **values: str) -> Any:
        self.edit(store, **values)
        for _ in range(2):
            self.server.error(400, "invalid")
        store.sync()
        return store.refused_edits()[-1]

    def assertRefusedInert(self, store: fieldmerge.Store, entry: Any) -> None:
        before = self.queue(store), [one.name for one in store.refused_edits()]
        self.assertFalse(entry.resend())
        self.assertFalse(entry.resend(without=["customer.firstName"]))
        self.assertFalse(entry.discard())
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            entry.restore()
        self.assertEqual(caught.exception.code, "not-refused")
        self.assertEqual((self.queue(store), [one.name for one in store.refused_edits()]), before)

    def test_an_entry_whose_edit_was_sent_again_and_cancelled_itself_is_inert(self) -> None:
        store = self.synced()
        entry = self.refused(store, firstName="Bob")
        self.assertTrue(entry.resend())
        self.edit(store, firstName="Joe")
        self.assertEqual(self.queue(store), [])
        self.edit(store, firstName="Tom")
        self.assertRefusedInert(store, entry)

    def test_an_entry_that_was_discarded_is_inert_beside_another_one_of_its_record(self) -> None:
        store = self.synced()
        first, last = self.refused(store, firstName="Bob"), self.refused(store, lastName="Hill")
        self.assertTrue(first.discard())
        self.assertRefusedInert(store, first)
        self.assertTrue(last.resend())
        self.assertRefusedInert(store, last)
        self.assertEqual(self.queue(store), [[{"customer": {"lastName": {"old": "Shaw", "new": "Hill"}}}]])

    def test_an_entry_that_is_refused_again_is_another_one(self) -> None:
        store = self.synced()
        entry = self.refused(store, firstName="Bob")
        self.assertTrue(entry.resend())
        for _ in range(2):
            self.server.error(400, "invalid")
        store.sync()
        (again,) = store.refused_edits()
        self.assertNotEqual(again.name, entry.name)
        self.assertRefusedInert(store, entry)


if __name__ == "__main__":
    unittest.main()
