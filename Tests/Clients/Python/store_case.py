"""A store over a gateway in memory, for tests."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import cases

import fieldmerge
from fieldmerge.testing import ManualClock, MemoryGateway, memory_store

MODEL = cases("model.json")
RULES = MODEL["rules"]


def gateway(clock: ManualClock | None = None) -> MemoryGateway:
    records: dict[str, list[Any]] = {}
    for line in MODEL["base"]:
        records.setdefault(line["resource"], []).append(line["record"])
    return MemoryGateway(RULES, records, clock=clock)


class StoreCase(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = ManualClock()
        self.server = gateway(self.clock)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stores: list[fieldmerge.Store] = []
        self.addCleanup(lambda: [store.close() for store in self.stores])

    def open(self, path: str = ":memory:", **more: Any) -> fieldmerge.Store:
        store = memory_store(self.server, path=path, clock=self.clock, **more)
        self.stores.append(store)
        return store

    def synced(self, path: str = ":memory:", **more: Any) -> fieldmerge.Store:
        store = self.open(path, **more)
        self.assertTrue(store.sync().ok)
        return store

    def file(self, name: str = "store.db") -> str:
        return str(Path(self.folder.name) / name)

    def theirs(self, **values: Any) -> None:
        """Another client changes the customer of shopper 123."""
        record = self.server.get("shoppers", 123)
        record["customer"].update(values)
        self.server.put("shoppers", 123, record)

    def pull(self, store: fieldmerge.Store) -> None:
        """The store reads the changes without sending anything."""
        page = self.server._page({"since": store._model.place()[1], "feed": store._model.place()[0]})
        store._model.store_page(page, asked=store._model.place())

    def name(self) -> str:
        """The first name of shopper 123 at the gateway."""
        return str(self.server.get("shoppers", 123)["customer"]["firstName"])
