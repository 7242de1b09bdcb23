"""Walks at random with a network that fails and processes that are killed at every step, against an oracle.

In the end the queues are empty, nothing is lost or doubled, counters are exact, and every store equals the server.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
import threading
import unittest
from datetime import datetime
from pathlib import Path
from typing import Any

from defaults import DefaultingGateway
from support import cases, seeds

from fieldmerge.testing import ManualClock, MemoryGateway, memory_store
from fieldmerge.testing.memory import _failed
from fieldmerge.testing.scripted import Reply

RULES = cases("model.json")["rules"]
PHOTO = "x" * 260_000


class Killed(BaseException):
    """The end of a process."""


def shopper(record_id: int) -> dict[str, Any]:
    customer = {
        "firstName": "Joe", "lastName": None, "street": None, "county": None, "postCode": None, "points": 0,
        "status": "new", "tags": [], "modified": None,
    }  # fmt: skip
    return {"id": record_id, "customer": customer, "groceries": [], "card": None}


class Device:
    """A store whose process can be killed at any step of any of its transactions."""

    def __init__(self, path: str, gateway: MemoryGateway, clock: ManualClock, seed: int) -> None:
        self.path, self.gateway, self.clock, self.seed = path, gateway, clock, seed
        self.steps: list[str] = []
        self.open()

    def open(self) -> None:
        self.store = memory_store(self.gateway, path=self.path, clock=self.clock, seed=self.seed)
        self.store._database._connection.execute("PRAGMA synchronous = OFF")
        self.store.on_conflict(lambda conflict: None)
        self.live()

    def kill_at(self, step: int) -> None:
        """The process ends at this step from now, and at each later step."""
        left = step

        def count(name: str) -> None:
            nonlocal left
            left -= 1
            self.steps.append(name)
            if left <= 0:
                raise Killed()

        self.steps.clear()
        self.store._database.on_step = count

    def live(self) -> None:
        self.store._database.on_step = self.steps.append

    def restart(self) -> None:
        self.store._database.close()
        self.clock.advance(60)  # the lease of a killed process has ended
        self.open()


class KillTests(unittest.TestCase):
    def test_walks(self) -> None:
        for seed in seeds(100):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                Walk(self, random.Random(seed), folder).run()

    def test_walks_with_large_pushes(self) -> None:
        hook, threading.excepthook = threading.excepthook, lambda arguments: None  # a kill ends the lane's thread too
        self.addCleanup(setattr, threading, "excepthook", hook)
        for seed in seeds(10):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                LargeWalk(self, random.Random(seed), folder).run()

    def test_walks_over_histories(self) -> None:
        reasons: set[str] = set()
        for seed in seeds(100):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                walk = HistoryWalk(self, random.Random(seed), folder)
                walk.run()
                reasons |= walk.reasons
        self.assertLessEqual({"outcome-unknown", "key-expired", "other-record"}, reasons)


class Walk:
    """Two devices on one server, and the invariants at the end."""

    kinds = ["add", "add", "item", "item", "aisle", "delete", "both", "shopper", "name"]

    def __init__(self, test: unittest.TestCase, dice: random.Random, folder: str) -> None:
        self.test, self.dice = test, dice
        self.clock = ManualClock()
        self.gateway = HistoryGateway(RULES, {"shoppers": [shopper(one) for one in (1, 2, 3)]}, clock=self.clock)
        self.points = {1: 0, 2: 0, 3: 0}
        self.items: dict[str, int] = {}
        self.deleted: set[str] = set()
        self.aisles: set[str] = set()
        self.aisle_of: dict[str, str] = {}
        self.shoppers: dict[str, str | None] = {}
        self.number = 0
        self.devices = [Device(str(Path(folder) / f"{one}.db"), self.gateway, self.clock, one) for one in range(2)]
        for device in self.devices:
            self.test.assertTrue(device.store.sync().ok)

    def run(self) -> None:
        for _ in range(25):
            device = self.dice.choice(self.devices)
            act = self.dice.choice([self.edit, self.edit, self.edit, self.sync, self.sync, self.others, self.trouble])
            if self.dice.random() < 0.35:
                device.kill_at(self.dice.randint(1, 60))
            try:
                act(device)
            except Killed:
                device.restart()
            device.live()
        self.settle()
        self.check()

    # Events

    def edit(self, device: Device) -> None:
        self.number += 1
        name = f"n{self.number}"
        kind = self.dice.choice(self.kinds)
        getattr(self, f"edit_{kind}")(device, name)

    def stored(self, device: Device, block: Any, change: Any, meaning: Any = lambda: None) -> None:
        """Makes an edit, and adds it to the oracle if it was stored, killed or not."""
        device.steps.clear()
        try:
            with block as edited:
                change(edited)
        finally:
            if "edit: committed" in device.steps:
                meaning()

    def edit_photo(self, device: Device, name: str) -> None:
        """A push that is sent in the lane of the large ones, with points that count."""
        shopper_id = self.dice.choice([1, 2, 3])

        def change(s: Any) -> None:
            s.customer.points += 1
            s.customer.street = name + PHOTO

        def meaning() -> None:
            self.points[shopper_id] += 1

        self.stored(device, device.store.edit("shoppers", shopper_id), change, meaning)

    def edit_add(self, device: Device, name: str) -> None:
        shopper_id, more = self.dice.choice([1, 2, 3]), self.dice.randint(-3, 5)

        def change(s: Any) -> None:
            s.customer.points += more

        def meaning() -> None:
            self.points[shopper_id] += more

        self.stored(device, device.store.edit("shoppers", shopper_id), change, meaning)

    def edit_item(self, device: Device, name: str) -> None:
        shopper_id = self.dice.choice([1, 2, 3])

        def meaning() -> None:
            self.items[name] = shopper_id

        block = device.store.edit("shoppers", shopper_id)
        self.stored(device, block, lambda s: s.groceries.append({"name": name}), meaning)

    def edit_aisle(self, device: Device, name: str) -> None:
        shopper_id = self.dice.choice([1, 2, 3])

        def change(t: Any) -> None:
            aisle = t.create("aisles")
            aisle.aisle.name = f"a{name}"
            t.edit("shoppers", shopper_id).groceries.append({"name": name, "aisle": aisle.id})

        def meaning() -> None:
            self.aisles.add(f"a{name}")
            self.items[name] = shopper_id
            self.aisle_of[name] = f"a{name}"

        self.stored(device, device.store.transaction(), change, meaning)

    def edit_shopper(self, device: Device, name: str) -> None:
        """A row that one push creates and later ones use and edit."""
        made: list[Any] = []

        def create(s: Any) -> None:
            made.append(s.id)
            s.customer.firstName = name

        self.stored(device, device.store.create("shoppers"), create, lambda: self.shoppers.__setitem__(name, None))
        if self.dice.random() < 0.5:
            device.store.sync()

        def change(s: Any) -> None:
            s.customer.lastName = name
            s.customer.points = 3

        block = device.store.edit("shoppers", made[0])
        self.stored(device, block, change, lambda: self.shoppers.__setitem__(name, name))

    def edit_delete(self, device: Device, name: str) -> None:
        shopper_id = self.dice.choice([1, 2, 3])
        names = [item.name for item in device.store.record("shoppers", shopper_id).groceries]
        if not names:
            return
        gone = self.dice.choice(names)

        def change(s: Any) -> None:
            s.groceries[:] = [item for item in s.groceries if item.name != gone]

        self.stored(device, device.store.edit("shoppers", shopper_id), change, lambda: self.deleted.add(gone))

    def edit_both(self, device: Device, name: str) -> None:
        """Points move from one shopper to another, in one transaction."""
        one, other = self.dice.sample([1, 2, 3], 2)

        def change(t: Any) -> None:
            t.edit("shoppers", one).customer.points -= 1
            t.edit("shoppers", other).customer.points += 1

        def meaning() -> None:
            self.points[one] -= 1
            self.points[other] += 1

        self.stored(device, device.store.transaction(), change, meaning)

    def edit_name(self, device: Device, name: str) -> None:
        def change(s: Any) -> None:
            s.customer.firstName = name

        self.stored(device, device.store.edit("shoppers", self.dice.choice([1, 2, 3])), change)

    def sync(self, device: Device) -> None:
        device.store.sync()

    def others(self, device: Device) -> None:
        """Another user writes, and sometimes a new feed begins."""
        shopper_id = self.dice.choice([1, 2, 3])
        record = self.gateway.get("shoppers", shopper_id)
        assert record is not None
        record["customer"]["points"] += 7
        self.points[shopper_id] += 7
        self.gateway.put("shoppers", shopper_id, record)
        if self.dice.random() < 0.15:
            self.gateway.begin_anew()

    def trouble(self, device: Device) -> None:
        """The next requests fail, each in another way."""
        for _ in range(self.dice.randint(1, 3)):
            kind = self.dice.choice(["none", "lost", "cut", "busy", "html", "proxy", "large"])
            if kind == "none":
                self.gateway.no_network()
            elif kind == "lost":
                self.gateway.lose_answer()
            elif kind == "cut":
                self.gateway.break_at(self.dice.randint(0, 400))
            elif kind == "busy":
                self.gateway.error(503, "busy", {"retry-after": "1"})
            elif kind == "html":
                self.gateway.reply(Reply(200, b"<html>Please log in</html>", {"content-type": "text/html"}))
            elif kind == "proxy":
                self.gateway.reply(Reply(502, b""))
            else:
                self.gateway._script.append(
                    lambda request: (
                        Reply.problem(413, "too-large")
                        if (request.body or b"").count(b'"key"') > 1
                        else Reply.problem(503, "busy")
                    )
                )

    # The end

    def settle(self) -> None:
        self.gateway._script.clear()
        for _ in range(2):
            for device in self.devices:
                report = device.store.sync()
                for _ in range(5):
                    if report.ok:
                        break
                    self.clock.advance(400)
                    report = device.store.sync()
                self.test.assertTrue(report.ok, report)

    def check(self) -> None:
        gateway = self.gateway
        self.test.assertEqual(len(gateway.runs), len(set(gateway.runs)), "no push runs twice")
        for shopper_id, points in self.points.items():
            record = gateway.get("shoppers", shopper_id)
            assert record is not None
            self.test.assertEqual(record["customer"]["points"], points, f"the points of {shopper_id}")
        aisles = {
            record["id"]: record["aisle"]["name"] for (name, _), record in gateway.records.items() if name == "aisles"
        }
        self.test.assertEqual(sorted(aisles.values()), sorted(self.aisles))
        found = []
        for (resource, _), record in gateway.records.items():
            if resource == "shoppers":
                for item in record["groceries"]:
                    found.append((item["name"], record["id"]))
                    if item["name"] in self.aisle_of:
                        self.test.assertEqual(aisles[item["aisle"]], self.aisle_of[item["name"]])
        expected = [(name, owner) for name, owner in self.items.items() if name not in self.deleted]
        self.test.assertEqual(sorted(found), sorted(expected))
        made = [
            (record["customer"]["firstName"], record["customer"]["lastName"], record["customer"]["points"])
            for (resource, _), record in gateway.records.items()
            if resource == "shoppers" and record["id"] not in (1, 2, 3)
        ]
        wanted = [(name, last, 10 if last is None else 3) for name, last in self.shoppers.items()]
        self.test.assertEqual(sorted(made), sorted(wanted))
        for device in self.devices:
            store = device.store
            self.test.assertEqual(store.refused_edits(), [])
            self.test.assertEqual(store._database.rows("SELECT * FROM push"), [])
            self.test.assertEqual(store._database.rows("SELECT * FROM edit"), [])
            self.test.assertIsNone(store._database.value("SELECT 1 FROM ticket WHERE outcome IS NULL"))
            for resource in RULES["resources"]:
                name = resource["resource"]
                held = {str(record["id"]): record for record in copy.deepcopy(store.records(name))}
                told = {key: record for (one, key), record in gateway.records.items() if one == name}
                self.test.assertEqual(held, told)
            store.close()


class LargeWalk(Walk):
    """A walk in which some pushes are large."""

    kinds = [*Walk.kinds, "photo", "photo"]


class HistoryGateway(DefaultingGateway):
    """A gateway whose history can change: the journal is lost, or a backup is restored."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.history_of = {self.feed: 0}
        self.history = 0
        self.began = 0.0
        self.strangers = {1: 0, 2: 0, 3: 0}
        self.rolled_back: set[str] = set()
        self.back_up()

    def begin_anew(self) -> None:
        super().begin_anew()
        self.history_of[self.feed] = self.history

    def lose_journal(self) -> None:
        self._kept.clear()
        self.begin_history()

    def begin_history(self) -> None:
        self.history += 1
        self._clock.advance(10)
        self.began = self._clock.now()
        self.begin_anew()

    def back_up(self) -> None:
        self.backup = copy.deepcopy((self.records, self._kept, self._next_id, self.strangers))

    def restore(self) -> None:
        """Restores the backup. Then another program creates shoppers, whose numbers were used before."""
        before = self.names()
        self.records, self._kept, self._next_id, self.strangers = copy.deepcopy(self.backup)
        self.rolled_back |= set(before) - set(self.names())
        self.begin_history()
        for number in range(3):
            record = shopper(self._number())
            mark = f"foreign {self.history}.{number}"
            record["customer"].update(
                firstName=mark, lastName=mark, street=mark, points=1000, status=mark, tags=[mark], county=mark
            )
            self.put("shoppers", record["id"], record)

    def names(self) -> list[str]:
        found = []
        for (resource, _), record in self.records.items():
            if resource == "shoppers" and record["id"] > 3:
                found.append(record["customer"]["firstName"])
            found += [item["name"] for item in record.get("groceries", [])]
        return found

    def _push(self, push: Any, ids: dict[str, Any], refused: set[str]) -> Any:
        is_earlier = "feed" in push and self.history_of[push["feed"]] != self.history
        sent = datetime.fromisoformat(push.get("sent", "9999-01-01T00:00:00Z").replace("Z", "+00:00")).timestamp()
        if push["key"] in self._kept or not (is_earlier or sent < self.began):
            return super()._push(push, ids, refused)
        code = "history-changed" if is_earlier and any(map(_has_base, push["edits"])) else "key-expired"
        refused |= self._creations(push)
        return {**_failed(push["key"], 409, code)}


