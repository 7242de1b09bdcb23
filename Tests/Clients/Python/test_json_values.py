"""JSON columns: `true` and 1 are two values, although Python's `==` equates them."""

from __future__ import annotations

import copy
import unittest
from typing import Any

from store_case import MODEL, RULES, StoreCase

import fieldmerge
from fieldmerge.testing import ManualClock, MemoryGateway

PAIRS = [({"on": 1}, {"on": True}), ({"on": [0]}, {"on": [False]}), (1, True)]


def rules() -> Any:
    """The rules of the model, in which a shopper's last name is a JSON value."""
    copied = copy.deepcopy(RULES)
    shoppers = next(one for one in copied["resources"] if one["resource"] == "shoppers")
    groups = shoppers["sections"][0]["groups"]
    next(one for one in groups if one["group"] == "lastName")["fields"][0]["type"] = "json"
    return copied


class JSONValueTests(StoreCase):
    def store_with(self, value: Any) -> fieldmerge.Store:
        self.clock = ManualClock()
        record = copy.deepcopy(MODEL["base"][0]["record"])
        record["customer"]["lastName"] = value
        self.server = MemoryGateway(rules(), {"shoppers": [record]}, clock=self.clock)
        return self.synced()

    def edit(self, store: fieldmerge.Store, value: Any) -> None:
        with store.edit("shoppers", 123) as shopper:
            shopper.customer.lastName = value

    def held(self, store: fieldmerge.Store) -> Any:
        return store.record("shoppers", 123).customer.lastName

    def test_a_change_from_1_to_true_arrives(self) -> None:
        for before, after in PAIRS:
            for old, new in ((before, after), (after, before)):
                with self.subTest(old=old, new=new):
                    store = self.store_with(old)
                    seen: list[Any] = []
                    store.observe("shoppers", 123, lambda record: seen.append(record.customer.lastName))
                    self.theirs(lastName=new)
                    self.assertTrue(store.sync().ok)
                    self.assertEqual(repr(self.held(store)), repr(new))
                    self.assertEqual([repr(one) for one in seen], [repr(old), repr(new)])

    def test_an_edit_from_1_to_true_is_stored_and_sent(self) -> None:
        for old, new in PAIRS:
            with self.subTest(old=old, new=new):
                store = self.store_with(old)
                self.edit(store, new)
                self.edit(store, old)
                self.edit(store, new)
                self.assertTrue(store.sync().ok)
                stored = self.server.get("shoppers", 123)["customer"]["lastName"]
                self.assertEqual(repr(stored), repr(new))

    def test_a_list_of_unsent_edits_is_outdated_after_a_change_from_1_to_true(self) -> None:
        store = self.store_with(5)
        self.edit(store, 1)
        shown = store.unsent()[0]
        self.edit(store, True)
        with self.assertRaises(fieldmerge.NotPossible):
            shown.discard()


if __name__ == "__main__":
    unittest.main()
