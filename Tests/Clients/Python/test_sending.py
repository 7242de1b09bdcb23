"""Which pushes are sent, in which order and in which request, over a network that may be slow."""

from __future__ import annotations

import copy
import json
import threading
import time
import unittest
from typing import Any

from test_shapes import other_rules
from store_case import RULES, StoreCase

from fieldmerge.model.order import Ties
from fieldmerge.model.parts import StoredEdit
from fieldmerge.rules import Rules
from fieldmerge.testing import MemoryGateway
from fieldmerge.testing.scripted import Held, Reply
from fieldmerge.transport import Request

PHOTO = "x" * 300_000
PLAIN: Any = copy.deepcopy(RULES)
PLAIN["limits"]["body"] = 8_000_000


def is_large(request: Request) -> bool:
    return len(request.body or b"") > 200_000


class OrderTests(unittest.TestCase):
    """Pushes that share a record, a temporary id or a reference keep their order."""

    rules = Rules.parse(json.dumps(RULES))

    def ties(self, resource: str, key: Any, *changes: dict[str, Any]) -> Ties:
        edit = StoredEdit(1, 0, 0, resource, str(key), key, list(changes))
        return Ties.of([edit], lambda name: self.rules.resources.get(name))

    def name(self, resource: str, key: Any) -> Ties:
        section = {"shoppers": "customer", "aisles": "aisle", "orders": "order"}[resource]
        groups = {"name": {"old": {"name": "a"}, "new": {"name": "b"}}}
        return self.ties(resource, key, {"section": section, "do": "edit", "groups": groups})

    def aisle(self, old: Any, new: Any) -> Ties:
        groups = {"aisle": {"old": {"aisle": old}, "new": {"aisle": new}}}
        return self.ties("shoppers", 1, {"section": "groceries", "id": 7, "do": "edit", "groups": groups})

    def test_what_shares_nothing(self) -> None:
        self.assertFalse(self.name("shoppers", 1).shares(self.name("shoppers", 2)))
        self.assertFalse(self.name("shoppers", 5).shares(self.name("aisles", 5)))
        self.assertFalse(self.aisle(None, 5).shares(self.name("aisles", 5)), "neither creates nor deletes it")

    def test_what_shares_a_record_or_a_temporary_id(self) -> None:
        self.assertTrue(self.name("shoppers", 1).shares(self.aisle(None, 5)))
        create = self.ties("aisles", "tmp:a", {"section": "aisle", "do": "create", "new": {"name": "Oils"}})
        self.assertTrue(create.shares(self.aisle(None, "tmp:a")))
        self.assertTrue(self.aisle("tmp:a", None).shares(create))

    def test_what_shares_a_reference(self) -> None:
        create = self.ties("orders", "A1", {"section": "order", "do": "create", "new": {"customer": 2}})
        delete = self.ties("shoppers", 2, {"section": "customer", "do": "delete", "old": {"firstName": "Joe"}})
        self.assertTrue(create.shares(delete))
        self.assertTrue(delete.shares(create))
        aisle = self.ties("aisles", 5, {"section": "aisle", "do": "delete", "old": {"name": "Oils"}})
        for old, new in ((5, None), (None, "5"), (5, 6)):
            self.assertTrue(aisle.shares(self.aisle(old, new)))
        self.assertFalse(aisle.shares(self.aisle(4, 6)))


class StaleTests(StoreCase):
    def test_only_what_edits_a_resource_of_another_shape_waits(self) -> None:
        store = self.synced()
        self.server.change_rules(other_rules("r2", adds="country"))
        broken = Reply(500, b"")
        self.server._handler = lambda request: (
            broken if request.path.startswith("/v1/snapshot") else self.server._serve(request)
        )
        with store.edit("shoppers", 123) as stale:
            stale.customer.street = "2 Low St"
        with store.create("orders", "A1") as order:
            order.order.note = "Late"
        with store.edit("aisles", 5) as aisle:
            aisle.aisle.name = "Oils"
        store.sync()
        self.clock.advance(400)
        store.sync()
        self.assertEqual(store._model.stale(), ["shoppers"])
        self.assertEqual((order.ticket.outcome(0).status, aisle.ticket.outcome(0).status), ("merged", "merged"))
        self.assertTrue(stale.ticket.is_open)
        with store.edit("shoppers", 124) as behind:
            behind.customer.firstName = "Eve"
        with store.edit("aisles", 5) as later:
            later.aisle.name = "Fats"
        store.sync()
        self.assertTrue(behind.ticket.is_open)
        self.assertEqual(later.ticket.outcome(0).status, "merged")
        for (resource, _), record in self.server.records.items():
            if resource == "shoppers":
                record["customer"]["country"] = "GB"
        self.server._handler = self.server._serve
        self.assertTrue(store.sync().ok)
        self.assertEqual(stale.ticket.outcome(0).status, "merged")
        self.assertEqual(store.records("shoppers")[0], self.server.get("shoppers", 123))
        self.assertEqual(len(self.server.runs), len(set(self.server.runs)))


