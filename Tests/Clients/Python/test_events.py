"""Events, and records that are observed."""

from __future__ import annotations

import json
import unittest
from typing import Any

from store_case import MODEL, StoreCase

import fieldmerge
from fieldmerge.testing.scripted import Reply


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

    def overtaken_sum(self) -> tuple[Any, list[Any]]:
        """Returns a store whose edit adds one to five points while another client has set ten, and the events."""
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
        return store, told

    def test_a_sum_is_taken_back_once(self) -> None:
        store, told = self.overtaken_sum()
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 11)
        self.assertTrue(told[0].take_theirs())
        self.assertFalse(told[0].take_theirs())
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["points"], 10)

    def test_a_sum_that_was_never_sent_is_not_taken_back(self) -> None:
        store, told = self.overtaken_sum()
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
        self.server.reply(Reply.of({"results": [], "changes": None}, 207))  # neither push has a result
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


if __name__ == "__main__":
    unittest.main()
