"""Exceptions of the store, of the app's functions and of pushes: no edit is lost or doubled, and the sync continues."""

from __future__ import annotations

import copy
import logging
import sqlite3
import threading
import time
import unittest
from typing import Any

from test_shapes import other_rules
from store_case import RULES, StoreCase, gateway

import fieldmerge
from fieldmerge.testing import ManualClock, MemoryGateway, ScriptedServer, memory_store
from fieldmerge.tokens import TokenSource


class Faults:
    """Has one step of the transactions fail, as a full disk would."""

    def __init__(self, store: fieldmerge.Store, at: int) -> None:
        self.steps: list[str] = []
        self.at = at
        self.has_failed = False
        store._database.on_step = self.step

    def step(self, name: str) -> None:
        if name.endswith(": committed"):
            self.steps.append(name)
            return
        if len([one for one in self.steps if not one.endswith(": committed")]) == self.at:
            self.at = -1
            self.has_failed = True
            raise sqlite3.OperationalError("disk I/O error")
        self.steps.append(name)


class StorageTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_an_exception_at_every_step(self) -> None:
        step, has_failed = 0, True
        while has_failed:
            with self.subTest(step=step):
                has_failed = self.story(step)
            step += 1
        self.assertGreater(step, 100)

    def story(self, step: int) -> bool:
        """Two edits, an answer, changes of other clients, and rules of another shape. One step fails."""
        clock = ManualClock()
        server = gateway(clock)
        store = memory_store(server, clock=clock)
        store._database._connection.execute("PRAGMA synchronous = OFF")
        store.on_conflict(lambda conflict: None)
        self.assertTrue(store.sync().ok)
        faults = Faults(store, step)
        tickets = [self.certain(faults, lambda: self.add_point(store))]
        self.sync(store)
        tickets.append(self.certain(faults, lambda: self.append(store)))
        tickets.append(self.certain(faults, lambda: self.add_point(store)))
        record = server.get("shoppers", 123)
        assert record is not None
        record["customer"]["points"] += 100
        server.put("shoppers", 123, record)
        self.sync(store)
        tickets.append(self.certain(faults, lambda: self.add_point(store)))
        for (resource, _), held in server.records.items():
            if resource == "shoppers":
                held["customer"]["country"] = "GB"
        server.change_rules(other_rules("r2", adds="country"))
        self.sync(store)
        faults.at = -1
        for _ in range(2):
            report = store.sync()
        self.assertTrue(report.ok, report)
        held = server.get("shoppers", 123)
        self.assertEqual(held["customer"]["points"], 5 + 3 + 100)
        self.assertEqual([item["name"] for item in held["groceries"]], ["Beans", "Tea", "Oil"])
        self.assertEqual(len(server.runs), len(set(server.runs)))
        self.assertEqual(store.record("shoppers", 123), held)
        self.assertEqual([ticket.outcome(0).status for ticket in tickets if ticket is not None], ["merged"] * 4)
        store.close()
        return faults.has_failed

    def sync(self, store: fieldmerge.Store) -> None:
        store.sync()
        self.assertIn(store.status.phase, ("idle", "waiting"))

    def certain(self, faults: Faults, edit: Any) -> Any:
        """Makes an edit, again if it failed: an edit that failed has left nothing."""
        count = faults.steps.count("edit: committed")
        try:
            return edit()
        except sqlite3.OperationalError:
            self.assertEqual(faults.steps.count("edit: committed"), count)
            return edit()

    def add_point(self, store: fieldmerge.Store) -> Any:
        with store.edit("shoppers", 123) as s:
            s.customer.points += 1
        return s.ticket

    def append(self, store: fieldmerge.Store) -> Any:
        with store.transaction() as t:
            aisle = t.create("aisles")
            aisle.aisle.name = "Oils"
            t.edit("shoppers", 123).groceries.append({"name": "Oil", "aisle": aisle.id})
        return t.ticket