class LaneCase(StoreCase):
    """A server that delays the requests of large pushes."""

    def setUp(self) -> None:
        super().setUp()
        records: dict[str, list[Any]] = {}
        for (resource, _), record in self.server.records.items():
            records.setdefault(resource, []).append(record)
        self.server = MemoryGateway(PLAIN, records, clock=self.clock)
        self.server.hold(is_large)
        self.reports: list[Any] = []

    def photo(self, store: Any, record_id: int = 123) -> Any:
        with store.edit("shoppers", record_id) as s:
            s.customer.street = PHOTO
        return s.ticket

    def edit(self, store: Any, record_id: int, name: str) -> Any:
        with store.edit("shoppers", record_id) as s:
            s.customer.lastName = name
        return s.ticket

    def syncing(self, store: Any, **named: Any) -> threading.Thread:
        thread = threading.Thread(target=lambda: self.reports.append(store.sync(**named)))
        thread.start()
        return thread

    def wait_for(self, condition: Any) -> None:
        end = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), end, "it does not come")
            time.sleep(0.005)

    def serve(self, held: Held) -> None:
        held.reply(self.server._handled(held.request))


class LaneTests(LaneCase):
    def test_small_pushes_are_sent_first_and_beside_a_large_one(self) -> None:
        store = self.synced()
        large = self.photo(store)
        small = self.edit(store, 124, "Hill")
        thread = self.syncing(store)
        held = self.server.next_held()
        self.assertEqual(small.outcome(10).status, "merged")
        self.assertNotIn("since", held.json)
        self.assertNotIn("feed", held.json)
        self.assertEqual(store.status.phase, "pushing")
        self.server.put("aisles", 5, {"id": 5, "aisle": {"name": "Oils"}})
        other = self.edit(store, 124, "Moore")
        self.assertEqual(other.outcome(10).status, "merged")
        self.wait_for(lambda: store.record("aisles", 5).aisle.name == "Oils")
        self.assertTrue(large.is_open)
        self.assertEqual(store.state("shoppers", 123, "customer", "address"), "sending")
        self.serve(held)
        thread.join(10)
        self.assertEqual(large.outcome(0).status, "merged")
        self.assertTrue(self.reports[0].ok, self.reports[0])
        self.assertEqual(self.reports[0].merged, 3)
        self.assertEqual(store.status.phase, "idle")
        self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))

    def test_what_shares_something_waits_behind_a_large_push_and_one_large_push_is_under_way(self) -> None:
        store = self.synced()
        tickets = [self.photo(store), self.photo(store, 124)]
        thread = self.syncing(store)
        held = self.server.next_held()
        behind = self.edit(store, 123, "Hill")
        with store.create("aisles") as aisle:
            aisle.aisle.name = "Oils"
        self.assertEqual(aisle.ticket.outcome(10).status, "merged")
        self.assertTrue(behind.is_open)
        self.assertTrue(self.server._held.empty())
        self.serve(held)
        second = self.server.next_held()
        self.assertEqual(tickets[0].outcome(0).status, "merged")
        self.assertEqual(behind.outcome(10).status, "merged")
        self.serve(second)
        thread.join(10)
        self.assertTrue(self.reports[0].ok, self.reports[0])
        self.assertEqual([ticket.outcome(0).status for ticket in tickets], ["merged"] * 2)
        self.assertEqual(len(self.server.runs), len(set(self.server.runs)))

    def test_a_large_push_is_repeated_byte_for_byte_and_a_small_edit_does_not_wait_for_it(self) -> None:
        store = self.synced()
        large = self.photo(store)
        thread = self.syncing(store)
        first = self.server.next_held()
        first.break_off()
        thread.join(10)
        self.assertEqual((store.status.phase, store.status.unsent), ("waiting", 1))
        self.assertEqual(self.reports[0].phase, "waiting")
        small = self.edit(store, 124, "Hill")
        thread = self.syncing(store)  # sync() ends the wait
        second = self.server.next_held()
        self.assertEqual(small.outcome(10).status, "merged")
        self.assertEqual(second.json["pushes"], first.json["pushes"])
        self.server._handled(second.request)
        second.break_off()
        thread.join(10)
        self.assertTrue(large.is_open, "it was merged, and its answer was lost")
        thread = self.syncing(store)
        self.serve(self.server.next_held())
        thread.join(10)
        self.assertEqual(large.outcome(0).status, "merged")
        self.assertEqual(len(self.server.runs), len(set(self.server.runs)))

    def test_a_large_push_whose_key_another_body_has_used_is_refused_after_it_was_sent_without_its_time(self) -> None:
        store = self.synced()
        ticket = self.photo(store)
        lane = store._synchronizer.lane
        sent = []
        for _ in range(2):
            store._synchronizer.run("lane", waits=False)
            held = self.server.next_held()
            (push,) = held.json["pushes"]
            sent.append(push)
            problem = {"code": "key-reused", "title": "key-reused", "status": 422, "retry": False}
            result = {"key": push["key"], "status": "failed", "code": 422, "results": [], "problem": problem}
            held.answer({"results": [result]})
            self.wait_for(lambda: not lane.is_busy)
            self.clock.advance(400)
        self.assertEqual({**sent[1], "sent": sent[0]["sent"]}, sent[0])
        self.assertNotIn("sent", sent[1])
        self.assertTrue(lane.take_news())
        self.assertEqual(ticket.outcome(0).problem["code"], "outcome-unknown")
        self.assertTrue(store.sync().ok)
        self.assertEqual((store.status.unsent, store.status.refused), (0, 1))

    def test_a_started_store_repeats_a_large_push_after_its_own_wait_and_an_edit_does_not_end_that(self) -> None:
        store = self.synced().start()
        large = self.photo(store)
        self.server.next_held().break_off()
        self.wait_for(lambda: store.status.next_try is not None)
        small = self.edit(store, 124, "Hill")
        self.assertEqual(small.outcome(10).status, "merged")
        self.assertTrue(self.server._held.empty())
        self.clock.advance(2)
        self.serve(self.server.next_held())
        self.assertEqual(large.outcome(10).status, "merged")
        self.wait_for(lambda: store.status.phase == "idle")

    def test_an_answer_that_is_older_than_a_page_takes_no_newer_record_back(self) -> None:
        store = self.synced()
        large = self.photo(store)
        thread = self.syncing(store)
        held = self.server.next_held()
        late = self.server._handled(held.request)
        record = self.server.get("shoppers", 123)
        record["customer"]["firstName"] = "Newer"
        self.server.put("shoppers", 123, record)
        self.edit(store, 124, "Hill")  # with its answer comes the page
        self.wait_for(lambda: store.record("shoppers", 123).customer.firstName == "Newer")
        held.reply(late)
        thread.join(10)
        self.assertEqual(large.outcome(0).status, "merged")
        self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))

    def is_large_or_pull(self, request: Request) -> bool:
        return is_large(request) or request.path.startswith("/v1/changes")

    def rename(self, name: str) -> None:
        record = self.server.get("shoppers", 123)
        record["customer"]["firstName"] = name
        self.server.put("shoppers", 123, record)

    def seen(self, store: Any) -> tuple[str, bool]:
        customer = store.record("shoppers", 123).customer
        return customer.firstName, customer.street == PHOTO

    def test_a_merged_large_push_stays_visible_until_the_next_page(self) -> None:
        """The page that came meanwhile was made before the push was merged."""
        store = self.synced()
        large = self.photo(store)
        thread = self.syncing(store)
        held = self.server.next_held()
        self.rename("Newer")
        small = self.edit(store, 124, "Hill")
        self.assertEqual(small.outcome(10).status, "merged")  # no small push is left that could bring a page
        self.wait_for(lambda: self.seen(store)[0] == "Newer")
        self.server.hold(self.is_large_or_pull)
        self.serve(held)
        self.assertEqual(large.outcome(10).status, "merged")
        self.assertEqual(self.seen(store), ("Newer", True))
        self.serve(self.server.next_held())
        thread.join(10)
        self.assertEqual(store._model.kept_above(), [])
        self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))

    def test_a_page_that_was_made_before_a_large_push_does_not_hide_it(self) -> None:
        """The page is stored after the answer."""
        store = self.synced()
        large = self.photo(store)
        thread = self.syncing(store)
        held = self.server.next_held()
        self.rename("Newer")
        self.server.hold(self.is_large_or_pull)
        store._synchronizer.note()
        pull = self.server.next_held()
        page = self.server._handled(pull.request)
        self.serve(held)
        self.assertEqual(large.outcome(10).status, "merged")
        self.assertEqual(self.seen(store), ("Newer", True))
        pull.reply(page)
        second = self.server.next_held()
        self.assertEqual(self.seen(store), ("Newer", True))
        self.serve(second)
        thread.join(10)
        self.assertEqual(store._model.kept_above(), [])
        self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))

    def test_a_large_push_is_built_again_under_other_rules(self) -> None:
        store = self.synced()
        large = self.photo(store)
        thread = self.syncing(store)
        held = self.server.next_held()
        rules = copy.deepcopy(PLAIN)
        rules["version"] = "r2"
        self.server.change_rules(rules)
        self.serve(held)
        second = self.server.next_held()
        self.assertNotEqual(second.json["pushes"][0]["key"], held.json["pushes"][0]["key"])
        self.serve(second)
        thread.join(10)
        self.assertEqual(large.outcome(0).status, "merged")
        self.assertTrue(self.reports[0].ok)

    def test_a_large_push_that_is_answered_alike_twice_waits(self) -> None:
        for code in ("rules-changed", "history-changed"):
            with self.subTest(code=code):
                store = self.synced()
                large = self.photo(store)
                thread = self.syncing(store)
                for _ in range(2):
                    held = self.server.next_held()
                    problem = {"code": code, "title": code, "status": 409, "retry": False}
                    result = {"status": "failed", "code": 409, "results": [], "problem": problem}
                    held.answer({"results": [{"key": held.json["pushes"][0]["key"], **result}]}, 207)
                thread.join(10)
                self.assertFalse(thread.is_alive())
                self.assertEqual((store.status.phase, store.status.unsent), ("waiting", 1))
                self.assertTrue(self.server._held.empty())
                thread = self.syncing(store)
                self.serve(self.server.next_held())
                thread.join(10)
                self.assertEqual(large.outcome(0).status, "merged")
                self.tearDown()
                self.setUp()

    def test_an_answer_to_earlier_bytes_of_a_push_that_was_built_again_counts_no_more(self) -> None:
        store = self.synced()
        self.photo(store)
        (push,) = store._model.freeze_large()
        answer = json.loads(self.server._handled(Request("POST", "/v1/sync", {}, b'{"pushes":[' + push.body + b"]}")).body)
        store._model.thaw(push)
        store._model.settle(push, answer["results"][0]["results"])
        self.assertEqual(store.status.unsent, 1)

    def test_a_large_push_that_the_gateway_does_not_take_is_refused_and_the_next_goes(self) -> None:
        store = self.synced()
        large, other = self.photo(store), self.photo(store, 124)
        thread = self.syncing(store)
        self.server.next_held().reply(Reply(413, b"<html>"))
        self.serve(self.server.next_held())
        thread.join(10)
        self.assertEqual((large.outcome(0).status, other.outcome(0).status), ("refused", "merged"))
        self.assertEqual(self.reports[0].refused, 1)

    def test_a_token_that_is_refused_for_a_large_push_is_asked_for_again(self) -> None:
        tokens: list[str] = []

        def token() -> str:
            tokens.append("t")
            return "t"

        store = self.synced(token=token)
        large = self.photo(store)
        thread = self.syncing(store)
        self.server._script.append(lambda request: Reply.problem(401, "no-token"))
        self.server.next_held().reply(Reply.problem(401, "no-token"))
        self.serve(self.server.next_held())
        thread.join(10)
        self.assertEqual((large.outcome(0).status, len(tokens)), ("merged", 2))

    def test_close_and_a_deadline_break_a_large_push_off(self) -> None:
        store = self.synced(self.file())
        self.photo(store)
        thread = self.syncing(store, deadline=30)
        self.server.next_held()
        self.clock.advance(31)
        thread.join(10)
        self.assertEqual(self.reports[0].error, "out of time")
        self.wait_for(lambda: not store._synchronizer.lane.is_busy)
        store.start()
        self.server.next_held()
        began = time.monotonic()
        store.close()
        self.assertLess(time.monotonic() - began, 4)
        store = self.open(self.file())
        thread = self.syncing(store)
        held = self.server.next_held()
        while held._answered.is_set():  # a request that was broken off
            held = self.server.next_held()
        self.serve(held)
        thread.join(10)
        self.assertTrue(self.reports[1].ok)

    def test_a_sign_out_that_sends_waits_for_a_large_push(self) -> None:
        store = self.synced(self.file())
        large = self.photo(store)
        thread = threading.Thread(target=lambda: store.sign_out("send"))
        thread.start()
        self.serve(self.server.next_held())
        thread.join(10)
        self.assertEqual(large.outcome(0).status, "merged")
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], PHOTO)

    def test_a_large_push_that_is_killed_is_sent_by_the_next_process(self) -> None:
        store = self.synced(self.file())
        self.photo(store)
        thread = self.syncing(store)
        held = self.server.next_held()
        self.server._handled(held.request)
        store._database.close()
        held.break_off()
        thread.join(10)
        self.clock.advance(60)
        store = self.open(self.file())
        thread = self.syncing(store)
        again = self.server.next_held()
        self.assertEqual(again.json["pushes"], held.json["pushes"])
        self.serve(again)
        thread.join(10)
        self.assertTrue(self.reports[-1].ok)
        self.assertEqual(len(self.server.runs), 1)


