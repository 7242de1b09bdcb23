"""Syncs over a network that fails: waits, tokens, refusals, snapshots that break off, and clocks."""

from __future__ import annotations

import copy
import email.utils
import json
import threading
import unittest
from typing import Any

from store_case import MODEL, RULES, StoreCase, gateway

import fieldmerge
from fieldmerge.testing import ManualClock, ScriptedServer, memory_store
from fieldmerge.testing.scripted import Reply


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
        self.server.records["shoppers", "123"]["customer"]["lastName"] = "Silent"  # no change reports it
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
            store._model.note(snapshot=None)  # another history: the next snapshot starts again
        with store.edit("shoppers", 123) as s:
            s.customer.points += 1
        self.server.no_network()
        store.sync()
        push = json.loads(self.server.requests[-1].body or b"")["pushes"][0]
        self.assertEqual(push["feed"], "feed-a")


if __name__ == "__main__":
    unittest.main()
