"""Decisions of the app that are killed at every step: all of a decision is stored, or nothing."""

from __future__ import annotations

import random
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import seeds
from test_kill import Killed
from store_case import gateway

import fieldmerge
from fieldmerge.testing import ManualClock, memory_store
from fieldmerge.testing.scripted import Reply


class DecisionTests(unittest.TestCase):
    def open(self) -> None:
        self.store = memory_store(self.server, path=self.path, clock=self.clock)
        self.store._database._connection.execute("PRAGMA synchronous = OFF")

    def begin(self, folder: str) -> None:
        self.clock = ManualClock()
        self.server = gateway(self.clock)
        self.path = str(Path(folder) / "store.db")
        self.open()
        self.assertTrue(self.store.sync().ok)

    def at_every_step(self, prepare: Callable[[], None], decide: Callable[[], Any], check: Callable[[bool], None]) -> None:
        """Has the process end at each step of a decision, and then checks whether it was made."""
        step, was_killed = 1, True
        while was_killed:
            with self.subTest(step=step), tempfile.TemporaryDirectory() as folder:
                self.begin(folder)
                prepare()
                steps: list[str] = []

                def count(name: str) -> None:
                    steps.append(name)
                    if len(steps) >= step:
                        raise Killed()

                self.store._database.on_step = count
                try:
                    decide()
                    was_killed = False
                except Killed:
                    pass
                is_made = not was_killed or any(name.endswith(": committed") for name in steps)
                self.store._database.close()
                self.clock.advance(60)
                self.open()
                check(is_made)
                self.store.close()
            step += 1
        self.assertGreater(step, 5)

    def meet(self) -> None:
        with self.store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
        record = self.server.get("shoppers", 123)
        assert record is not None
        record["customer"]["firstName"] = "Jim"
        self.server.put("shoppers", 123, record)
        self.store.sync()

    def first_name(self) -> Any:
        return self.store.record("shoppers", 123).customer.firstName

    def test_a_conflict(self) -> None:
        def check(is_made: bool) -> None:
            self.assertEqual(len(self.store.conflicts()), 0 if is_made else 1)
            self.assertEqual((self.store.status.unsent, self.first_name()), (1, "Jim") if is_made else (0, "Bob"))

        self.at_every_step(self.meet, lambda: self.store.conflicts()[0].take_theirs(), check)

    def test_an_unsent_edit(self) -> None:
        def prepare() -> None:
            with self.store.create("aisles") as aisle:
                aisle.aisle.name = "Oils"
            with self.store.edit("shoppers", 123) as s:
                s.groceries[0].aisle = aisle.id
            with self.store.edit("shoppers", 124) as s:
                s.customer.firstName = "Eve"

        def check(is_made: bool) -> None:
            self.assertEqual(self.store.status.unsent, 1 if is_made else 3)
            self.assertTrue(self.store.sync().ok)
            self.assertEqual(len(self.store.records("aisles")), 1 if is_made else 2)
            self.assertIsNone(self.store._database.value("SELECT 1 FROM ticket WHERE outcome IS NULL"))

        self.at_every_step(prepare, lambda: self.store.unsent()[0].discard(), check)

    def refuse(self) -> None:
        with self.store.edit("shoppers", 123) as s:
            s.customer.firstName = "Bob"
            s.customer.lastName = "Moore"
        self.server.reply(Reply.problem(400, "invalid-value", path="pushes[0].edits[0].changeset.customer.firstName.new"))
        self.server.reply(Reply.problem(400, "invalid-value", path="pushes[0].edits[0].changeset.customer.firstName.new"))
        self.store.sync()
        self.assertEqual(self.store.refused_edits()[0].faulty, ("customer.firstName",))

    def test_a_refused_edit_that_is_sent_in_part(self) -> None:
        def decide() -> None:
            (entry,) = self.store.refused_edits()
            entry.resend(without=entry.faulty)

        def check(is_made: bool) -> None:
            (entry,) = self.store.refused_edits()
            self.assertEqual(len(entry.edits[0].changeset["customer"]), 1 if is_made else 2)
            self.assertEqual(self.store.status.unsent, 1 if is_made else 0)
            self.assertEqual(self.first_name(), "Joe")

        self.at_every_step(self.refuse, decide, check)

    def test_a_refused_edit_that_is_restored(self) -> None:
        def decide() -> None:
            form = self.store.refused_edits()[0].restore()
            form.record.customer.firstName = "Bo"
            form.save()

        def check(is_made: bool) -> None:
            self.assertEqual(len(self.store.refused_edits()), 0 if is_made else 1)
            self.assertEqual((self.store.status.unsent, self.first_name()), (1, "Bo") if is_made else (0, "Joe"))

        self.at_every_step(self.refuse, decide, check)


class DiscardWalks(unittest.TestCase):
    def test_walks(self) -> None:
        """Edits, some of which are discarded before they are sent: the server has the sum of the others."""
        for seed in seeds(100):
            with self.subTest(seed=seed):
                self.walk(random.Random(seed))

    def walk(self, dice: random.Random) -> None:
        clock = ManualClock()
        server = gateway(clock)
        store = memory_store(server, clock=clock, seed=1)
        store.sync()
        tickets: list[tuple[Any, dict[int, int]]] = []
        for _ in range(25):
            act = dice.choice(["edit", "edit", "both", "both", "discard", "sync", "others", "lose"])
            if act in ("edit", "both"):
                amounts = {one: dice.randint(1, 9) for one in ([123, 124] if act == "both" else [dice.choice([123, 124])])}
                with store.transaction() as t:
                    for one, amount in amounts.items():
                        t.edit("shoppers", one).customer.points += amount
                tickets.append((t.ticket, amounts))
            elif act == "discard":
                waiting = store.unsent()
                if waiting:
                    try:
                        dice.choice(waiting).discard()
                    except fieldmerge.NotPossible as error:
                        self.assertEqual(error.code, "sending")
            elif act == "others":
                record = server.get("shoppers", 123)
                assert record is not None
                record["customer"]["points"] += 1000
                server.put("shoppers", 123, record)
            elif act == "lose":
                server.lose_answer()
            else:
                store.sync()
                clock.advance(400)
        server._script.clear()
        self.assertTrue(store.sync().ok)
        for one in (123, 124):
            kept = [amounts.get(one, 0) for ticket, amounts in tickets if ticket.outcome(0).status == "merged"]
            held = server.get("shoppers", one)
            assert held is not None
            self.assertEqual(held["customer"]["points"] % 1000, 5 + sum(kept))
            self.assertEqual(store.record("shoppers", one), held)
        store.close()


if __name__ == "__main__":
    unittest.main()