class BatchTests(LaneCase):
    def setUp(self) -> None:
        super().setUp()
        self.server.hold(lambda request: False)
        for number in range(1_000, 1_060):
            self.server.records["shoppers", str(number)] = {**self.server.get("shoppers", 124), "id": number}

    def edits(self, store: Any, numbers: range) -> None:
        for number in numbers:
            with store.edit("shoppers", number) as s:
                s.customer.street = f"{number}" * 2_500  # about 10 kB

    def batches(self) -> list[int]:
        bodies = [json.loads(one.body or b"") for one in self.server.requests if one.path.startswith("/v1/sync")]
        return [len(body["pushes"]) for body in bodies]

    def test_batches_double_after_each_answer(self) -> None:
        store = self.synced()
        self.edits(store, range(1_000, 1_060))
        self.assertTrue(store.sync().ok)
        counts = self.batches()
        self.assertEqual(sum(counts), 60)
        self.assertLessEqual(counts[0], 6)
        self.assertGreater(counts[1], 1.5 * counts[0])
        self.assertGreater(counts[2], 1.5 * counts[1])

    def test_batches_halve_after_a_lost_answer_and_a_time_out_down_to_one_push(self) -> None:
        store = self.synced()
        self.edits(store, range(1_000, 1_010))
        for kind in ("none", "408", "none", "408", "none"):
            if kind == "none":
                self.server.no_network()
            else:
                self.server.reply(Reply(408, b""))
            store.sync()
            self.clock.advance(400)
        counts = self.batches()
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertEqual((counts[-1], store._synchronizer._batch_bytes), (1, 2_000))
        self.assertTrue(store.sync().ok)

    def test_bodies_are_packed(self) -> None:
        store = self.synced()
        self.edits(store, range(1_000, 1_001))
        store.sync()
        (first,) = [one for one in self.server.requests if one.path.startswith("/v1/sync")]
        self.assertEqual(first.headers["Content-Encoding"], "gzip")
        self.assertEqual(len(json.loads(first.body or b"")["pushes"]), 1)
        with store.edit("shoppers", 124) as s:
            s.customer.firstName = "Eve"
        store.sync()
        self.assertNotIn("Content-Encoding", self.server.requests[-1].headers)


if __name__ == "__main__":
    unittest.main()
