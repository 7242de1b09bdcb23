"""Rules that change the shape of resources: records that are read again, and edits that wait for them."""

from __future__ import annotations

import copy
import json
import unittest
from typing import Any

from store_case import RULES, StoreCase

import fieldmerge


def other_rules(version: str, *, adds: str | None = None, drops: str | None = None, without: str | None = None) -> Any:
    """The rules with a field more or less in the address of shoppers, or without a resource."""
    rules = copy.deepcopy(RULES)
    rules["version"] = version
    rules["resources"] = [one for one in rules["resources"] if one["resource"] != without]
    for resource in rules["resources"]:
        if resource["resource"] != "shoppers":
            continue
        for group in resource["sections"][0]["groups"]:
            if group["group"] == "address":
                group["fields"] = [one for one in group["fields"] if one["field"] != drops]
                if adds is not None:
                    group["fields"].append({"field": adds, "type": "text", "nullable": True})
        if adds or drops:
            resource["shape"] = f"of {version}"
    return rules


class ShapeTests(StoreCase):
    def change(self, rules: Any, *, adds: str | None = None, drops: str | None = None) -> None:
        """Sets other rules of the server, and changes the shape of its records."""
        for (resource, _), record in self.server.records.items():
            if resource == "shoppers" and adds:
                record["customer"][adds] = "GB"
            if resource == "shoppers" and drops:
                record["customer"].pop(drops, None)
        self.server.change_rules(rules)

    def pass_two(self) -> None:
        """The server answers two requests normally before the next step of the script."""
        self.server._script.extend([self.server._handled] * 2)

    def snapshots(self) -> list[str]:
        return [one.path for one in self.server.requests if one.path.startswith("/v1/snapshot")]

    def test_only_records_of_the_other_shape_are_read_again(self) -> None:
        store = self.synced()
        place = store._model.place()
        self.change(other_rules("r2", adds="country"), adds="country")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.snapshots()[1:], ["/v1/snapshot?resources=shoppers"])
        self.assertEqual(store._model.place(), place)
        self.assertEqual(store.records("shoppers")[0], self.server.get("shoppers", 123))
        self.change(other_rules("r3", adds="country"))
        store.sync()

    def test_a_reading_that_broke_off_goes_on_and_the_shape_counts_with_its_last_record(self) -> None:
        for number in range(2_000, 3_300):
            self.server.records["shoppers", str(number)] = {**self.server.get("shoppers", 124), "id": number}
        store = self.synced(self.file())
        with store.edit("shoppers", 2_001) as s:
            s.customer.street = "2 Low St"
        self.change(other_rules("r2", adds="country"), adds="country")
        del self.server.records["shoppers", "2002"]
        self.pass_two()  # the push, which the new rules refuse, and the rules
        self.server.break_at(300_000)
        self.assertEqual(store.sync().phase, "waiting")
        self.assertIn("cursor", json.dumps(store._database.meta("refresh")))
        self.assertEqual(store._model.resource("shoppers").shape, "s1")
        self.assertEqual(len(store.records("shoppers")), 1_302)
        store.close()
        store = self.open(self.file())
        self.assertEqual(store.record("shoppers", 2_001).customer.street, "2 Low St")
        self.assertTrue(store.sync().ok)
        self.assertIn("after=", self.snapshots()[-1])
        self.assertEqual(self.server.get("shoppers", 2_001)["customer"]["street"], "2 Low St")
        self.assertEqual(self.server.get("shoppers", 2_001)["customer"]["country"], "GB")
        self.assertEqual(len(store.records("shoppers")), 1_301)
        self.assertIsNone(store.record("shoppers", 2_002))

    def test_an_edit_between_the_rules_and_the_records_is_built_from_both(self) -> None:
        store = self.synced()
        self.change(other_rules("r2", adds="country", drops="county"), adds="country", drops="county")
        self.pass_two()
        self.server.no_network()
        store.sync()
        self.assertEqual(store._model.stale(), ["shoppers"])
        with store.edit("shoppers", 123) as s:
            s.customer.street = "2 Low St"
        with store.edit("shoppers", 124) as other:
            other.customer.county = "Fife"
        self.assertEqual(store.record("shoppers", 124).customer.county, "Fife")
        store.sync()
        self.assertEqual(s.ticket.outcome(0).status, "merged")
        self.assertEqual(other.ticket.outcome(0).problem["code"], "field-removed")
        (entry,) = store.refused_edits()
        self.assertEqual(entry.edits[0].changeset["customer"]["address"]["new"]["county"], "Fife")
        held = self.server.get("shoppers", 123)["customer"]
        self.assertEqual((held["street"], held["country"]), ("2 Low St", "GB"))

    def test_what_depends_on_an_edit_of_a_resource_that_is_gone_is_refused_with_it(self) -> None:
        store = self.synced()
        with store.create("aisles") as aisle:
            aisle.aisle.name = "Oils"
        with store.edit("shoppers", 123) as s:
            s.groceries.append({"name": "Olive oil", "aisle": aisle.id})
        with store.edit("shoppers", 124) as other:
            other.customer.firstName = "Eve"
        store._model.store_rules(json.dumps(other_rules("r2", without="aisles")))
        self.change(other_rules("r2", without="aisles"))
        store.sync()
        codes = [entry.problem["code"] for entry in store.refused_edits()]
        self.assertEqual(codes, ["field-removed", "depends-on-refused"])
        self.assertEqual(other.ticket.outcome(0).status, "merged")
        self.assertEqual(store._database.value("SELECT count(*) FROM base WHERE resource = 'aisles'"), 0)
        with self.assertRaises(fieldmerge.UnknownName):
            store.record("aisles", 5)
        # It comes back: its records are read, and the edits can be sent.
        self.change({**copy.deepcopy(RULES), "version": "r3"})
        store.sync()
        self.assertEqual(store.record("aisles", 5).aisle.name, "Tins")
        self.assertTrue(store.refused_edits()[0].resend())
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["groceries"][-1]["name"], "Olive oil")

    def test_a_chosen_resource_that_is_gone_is_not_asked_for(self) -> None:
        store = self.synced(resources=["aisles", "shoppers"])
        self.change(other_rules("r2", without="aisles"))
        store.sync()
        self.assertTrue(store.sync().ok)
        self.assertIn("resources=shoppers", self.server.requests[-1].path)

    def test_a_record_that_is_only_here_for_its_edit_is_read_again(self) -> None:
        store = self.synced(resources=["aisles"])
        with store.edit("shoppers", 123) as s:
            s.customer.street = "2 Low St"
        self.change(other_rules("r2", adds="country"), adds="country")
        self.assertTrue(store.sync().ok)
        self.assertEqual(s.ticket.outcome(0).status, "merged")
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["country"], "GB")
        self.assertEqual(len(self.snapshots()), 1)

    def test_a_store_of_an_earlier_version_reads_its_records_again(self) -> None:
        store = self.synced(self.file())
        with store.edit("shoppers", 123) as s:
            s.customer.street = "2 Low St"
        with store._database.transaction("as an earlier version left it"):
            for name in ("shapes", "edition", "stale"):
                store._database.set_meta(name, None)
            record = store._model._base("shoppers", "123")
            del record["customer"]["county"]
            store._database.write("UPDATE base SET record = ? WHERE key = '123'", json.dumps(record))
        store.close()
        store = self.open(self.file())
        self.assertNotIn("county", store._model._base("shoppers", "123")["customer"])
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["county"], "Kent")
        self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))

    def test_a_field_that_a_base_lacks_is_missing_and_never_sent(self) -> None:
        store = self.synced()
        with store._database.transaction("a base of another shape"):
            record = store._model._base("shoppers", "123")
            del record["customer"]["county"]
            store._database.write("UPDATE base SET record = ? WHERE key = '123'", json.dumps(record))
        with self.assertRaises(AttributeError):
            store.record("shoppers", 123).customer.county
        with self.assertRaises(fieldmerge.UnknownValue):
            with store.edit("shoppers", 123) as s:
                s.customer.county
        with store.edit("shoppers", 123) as s:
            s.customer.street = "2 Low St"
        with store.edit("shoppers", 123) as name:
            name.customer.firstName = "Bob"
        store.sync()
        self.assertNotIn(b'"county":null', b"".join(one.body or b"" for one in self.server.requests))
        self.assertEqual(s.ticket.outcome(0).status, "refused")

    def test_another_feed_needs_a_whole_snapshot(self) -> None:
        store = self.synced()
        self.change(other_rules("r2", adds="country"), adds="country")
        self.server.begin_anew()
        with store.edit("shoppers", 123) as s:
            s.customer.street = "2 Low St"
        store.sync()
        self.assertTrue(store.sync().ok)
        self.assertEqual(s.ticket.outcome(0).status, "merged")
        self.assertEqual(store._model.stale(), [])
        self.assertEqual(store.record("shoppers", 123), self.server.get("shoppers", 123))

    def test_a_whole_snapshot_that_breaks_off_again_and_again_is_taken_in_the_end(self) -> None:
        store = self.synced()
        self.change(other_rules("r2", adds="country"), adds="country")
        self.server.begin_anew()
        with store.edit("shoppers", 123) as s:
            s.customer.street = "2 Low St"
        self.pass_two()
        self.server._script.append(self.server._handled)  # the records of another feed
        for _ in range(4):
            self.server.no_network()
            self.assertEqual(store.sync().phase, "waiting")
        self.assertTrue(store.sync().ok)
        self.assertEqual(s.ticket.outcome(0).status, "merged")

    def test_an_item_that_is_gone_is_refused_and_can_be_made_again(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.groceries[0].quantity = "2 tins"
            s.customer.firstName = "Bob"
        record = self.server.get("shoppers", 123)
        del record["groceries"][0]
        self.server.put("shoppers", 123, record)
        report = store.sync()
        self.assertEqual((report.refused, s.ticket.outcome(0).problem["code"]), (1, "missing"))
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["firstName"], "Bob")
        (entry,) = store.refused_edits()
        self.assertEqual(list(entry.edits[0].changeset), ["groceries"])
        self.assertTrue(entry.discard())
        self.assertEqual(s.ticket.outcome(0).status, "discarded")


if __name__ == "__main__":
    unittest.main()
