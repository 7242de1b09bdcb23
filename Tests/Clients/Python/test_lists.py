"""Lists, forms and events beyond the shared cases: several processes, many entries, and `asyncio`."""

from __future__ import annotations

import asyncio
import json
import logging
import unittest
from typing import Any

from store_case import StoreCase

import fieldmerge
from fieldmerge.model import conflicts as entries
from fieldmerge.testing.scripted import Reply


class ListCase(StoreCase):
    def conflict(self, store: fieldmerge.Store, mine: str = "Bob", theirs: str = "Jim") -> Any:
        """Causes a conflict of two edits in the first name of shopper 123."""
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = mine
        self.theirs(firstName=theirs)
        store.sync()
        return s.ticket


class ConflictListTests(ListCase):
    def test_a_second_decision_does_nothing_also_of_another_process(self) -> None:
        one, other = self.synced(self.file()), self.synced(self.file())
        ticket = self.conflict(one)
        (mine,), (same,) = one.conflicts(), other.conflicts()
        self.assertEqual((mine.kind, mine.name, mine.written), ("conflict", same.name, "Bob"))
        self.assertIsNotNone(mine.take_theirs())
        self.assertIsNone(same.take_theirs())
        self.assertIsNone(mine.take_mine())
        self.assertIsNone(ticket.outcome(0).conflicts[0].take_mine())
        mine.dismiss()
        self.assertEqual((one.conflicts(), one.status.unsent), ([], 1))
        self.assertTrue(one.sync().ok)
        self.assertEqual(self.name(), "Jim")

    def test_a_decision_that_cannot_be_stored_leaves_the_entry(self) -> None:
        store = self.synced()
        self.conflict(store)
        self.server.put("shoppers", 123, None)
        store.sync()
        (entry,) = store.conflicts()
        with self.assertRaises(fieldmerge.RecordNotFound):
            entry.take_mine()
        self.assertEqual(len(store.conflicts()), 1)

    def test_one_of_two_processes_delivers_an_event(self) -> None:
        one, other = self.synced(self.file()), self.synced(self.file())
        told: list[str] = []

        def handle(conflict: Any) -> None:
            told.append(conflict.name)
            other.on_conflict(lambda conflict: told.append("other"))  # while the first one is at it
            other._deliver()

        one.on_conflict(handle)
        self.conflict(one)
        self.assertEqual(len(told), 1)
        other.on_conflict(lambda conflict: told.append("other"))
        self.assertEqual(len(told), 1)

    def test_an_event_whose_handler_throws_comes_again_with_the_next_start_and_holds_up_no_other(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        store = self.synced(self.file())
        told: list[Any] = []

        def fail(conflict: Any) -> None:
            told.append(conflict.new)
            if conflict.new == "Bob":
                raise RuntimeError("a mistake of the app")

        store.on_conflict(fail)
        self.conflict(store)
        self.conflict(store, "Tom", "Tim")
        self.assertEqual(told, ["Bob", "Tom"])
        store.close()
        again: list[Any] = []
        self.open(self.file()).on_conflict(lambda conflict: again.append(conflict.new))
        self.assertEqual(again, ["Bob"])

    def test_the_newest_delivered_entries_stay(self) -> None:
        kept, entries.ENTRIES_KEPT = entries.ENTRIES_KEPT, 3
        self.addCleanup(setattr, entries, "ENTRIES_KEPT", kept)
        store = self.synced()
        for number in range(5):
            self.conflict(store, f"Bob {number}", f"Jim {number}")
        self.assertEqual(len(store.conflicts()), 5, "none was delivered yet")
        store.on_conflict(lambda conflict: None)
        self.assertEqual([entry.new for entry in store.conflicts()], ["Bob 2", "Bob 3", "Bob 4"])

    def test_an_overtaken_edit_is_updated_and_leaves_with_its_edit(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_overtaken(lambda event: told.append((event.name, event.current)))
        for decide in ("keep_mine", "take_theirs", "take_mine", "cancel", "discard"):
            with self.subTest(decide=decide):
                told.clear()
                self.theirs(firstName="Joe")
                store.sync()
                with store.edit("shoppers", 123) as s:
                    s.customer.firstName = "Bob"
                for name in ("Jim", "Tim"):
                    self.theirs(firstName=name)
                    self.pull(store)
                (entry,) = store.conflicts()
                self.assertEqual(told, [(entry.name, "Jim"), (entry.name, "Tim")])
                self.assertEqual((entry.kind, entry.current), ("overtaken", "Tim"))
                if decide == "cancel":
                    self.theirs(firstName="Joe")
                    self.pull(store)  # an edit back to the first value cancels itself only above that value
                    with store.edit("shoppers", 123) as s:
                        s.customer.firstName = "Joe"
                elif decide == "discard":
                    store.unsent()[0].discard()
                else:
                    getattr(entry, decide)()
                self.assertEqual(store.conflicts(), [])
                self.assertFalse(entry.keep_mine() and decide not in ("cancel", "discard"))
                store.sync()
                self.assertEqual(store.conflicts(), [])


class UnsentListTests(ListCase):
    def test_a_chain_of_edits_from_which_the_middle_is_discarded(self) -> None:
        store = self.synced()
        for status in ("open", "closed"):  # each step counts, so none joins
            with store.edit("shoppers", 123) as s:
                s.customer.status = status
            with store.edit("shoppers", 124) as s:
                s.customer.firstName = status
        waiting = store.unsent()
        self.assertEqual([entry.edits[0].changeset for entry in waiting][0], {
            "customer": {"status": {"old": "new", "new": "open"}}
        })  # fmt: skip
        self.assertTrue(waiting[0].discard())
        self.assertFalse(waiting[0].discard())
        (left,) = [entry for entry in store.unsent() if entry.id == 123]
        self.assertEqual(left.edits[0].changeset, {"customer": {"status": {"old": "new", "new": "closed"}}})
        self.assertEqual(store.record("shoppers", 123).customer.status, "closed")

    def test_what_a_discarded_edit_has_added_is_in_no_later_edit(self) -> None:
        store = self.synced()
        for points, tag in ((2, "a"), (5, "b"), (3, "c")):
            with store.transaction() as t:
                t.edit("shoppers", 123).customer.points += points
                t.edit("shoppers", 123).customer.tags.append(tag)
            with store.transaction() as t:  # so that the next one does not join
                t.edit("shoppers", 123).customer.status = dict(a="open", b="closed", c="new")[tag]
                t.edit("shoppers", 124).customer.firstName = tag
        waiting = [one for one in store.unsent() if "points" in one.edits[0].changeset["customer"]]
        self.assertEqual(len(waiting), 3)
        waiting[0].discard()
        waiting = [one for one in store.unsent() if "points" in one.edits[0].changeset["customer"]]
        changes = [one.edits[0].changeset["customer"]["points"] for one in waiting]
        self.assertEqual(changes, [{"old": 5, "new": 10}, {"old": 10, "new": 13}])
        customer = store.record("shoppers", 123).customer
        self.assertEqual((customer.points, customer.tags), (13, ["b", "c"]))

    def test_what_uses_a_discarded_row_goes_with_it_and_the_rest_stays(self) -> None:
        store = self.synced()
        with store.create("orders", "A1") as order:
            order.order.note = "First"
        with store.edit("shoppers", 124) as other:
            other.customer.firstName = "Eve"
        with store.transaction() as t:
            t.edit("orders", "A1").order.note = "Second"
            t.edit("shoppers", 123).customer.firstName = "Bob"
        with store.edit("shoppers", 123) as after:
            after.customer.lastName = "Moore"
        store.unsent()[0].discard()
        self.assertEqual([ticket.outcome(0).status for ticket in (order.ticket, t.ticket)], ["discarded"] * 2)
        self.assertIsNone(store.record("orders", "A1"))
        self.assertTrue(store.sync().ok)
        self.assertEqual(other.ticket.outcome(0).status, "merged")
        self.assertEqual(self.name(), "Joe")

    def test_nothing_that_was_sent_from_memory_is_discarded(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        store._model._keep_unstored(store._model._batch(is_single=False, budget=1 << 20, refuses=False))
        (entry,) = store.unsent()
        self.assertEqual(entry.state, "sending")
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            entry.discard()
        self.assertEqual(caught.exception.code, "sending")


class RefusedListTests(ListCase):
    def refuse(self, code: str = "check") -> None:
        def answer(request: Any) -> Reply:
            pushes = json.loads(request.body)["pushes"]
            problem = {"code": code, "title": code, "status": 422, "retry": False}
            results = [{"key": one["key"], "status": "failed", "code": 422, "results": [], "problem": problem}
                       for one in pushes]  # fmt: skip
            return Reply.of({"results": results, "changes": [], "feed": "feed-1", "revision": 1, "more": False}, 207)

        self.server._script.append(answer)

    def test_a_creation_is_sent_again_without_a_field_which_stays_refused_as_an_edit(self) -> None:
        store = self.synced()
        with store.create("shoppers") as new:
            new.customer.firstName = "Kim"
            new.customer.lastName = "Vale"
            new.groceries.append({"name": "Rice"})
        self.refuse()
        store.sync()
        (entry,) = store.refused_edits()
        with self.assertRaises(fieldmerge.NotPossible):
            entry.resend(without=["customer", "groceries"])
        self.assertTrue(entry.resend(without=["customer.lastName"]))
        store.sync()
        self.assertEqual(new.ticket.outcome(0).status, "merged")
        (left,) = store.refused_edits()
        self.assertEqual(left.edits[0].changeset, {"customer": {"lastName": {"old": None, "new": "Vale"}}})
        self.assertTrue(left.resend())
        store.sync()
        record = self.server.get("shoppers", new.ticket.id)
        self.assertEqual((record["customer"]["firstName"], record["customer"]["lastName"]), ("Kim", "Vale"))
        self.assertEqual(store.refused_edits(), [])

    def test_an_entry_of_several_records_cannot_be_restored(self) -> None:
        store = self.synced()
        with store.transaction() as t:
            t.edit("shoppers", 123).customer.firstName = "Bob"
            t.edit("shoppers", 124).customer.firstName = "Eve"
        self.refuse()
        store.sync()
        (entry,) = store.refused_edits()
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            entry.restore()
        self.assertEqual(caught.exception.code, "several-records")
        self.assertTrue(entry.resend())

    def test_a_form_of_an_edit_that_a_second_process_has_sent_again_cannot_be_saved(self) -> None:
        one, other = self.synced(self.file()), self.synced(self.file())
        with one.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.refuse()
        one.sync()
        form = one.refused_edits()[0].restore()
        self.assertTrue(other.refused_edits()[0].resend())
        form.record.customer.lastName = "Moore"
        with self.assertRaises(fieldmerge.NotPossible) as caught:
            form.save()
        self.assertEqual((caught.exception.code, form.record.customer.lastName), ("not-refused", "Moore"))
        self.assertTrue(one.sync().ok)
        self.assertEqual(self.name(), "Bob")


class FormTests(ListCase):
    def test_two_forms_of_one_record(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_overtaken(lambda event: told.append((event.draft, event.current)))
        one, other = store.draft("shoppers", 123), store.draft("shoppers", 123)
        one.record.customer.firstName = "Bob"
        other.record.customer.firstName = "Tom"
        one.save()
        self.assertEqual(told, [(other, "Bob")])
        other.save()
        self.assertEqual(len(store.unsent()), 2)
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Tom")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.name(), "Tom")

    def test_a_form_of_a_record_that_is_gone(self) -> None:
        store = self.synced()
        form = store.draft("shoppers", 123)
        form.record.customer.firstName = "Bob"
        self.server.put("shoppers", 123, None)
        store.sync()
        with self.assertRaises(fieldmerge.RecordNotFound):
            form.save()
        self.assertEqual(form.record.customer.firstName, "Bob")
        with self.assertRaises(fieldmerge.RecordNotFound):
            store.draft("shoppers", 123)

    def test_a_form_of_items_and_a_singleton(self) -> None:
        store = self.synced()
        with store.draft("shoppers", 123) as form:
            form.record.groceries[0].quantity = "2 tins"
            form.record.groceries.append({"name": "Rice"})
            form.record.card.number = "1"
            form.save()
            del form.record.groceries[1]
            form.save()
        self.assertTrue(store.sync().ok)
        held = self.server.get("shoppers", 123)
        self.assertEqual([item["name"] for item in held["groceries"]], ["Beans", "Rice"])
        self.assertEqual(held["card"]["number"], "1")


class AsyncTests(ListCase):
    def test_lists_and_forms(self) -> None:
        asyncio.run(self.use())

    async def use(self) -> None:
        store = await fieldmerge.aio.open(
            self.file(), server="http://server.test", user="test", transport=self.server, clock=self.clock
        )
        await store.sync()
        async with await store.draft("shoppers", 123) as form:
            form.record.customer.firstName = "Bob"
            ticket = await form.save()
        (entry,) = await store.unsent()
        self.assertEqual((entry.state, entry.id), ("draft", 123))
        self.theirs(firstName="Jim")
        waiting = asyncio.create_task(ticket.outcome(10))
        await store.sync()
        self.assertEqual((await waiting).status, "merged")
        (conflict,) = await store.conflicts()
        async for event in store.conflicts():
            self.assertEqual(event.name, conflict.name)
            break
        async for event in store.conflicts():  # the loop ended before it was handled
            self.assertEqual((event.name, event.written), (conflict.name, "Bob"))
            self.assertIsNotNone((await event.take_theirs()).token)
            break
        self.assertEqual(await store.conflicts(), [])
        (entry,) = await store.unsent()
        self.assertTrue(await entry.discard())
        with self.assertRaises(fieldmerge.UnknownName):
            store.observe("shopers")
        with self.assertRaises(TimeoutError):
            async with store.edit("shoppers", 124) as s:
                s.customer.firstName = "Eve"
            await s.ticket.outcome(0.01)
        await store.close()


if __name__ == "__main__":
    unittest.main()
