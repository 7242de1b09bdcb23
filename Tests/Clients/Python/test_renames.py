"""Rules with a new name of a group: entries and open forms are found under this name."""

from __future__ import annotations

import copy
import json
import unittest
from typing import Any

from store_case import RULES, StoreCase

import fieldmerge


def renamed_rules(*, has_shape: bool) -> Any:
    """The rules with the group of the address under the name `place`, and that of an item under the name `goods`."""
    rules = copy.deepcopy(RULES)
    rules["version"] = "r2"
    for section in rules["resources"][0]["sections"]:
        for group in section["groups"]:
            if group["group"] in ("address", "item"):
                group["formerly"] = [group["group"]]
                group["group"] = {"address": "place", "item": "goods"}[group["group"]]
    if has_shape:
        rules["resources"][0]["shape"] = "s2"
    return rules


class GroupNameTests(StoreCase):
    def setUp(self) -> None:
        super().setUp()
        self.has_shape = True

    def rename(self, store: fieldmerge.Store) -> None:
        """The rules get the new names, and the store reads them without sending anything."""
        rules = renamed_rules(has_shape=self.has_shape)
        self.server.change_rules(rules)
        store._model.store_rules(json.dumps(rules))
        if self.has_shape:
            self.assertIsNone(store._synchronizer._refresh())
        self.assertEqual(store._model.stale(), [])

    def move(self, store: fieldmerge.Store, street: str = "2 Low St") -> Any:
        with store.edit("shoppers", 123) as s:
            s.customer.street = street
            s.groceries[0].quantity = "2 tins"
        return s.ticket

    def theirs_of_both(self, street: str = "9 Mill Ln") -> None:
        record: Any = self.server.get("shoppers", 123)
        record["customer"]["street"] = street
        record["groceries"][0]["quantity"] = "9 tins"
        self.server.put("shoppers", 123, record)

    def groups(self, store: fieldmerge.Store) -> list[Any]:
        return [one.group for one in store.conflicts()]

    def in_both_shapes(self, test: Any) -> None:
        for has_shape in (True, False):
            with self.subTest(has_shape=has_shape):
                self.setUp()
                self.has_shape = has_shape
                test()

    def test_a_conflict_is_decided_under_the_new_name(self) -> None:
        self.in_both_shapes(self.decide_conflicts)

    def decide_conflicts(self) -> None:
        store = self.synced()
        told: list[Any] = []
        self.move(store)
        self.theirs_of_both()
        store.sync()
        held = store.conflicts()
        self.rename(store)
        self.assertEqual(self.groups(store), ["place", "goods"])
        store.on_conflict(lambda conflict: told.append(conflict.group))
        self.assertEqual(told, ["place", "goods"])
        for entry in (store.conflicts()[0], held[1]):
            self.assertIsNotNone(entry.take_theirs())
        self.assertTrue(store.sync().ok)
        record: Any = self.server.get("shoppers", 123)
        self.assertEqual((record["customer"]["street"], record["groceries"][0]["quantity"]), ("9 Mill Ln", "9 tins"))

    def test_a_handler_answers_a_conflict_under_the_new_name(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.street = "2 Low St"
        self.theirs(street="9 Mill Ln")
        store.sync()
        self.rename(store)
        store.on_conflict(lambda conflict: {**conflict.written, "street": "5 Mid Rd"})
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], "5 Mid Rd")

    def test_an_overtaken_edit_stays_in_the_list_under_the_new_name(self) -> None:
        self.in_both_shapes(self.decide_overtaken)

    def decide_overtaken(self) -> None:
        store = self.synced()
        self.move(store)
        self.theirs_of_both()
        self.pull(store)
        names = [one.name for one in store.conflicts()]
        held = store.conflicts()
        self.rename(store)
        self.assertEqual([(one.name, one.group) for one in store.conflicts()], list(zip(names, ["place", "goods"])))
        self.assertTrue(store.conflicts()[0].keep_mine())
        self.assertTrue(held[1].take_theirs())
        self.assertEqual(store.conflicts(), [])
        ((changeset,),) = [[one.changeset for one in push.edits] for push in store.unsent()]
        self.assertEqual(list(changeset), ["customer"])
        self.assertEqual(list(changeset["customer"]), ["place"])
        self.assertEqual(changeset["customer"]["place"]["old"]["street"], "9 Mill Ln")
        store.sync()
        self.assertEqual(store.conflicts(), [])
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], "2 Low St")

    def test_an_overtaken_edit_becomes_its_conflict_under_the_new_name(self) -> None:
        store = self.synced()
        self.move(store)
        self.theirs_of_both()
        self.pull(store)
        names = [one.name for one in store.conflicts()]
        self.rename(store)
        store.sync()
        found = [(one.name, one.kind, one.group) for one in store.conflicts()]
        self.assertEqual(found, [(names[0], "conflict", "place"), (names[1], "conflict", "goods")])

    def test_a_refused_edit_has_the_new_name(self) -> None:
        self.in_both_shapes(self.resend_refused)

    def resend_refused(self) -> None:
        store = self.synced()
        self.move(store)
        for _ in range(2):
            self.server.error(422, "check", path="edits[0].changeset.customer.address", fields=["street"])
        store.sync()
        (entry,) = store.refused_edits()
        self.assertEqual(entry.faulty, ("customer.address",))
        self.rename(store)
        (entry,) = store.refused_edits()
        self.assertEqual(entry.faulty, ("customer.place",))
        (edit,) = entry.edits
        self.assertEqual([list(edit.changeset["customer"]), list(edit.changeset["groceries"][0])], [["place"], ["id", "goods"]])
        self.assertEqual(store.state("shoppers", 123, "customer", "place"), "refused")
        self.assertTrue(entry.resend(without=entry.faulty))
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["groceries"][0]["quantity"], "2 tins")
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], "1 High St")
        (left,) = store.refused_edits()
        self.assertEqual(list(left.edits[0].changeset["customer"]), ["place"])
        with left.restore() as form:
            form.save()
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], "2 Low St")

    def test_an_answer_from_before_the_new_name_is_entered_under_it(self) -> None:
        store = self.synced()
        self.move(store)
        self.theirs_of_both()
        self.server.lose_answer()
        store.sync()
        self.rename(store)
        self.clock.advance(400)
        store.sync()
        self.assertEqual(self.groups(store), ["place", "goods"])

    def test_an_open_form_reports_the_new_name(self) -> None:
        self.in_both_shapes(self.save_form)

    def save_form(self) -> None:
        store = self.synced()
        told: list[Any] = []
        store.on_overtaken(told.append)
        form = store.draft("shoppers", 123)
        form.record.customer.street = "2 Low St"
        form.record.groceries[0].quantity = "2 tins"
        self.rename(store)
        self.theirs_of_both()
        self.pull(store)
        self.assertEqual([(one.group, one.draft) for one in told], [("place", form), ("goods", form)])
        self.assertTrue(told[0].keep_mine())
        self.assertTrue(told[1].take_theirs())
        form.save()
        ((changeset,),) = [[one.changeset for one in push.edits] for push in store.unsent()]
        self.assertEqual(list(changeset), ["customer"])
        self.assertEqual(changeset["customer"]["place"]["old"]["street"], "9 Mill Ln")
        self.assertTrue(store.sync().ok)
        self.assertEqual(self.server.get("shoppers", 123)["customer"]["street"], "2 Low St")

    def test_two_groups_that_become_one_keep_both_values(self) -> None:
        store = self.synced()
        with store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
            s.customer.lastName = "Hill"
        for _ in range(2):
            self.server.error(422, "check")
        store.sync()
        rules = copy.deepcopy(RULES)
        rules["version"] = "r2"
        groups = rules["resources"][0]["sections"][0]["groups"]
        first, last = groups[:2]
        groups[:2] = [{**first, "group": "name", "formerly": ["firstName", "lastName"], "fields": first["fields"] + last["fields"]}]
        self.server.change_rules(rules)
        store._model.store_rules(json.dumps(rules))
        (entry,) = store.refused_edits()
        both = {"old": {"firstName": "Joe", "lastName": "Shaw"}, "new": {"firstName": "Bob", "lastName": "Hill"}}
        self.assertEqual(entry.edits[0].changeset, {"customer": {"name": both}})


if __name__ == "__main__":
    unittest.main()