def _has_base(edit: dict[str, Any]) -> bool:
    parts = [row for part in edit["changeset"].values() for row in (part if isinstance(part, list) else [part])]
    return not str(edit["id"]).startswith("tmp:") or any("old" not in row or row["old"] is not None for row in parts)


class HistoryWalk(Walk):
    """Two devices on a server whose history changes."""

    gateway: HistoryGateway

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.reasons: set[str] = set()
        self.made: list[Any] = []

    def edit(self, device: Device) -> None:
        self.number += 1
        kind = self.dice.choice(["pair", "pair", "pair", "name", "one", "known"])
        getattr(self, f"edit_{kind}")(device, f"n{self.number}")

    def edit_pair(self, device: Device, name: str) -> None:
        """A point and an item in one push: both are stored or lost together."""
        shopper_id = self.dice.choice([1, 2, 3])

        def change(s: Any) -> None:
            s.customer.points += 1
            s.groceries.append({"name": name})

        block = device.store.edit("shoppers", shopper_id)
        self.stored(device, block, change, lambda: self.items.update({name: shopper_id}))

    def edit_one(self, device: Device, name: str) -> None:
        def create(s: Any) -> None:
            s.customer.firstName = name

        self.stored(device, device.store.create("shoppers"), create, lambda: self.shoppers.update({name: None}))

    def edit_known(self, device: Device, name: str) -> None:
        """A shopper that another program may create again with the same number."""
        known = [one for one in device.store.records("shoppers") if isinstance(one["id"], int) and one["id"] > 3]
        known = [one for one in known if not str(one["customer"]["firstName"]).startswith("foreign")]
        if not known:
            return

        def change(s: Any) -> None:
            s.customer.county = f"county of {known[0]['customer']['firstName']}"

        self.stored(device, device.store.edit("shoppers", known[0]["id"]), change)
        if self.dice.random() < 0.5:
            self.gateway.restore()

    def others(self, device: Device) -> None:
        shopper_id = self.dice.choice([1, 2, 3])
        record = self.gateway.get("shoppers", shopper_id)
        assert record is not None
        record["customer"]["points"] += 1000
        self.gateway.strangers[shopper_id] += 1
        self.gateway.put("shoppers", shopper_id, record)
        happens = self.dice.random()
        if happens < 0.1:
            self.gateway.begin_anew()
        elif happens < 0.3:
            self.gateway.back_up()
        elif happens < 0.45:
            self.gateway.lose_journal()
        elif happens < 0.55:
            self.gateway.restore()

    def settle(self) -> None:
        self.gateway._script.clear()
        for _ in range(8):
            for device in self.devices:
                device.store.sync()
            self.clock.advance(400)

    def check(self) -> None:
        gateway, names = self.gateway, self.gateway.names()
        self.test.assertEqual(len(names), len(set(names)), "nothing is doubled")
        refused = [entry for device in self.devices for entry in device.store.refused_edits()]
        texts = json.dumps([edit.changeset for entry in refused for edit in entry.edits])
        for name in [*self.items, *self.shoppers]:
            kept = name in names or name in gateway.rolled_back or f'"{name}"' in texts
            self.test.assertTrue(kept, f"{name} is lost")
        for (resource, _), record in gateway.records.items():
            if resource != "shoppers":
                continue
            customer = record["customer"]
            if record["id"] <= 3:
                self.test.assertEqual(
                    customer["points"], len(record["groceries"]) + 1000 * gateway.strangers[record["id"]]
                )
            else:
                county = (customer["firstName"], f"county of {customer['firstName']}", None)
                self.test.assertIn(customer["county"], county, "an edit of another record was applied")
        known = {"outcome-unknown", "key-expired", "other-record", "gone", "depends-on-refused"}
        self.reasons = {entry.problem["code"] for entry in refused}
        self.test.assertLessEqual(self.reasons, known)
        for device in self.devices:
            store = device.store
            self.test.assertEqual(store.status.unsent, 0)
            self.test.assertEqual(store._database.rows("SELECT seq FROM push WHERE state <> 3"), [])
            self.test.assertIsNone(store._database.value("SELECT 1 FROM ticket WHERE outcome IS NULL"))
            held = {str(record["id"]): record for record in copy.deepcopy(store.records("shoppers"))}
            told = {key: record for (one, key), record in gateway.records.items() if one == "shoppers"}
            self.test.assertEqual(held, told)
            store.close()


if __name__ == "__main__":
    unittest.main()
