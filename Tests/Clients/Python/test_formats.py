"""Stores of earlier and later versions, gateways that move, users of tokens, and values that cannot be sent."""

from __future__ import annotations

import json
import sqlite3
import unittest
from pathlib import Path
from typing import Any

from store_case import StoreCase

import fieldmerge
from fieldmerge.testing.scripted import Reply


class FormatTests(StoreCase):
    """`format-1.sql` is a store of the version 1.0.0 before format 2: a refused edit, a push that may have been merged,
    and three that were not sent."""

    def earlier(self) -> str:
        connection = sqlite3.connect(self.file())
        connection.executescript(Path(__file__).with_name("format-1.sql").read_text(encoding="utf-8"))
        connection.close()
        return self.file()

    def test_a_store_of_the_last_format_opens_with_its_unsent_edits(self) -> None:
        store = self.open(self.earlier())
        self.assertEqual((store.status.unsent, store.status.refused), (4, 1))
        self.assertEqual(store._database.meta("format"), 2)
        told: list[Any] = []
        store.on_refused(told.append)
        self.assertEqual(told[0].id, 124)
        self.assertEqual(told[0].faulty, ())
        record = store.record("shoppers", 123)
        self.assertEqual((record.customer.firstName, record.customer.points), ("Bob", 7))
        with store.edit("shoppers", 123) as s:
            s.customer.lastName = "Hill"
        self.assertTrue(store.sync().ok)
        held = self.server.get("shoppers", 123)
        self.assertEqual((held["customer"]["points"], held["customer"]["firstName"]), (7, "Bob"))
        self.assertEqual([item["name"] for item in held["groceries"]], ["Beans", "Tea", "Olive oil"])
        self.assertEqual(len(self.server.runs), len(set(self.server.runs)))
        self.assertEqual(store._database.value("SELECT count(*) FROM filled"), 2)
        store.close()
        self.assertTrue(self.open(self.file()).sync().ok)

    def test_a_store_of_a_later_format_is_refused_and_can_be_exported(self) -> None:
        store = self.synced(self.file())
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bobby"
        with store._database.transaction("a later version"):
            store._database.set_meta("format", 3)
        store.close()
        for _ in range(2):
            with self.assertRaises(fieldmerge.NewerStore) as caught:
                self.open(self.file())
            self.assertEqual(caught.exception.code, "newer-store")
        fieldmerge.export_store(self.file(), self.file("export.ndjson"))
        lines = [json.loads(line) for line in Path(self.file("export.ndjson")).read_text().splitlines()]
        self.assertIn("Bobby", json.dumps([line for line in lines if "edit" in line]))


class OwnerTests(StoreCase):
    def test_a_user_is_required_and_a_gateway_may_move(self) -> None:
        with self.assertRaises(TypeError):
            fieldmerge.open(self.file(), server="http://server.test")  # type: ignore[call-arg]
        with self.assertRaises(ValueError):
            fieldmerge.open(self.file(), server="http://server.test", user="")
        store = self.synced(self.file())
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        store.close()
        store = fieldmerge.open(
            self.file(), server="http://proxy.test", user="test", transport=self.server, clock=self.clock
        )
        self.stores.append(store)
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["firstName"], "Bob")

    def test_a_token_of_another_user_is_asked_for_again_and_nothing_is_sent_with_it(self) -> None:
        who = ["anna%20b"]
        serve = self.server._serve

        def handle(request: Any) -> Reply:
            if request.headers.get("X-Who") not in (None, who[-1]):
                return Reply.problem(401, "other-who")
            reply = serve(request)
            return Reply(reply.status, reply.body, {**reply.headers, "X-Who": who[-1]})

        self.server._handler = handle
        tokens: list[str] = []
        store = self.synced(self.file(), token=lambda: tokens.append("t") or "t")
        self.assertEqual(store._database.meta("who"), "anna%20b")
        store.close()
        store = self.open(self.file(), token=lambda: tokens.append("t") or "t")
        self.assertEqual(self.server.requests[1].headers["X-Who"], "anna%20b")
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        who.append("ben")
        count = len(tokens)
        self.assertEqual(store.sync().phase, "needsAuth")
        self.assertEqual((len(tokens) - count, self.server.runs), (2, []))
        self.assertTrue(s.ticket.is_open)
        who.pop()
        self.assertTrue(store.sync().ok)


class GoneTests(StoreCase):
    def test_records_that_a_snapshot_drops_are_gone(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_gone(told.append)
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        for one in (123, 124):
            self.server.put("shoppers", one, None)
        self.server.begin_anew()
        self.server.no_network()
        store.sync()
        store._model.note(resnapshot=True)
        store.sync()
        self.assertEqual(sorted(event.id for event in told), [123, 124])
        self.assertEqual(next(event for event in told if event.id == 124).record.customer.firstName, "Ann")


class ValueTests(StoreCase):
    def test_half_surrogates_and_what_is_no_number_are_errors_of_the_edit(self) -> None:
        store = self.synced()
        half = "a\ud800"
        for change in (
            lambda s: setattr(s.customer, "firstName", half),
            lambda s: setattr(s.customer, "tags", [half]),
            lambda s: s.groceries.append({"name": half}),
            lambda s: setattr(s.customer, "points", float("nan")),
        ):
            with self.assertRaises(fieldmerge.InvalidValue), store.edit("shoppers", 123) as s:
                change(s)
        with self.assertRaises(fieldmerge.InvalidValue), store.create("orders", half) as order:
            order.order.note = "x"
        form = store.draft("shoppers", 123)
        form.record.customer.firstName = half
        with self.assertRaises(fieldmerge.InvalidValue):
            form.save()
        from fieldmerge.values import json_value

        for value in ({half: 1}, [half], {"a": float("inf")}):
            with self.assertRaises(fieldmerge.InvalidValue):
                json_value(value, path="extra")
        self.assertEqual(json_value({"n": 2**63 + 1}, path="extra"), {"n": 2**63 + 1})
        self.assertEqual(store.status.unsent, 0)

    def test_a_repair_cannot_await(self) -> None:
        async def repair(change: Any) -> None:
            pass

        with self.assertRaises(TypeError):
            self.synced().before_store(repair)


if __name__ == "__main__":
    unittest.main()