class CallbackTests(StoreCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        super().setUp()

    def test_functions_of_the_app_that_throw_hold_up_nothing(self) -> None:
        def fail(value: Any) -> None:
            raise RuntimeError("a mistake of the app")

        store = self.synced()
        for register in (store.on_conflict, store.on_overtaken, store.on_refused, store.on_gone, store.on_status):
            register(fail)
        store.before_store(fail)
        store.observe("shoppers", fail)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.assertTrue(store.sync().ok)
        self.assertEqual(s.ticket.outcome(0).status, "merged")

    def test_a_repair_that_cannot_be_stored_holds_up_nothing(self) -> None:
        store = self.synced()
        store.before_store(lambda change: change.create("shoppers", 124))
        store.before_store(lambda change: change.delete("shoppers", 999))
        record = self.server.get("shoppers", 123)
        record["customer"]["firstName"] = "Jim"
        self.server.put("shoppers", 123, record)
        self.assertTrue(store.sync().ok)
        self.assertEqual(store.record("shoppers", 123).customer.firstName, "Jim")

    def test_an_end_of_the_thread_during_a_request_leaves_no_request_under_way(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"

        def interrupt(request: Any) -> Any:
            raise KeyboardInterrupt()

        self.server._script.append(interrupt)
        with self.assertRaises(KeyboardInterrupt):
            store.sync()
        self.assertEqual(store._synchronizer.state, "waiting")
        self.assertTrue(store.sync().ok)
        self.assertEqual(s.ticket.outcome(0).status, "merged")

    def test_a_push_that_cannot_be_built_is_refused_and_the_next_one_goes(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as bad:
            bad.customer.firstName = "Bob"
        with store.edit("shoppers", 124) as good:
            good.customer.firstName = "Eve"
        with store._database.transaction("an edit that is broken"):
            store._database.write(
                "UPDATE edit SET changes = replace(changes, '\"firstName\": {', '\"unheard\": {') WHERE key = '123'"
            )
        report = store.sync()
        self.assertEqual((report.refused, store.status.unsent), (1, 0))
        self.assertEqual(good.ticket.outcome(0).status, "merged")
        self.assertEqual(bad.ticket.outcome(0).status, "refused")
        (entry,) = store.refused_edits()
        self.assertEqual((entry.id, entry.problem["code"]), (123, "field-removed"))

    def test_names_that_are_names_of_the_language(self) -> None:
        rules = copy.deepcopy(RULES)
        names = ["__proto__", "constructor", "__class__", "_values", "unknown", "old", "new"]
        groups = rules["resources"][0]["sections"][0]["groups"]
        groups += [{"group": one, "fields": [{"field": one, "type": "text", "nullable": True}]} for one in names]
        self.server = MemoryGateway(rules, {"shoppers": [{
            "id": 1, "customer": {"firstName": "Joe", **dict.fromkeys(names)}, "groceries": [], "card": None
        }]}, clock=self.clock)  # fmt: skip
        store = self.synced()
        for name in names:
            with store.edit("shoppers", 1) as s:
                s.customer[name] = name
            self.assertTrue(store.sync().ok, store.refused_edits())
        held = self.server.get("shoppers", 1)["customer"]
        self.assertEqual([held[name] for name in names], names)
        self.assertEqual(store.record("shoppers", 1)["customer"]["__proto__"], "__proto__")


class TokenTests(unittest.TestCase):
    """Token functions that never return."""

    def setUp(self) -> None:
        self.clock = ManualClock()
        self.server = gateway(self.clock)
        self.never = threading.Event()
        self.addCleanup(self.never.set)
        self.calls: list[int] = []

    def token(self) -> str:
        self.calls.append(1)
        if len(self.calls) == 1:
            self.never.wait()
        return "t"

    def test_a_token_function_is_abandoned_after_thirty_seconds_and_called_again(self) -> None:
        store = memory_store(self.server, clock=self.clock, token=self.token)
        self.addCleanup(store.close)
        reports: list[Any] = []
        thread = threading.Thread(target=lambda: reports.append(store.sync()))
        thread.start()
        self.clock.advance(29)
        thread.join(0.2)
        self.assertTrue(thread.is_alive())
        for _ in range(200):
            self.clock.advance(1)
            thread.join(0.02)
            if not thread.is_alive():
                break
        self.assertEqual(reports[0].phase, "waiting")
        self.assertTrue(store.sync().ok)
        self.assertEqual(len(self.calls), 2)

    def test_a_deadline_holds_although_the_token_function_does_not_return(self) -> None:
        server = ScriptedServer(self.server._handled)
        store = fieldmerge.open(":memory:", server="http://server.test", user="test", transport=server, token=self.token)
        self.addCleanup(store.close)
        began = time.monotonic()
        report = store.sync(deadline=0.2)
        self.assertEqual(report.error, "out of time")
        self.assertLess(time.monotonic() - began, 5)

    def test_close_does_not_wait_for_a_token_function(self) -> None:
        server = ScriptedServer(self.server._handled)
        store = fieldmerge.open(":memory:", server="http://server.test", user="test", transport=server, token=self.token)
        store.start()
        while not self.calls:
            time.sleep(0.01)
        began = time.monotonic()
        store.close()
        self.assertLess(time.monotonic() - began, 4)
        self.assertEqual(store.status.phase, "closed")

    def test_close_does_not_wait_for_a_handler_or_a_request(self) -> None:
        server = ScriptedServer(self.server._handled)
        store = fieldmerge.open(":memory:", server="http://server.test", user="test", transport=server)
        held = threading.Event()

        def block(value: Any) -> None:
            if value.phase == "pulling" and not held.is_set():
                held.set()
                self.never.wait()

        store.on_status(block)
        store.start()
        self.assertTrue(held.wait(10))
        began = time.monotonic()
        store.close()
        self.assertLess(time.monotonic() - began, 4)

    def test_a_new_token_ends_the_wait_for_an_old_function(self) -> None:
        source = TokenSource(self.token)
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(source.get()))
        thread.start()
        while not self.calls:
            time.sleep(0.01)
        source.replace("new")
        thread.join(10)
        self.assertEqual(found, ["new"])


class SignOutTests(StoreCase):
    def test_an_edit_after_the_decision_throws_and_one_before_is_counted(self) -> None:
        store = self.synced(self.file())
        outcomes: list[str] = []

        def edit() -> None:
            try:
                with store.edit("shoppers", 123) as s:
                    s.customer.firstName = "Bob"
                outcomes.append("stored")
            except fieldmerge.FieldMergeError:
                outcomes.append("refused")

        thread = threading.Thread(target=edit)

        def step(name: str) -> None:
            if name == "sign out: commit":
                thread.start()  # it waits for the end of this transaction

        store._database.on_step = step
        store.sign_out()
        thread.join(10)
        self.assertEqual(outcomes, ["refused"])

    def test_another_process_that_has_the_store_open_cannot_edit_after_a_sign_out(self) -> None:
        one, other = self.synced(self.file()), self.synced(self.file())
        with other.edit("shoppers", 123) as begun:
            begun.customer.firstName = "Bob"
            with other.edit("shoppers", 124) as s:
                s.customer.firstName = "Eve"
            with self.assertRaises(fieldmerge.UnsentEdits):
                one.sign_out()
            self.assertTrue(other.sync().ok)
        self.assertTrue(other.sync().ok)
        edit = other.edit("shoppers", 123)
        late = edit.__enter__()
        late.customer.firstName = "Late"
        one.sign_out()
        with self.assertRaises(fieldmerge.FieldMergeError):
            edit.__exit__(None, None, None)

    def test_a_sign_out_that_was_killed_leaves_an_empty_store(self) -> None:
        store = self.synced(self.file())
        store._model.discard_all(limit=0)
        store._database.close()
        store = self.open(self.file())
        self.assertEqual(store.records("shoppers"), [])
        self.assertTrue(store.sync().ok)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        self.assertTrue(store.sync().ok)


if __name__ == "__main__":
    unittest.main()
