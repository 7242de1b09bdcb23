"""The life of a store: opening, snapshots, signing out, leases."""

from __future__ import annotations

import copy
import gzip
import json
import os
import unittest
from pathlib import Path

from store_case import RULES, StoreCase

import fieldmerge
from fieldmerge.snapshot import to_sqlite


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


class RulesTests(StoreCase):
    def test_the_rules_of_a_resource_name_types_policies_and_what_this_client_may_write(self) -> None:
        with self.assertRaises(fieldmerge.RulesUnknown):
            self.open().rules("shoppers")
        document = copy.deepcopy(self.server.rules_document)
        section = next(one for one in document["resources"] if one["resource"] == "shoppers")["sections"][0]
        section["groups"][0]["write"] = False
        section["groups"][0]["create"] = True
        self.server.change_rules(document)
        rules = self.synced().rules("shoppers")
        self.assertEqual([rules.resource, rules.mayCreate, rules.mayDelete], ["shoppers", True, True])
        group, fields = section["groups"][0], rules.sections[section["section"]].fields
        first = group["fields"][0]
        found = fields[first["field"]]
        self.assertEqual([found.type, found.group, found.policy], [first["type"], group["group"], group["onConflict"]])
        self.assertEqual([found.mayWrite, found.mayCreate], [False, True])
        self.assertEqual(fields.modified.mayWrite, False, "it is read-only")
        with self.assertRaises(fieldmerge.UnknownName):
            self.synced().rules("shopers")


if __name__ == "__main__":
    unittest.main()
