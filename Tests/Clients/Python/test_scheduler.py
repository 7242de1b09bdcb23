"""The scheduler against the table that all clients share."""

from __future__ import annotations

import itertools
import random
import unittest

from support import cases, seeds

from fieldmerge.scheduler import EVENTS, STATES, decide, rows

TABLE = cases("scheduler.json")


class TableTests(unittest.TestCase):
    def test_states_and_events_are_those_of_the_table(self) -> None:
        self.assertEqual(list(STATES), TABLE["states"])
        self.assertEqual(set(EVENTS), set(TABLE["events"]))

    def test_every_cell(self) -> None:
        names = list(TABLE["conditions"])
        for state, event in itertools.product(TABLE["states"], TABLE["events"]):
            expected = TABLE["table"][state][event]
            with self.subTest(state=state, event=event):
                written = [(row.state, list(row.actions), list(row.when)) for row in rows(state, event)]
                told = [(row["state"], row["actions"], row.get("when", [])) for row in expected]
                self.assertEqual(written, told)
            for values in itertools.product((False, True), repeat=len(names)):
                conditions = dict(zip(names, values))
                with self.subTest(state=state, event=event, conditions=conditions):
                    row = next(row for row in expected if all(conditions[one] for one in row.get("when", [])))
                    decided = decide(state, event, conditions)
                    self.assertEqual((decided.state, list(decided.actions)), (row["state"], row["actions"]))


class WalkTests(unittest.TestCase):
    """Random walks over a device, with random conditions and ends of its requests."""

    def test_walks(self) -> None:
        for seed in seeds(200):
            with self.subTest(seed=seed):
                self.walk(random.Random(seed))

    def walk(self, dice: random.Random) -> None:
        state, unsent, more, fresh, request, timer = "idle", 0, False, False, False, False
        last = ""
        for _ in range(300):
            event = self.next_event(dice, state, request=request, timer=timer)
            if event == "edit":
                unsent += 1
            if event == "answer.settled":
                unsent = 0 if dice.random() < 0.7 else unsent
            if event in ("answer.settled", "answer.page"):
                more = dice.random() < 0.2
            row = decide(state, event, {"unsent": unsent > 0, "more": more, "again": event == last, "fresh": fresh})
            if event.startswith("answer."):
                request, last = False, event
                fresh = fresh and event == "answer.unauthorized"
            if event == "timer":
                timer = False
            actions = list(row.actions)
            if "askToken" in actions:
                fresh = True
                row = decide(row.state, "token", {"unsent": unsent > 0, "more": more, "again": False, "fresh": True})
                actions += row.actions
            for action in actions:
                if action in ("push", "pull"):
                    self.assertFalse(request, "push and pull never overlap")
                    request = True
                    self.assertEqual(row.state, "pushing" if action == "push" else "pulling")
                elif action == "abort":
                    request = False
                elif action in ("schedule", "scheduleLong", "cancelTimer"):
                    timer = action != "cancelTimer"
                elif action == "note":
                    more = True
            state = row.state
            self.assertEqual(request, state in ("pushing", "pulling"), f"{event} to {state}")
            self.assertFalse(state == "idle" and unsent, "an unsent edit never rests in idle")
            self.assertEqual(timer, state in ("waiting", "needsAuth", "needsUpgrade"), "no state holds for ever")
        for event in ("online", "sync"):
            moved = decide(state, event, {"unsent": unsent > 0, "more": more, "again": False, "fresh": fresh})
            self.assertIn(moved.state, ("pushing", "pulling"))

    def next_event(self, dice: random.Random, state: str, *, request: bool, timer: bool) -> str:
        """A possible next event. An answer belongs to a request of its kind."""
        events = ["edit", "sync", "news", "online", "offline"]
        if timer:
            events.append("timer")
        if request:
            other = "answer.settled" if state == "pulling" else "answer.page"
            strange = (other, "answer.tooLarge", "answer.history") if state == "pulling" else (other,)
            events += [event for event in EVENTS if event.startswith("answer.") and event not in strange] * 2
        return dice.choice(events)


if __name__ == "__main__":
    unittest.main()
