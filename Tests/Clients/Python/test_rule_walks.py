"""Walks at random in which also the rules change, and statements of the store fail, against an oracle.

In the end the rules have every field again and every refused edit is sent again: then nothing is lost or doubled.
"""

from __future__ import annotations

import copy
import logging
import random
import sqlite3
import tempfile
import unittest
from typing import Any

from support import seeds
from test_kill import RULES, Device, Killed, Walk

import fieldmerge

FIELDS = ("country", "nick")


class RuleWalkTests(unittest.TestCase):
    def test_walks_over_rules(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        codes: set[str] = set()
        for seed in seeds(40):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                walk = RuleWalk(self, random.Random(seed), folder)
                walk.run()
                codes |= walk.codes
        self.assertIn("field-removed", codes)


class RuleWalk(Walk):
    """Two devices on a server whose rules gain and lose fields."""

    def __init__(self, *arguments: Any) -> None:
        self.version = 1
        self.fields: set[str] = set()
        self.shape = "s1"
        self.codes: set[str] = set()
        super().__init__(*arguments)
        self.serve(set(FIELDS))
        for device in self.devices:
            self.test.assertTrue(device.store.sync().ok)

    def run(self) -> None:
        for _ in range(25):
            device = self.dice.choice(self.devices)
            acts = [self.edit, self.edit, self.edit, self.sync, self.sync, self.others, self.trouble, self.rules]
            act = self.dice.choice(acts)
            luck = self.dice.random()
            if luck < 0.25:
                device.kill_at(self.dice.randint(1, 80))
            elif luck < 0.5:
                fail_at(device, self.dice.randint(1, 80))
            try:
                act(device)
            except Killed:
                device.restart()
            except (sqlite3.OperationalError, fieldmerge.UnknownName):
                pass  # the name is one of a shape that is still being read
            device.live()
        self.settle()
        self.check()

    def edit(self, device: Device) -> None:
        customer = device.store.record("shoppers", 1)["customer"]
        field = self.dice.choice(FIELDS)
        if field not in customer or self.dice.random() < 0.4:
            return super().edit(device)
        self.number += 1

        def change(s: Any) -> None:
            s.customer.points += 1
            s.customer[field] = f"n{self.number}"

        shopper_id = self.dice.choice([1, 2, 3])

        def meaning() -> None:
            self.points[shopper_id] += 1

        self.stored(device, device.store.edit("shoppers", shopper_id), change, meaning)

    def rules(self, device: Device) -> None:
        self.serve({field for field in FIELDS if self.dice.random() < 0.5})

    def serve(self, fields: set[str]) -> None:
        """Sets the fields of the server's rules, and changes its records to their shape."""
        self.version += 1
        if fields != self.fields:
            self.shape = f"s{self.version}"
        self.fields = fields
        rules = copy.deepcopy(RULES)
        rules["version"] = f"r{self.version}"
        (shoppers,) = (one for one in rules["resources"] if one["resource"] == "shoppers")
        shoppers["shape"] = self.shape
        groups = shoppers["sections"][0]["groups"]
        (address,) = (one for one in groups if one["group"] == "address")
        if "country" in fields:
            address["fields"].append({"field": "country", "type": "text", "nullable": True})
        if "nick" in fields:
            groups.append({"group": "nick", "fields": [{"field": "nick", "type": "text", "nullable": True}]})
        for (resource, _), record in self.gateway.records.items():
            if resource == "shoppers":
                for field in FIELDS:
                    if field in fields:
                        record["customer"].setdefault(field, None)
                    else:
                        record["customer"].pop(field, None)
        self.gateway.change_rules(rules)

    def settle(self) -> None:
        self.gateway._script.clear()
        self.serve(set(FIELDS))
        for _ in range(4):
            for device in self.devices:
                device.store.sync()
                self.clock.advance(400)
                entries = device.store.refused_edits()
                self.codes |= {entry.problem["code"] for entry in entries}
                for entry in entries:
                    entry.resend()
        super().settle()


def fail_at(device: Device, step: int) -> None:
    """Has one statement from now fail, as a full disk would."""
    left = step

    def count(name: str) -> None:
        nonlocal left
        left -= 0 if name.endswith(": committed") else 1
        if left == 0 and not name.endswith(": committed"):
            raise sqlite3.OperationalError("disk I/O error")
        device.steps.append(name)

    device.steps.clear()
    device.store._database.on_step = count


if __name__ == "__main__":
    unittest.main()
