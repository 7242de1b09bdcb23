"""Makes a failing history shorter: rounds, clients, events and edits are left out."""

import copy
import time

from contract import schema
from contract.smaller import smaller as smaller_bodies


def smaller(history: dict):
    """Each history with one part left out, the largest parts first."""
    rounds = history["rounds"]
    for index in range(len(history.get("scenes", []))):
        yield changed(history, lambda h: h["scenes"].pop(index))
    if len(rounds) > (0 if history.get("scenes") else 1):
        for index in range(len(rounds)):
            yield changed(history, lambda h: h["rounds"].pop(index))
    for name in history["clients"] if len(history["clients"]) > 1 else []:
        yield changed(history, lambda h: remove_client(h, name))
    for index, events in enumerate(rounds):
        lists = [("chaos",), ("judged",)] + [("clients", name) for name in events["clients"] if name in history["clients"]]
        for path in lists:
            count = len(follow(events, path))
            size = count
            while size:
                for begin in range(0, count, size):
                    yield changed(history, lambda h: follow(h["rounds"][index], path).__delitem__(slice(begin, begin + size)))
                size //= 2
        for path in lists:
            for place, event in enumerate(follow(events, path)):
                for number in range(len(event.get("edits", []))) if len(event.get("edits", [])) > 1 else []:
                    yield changed(history, lambda h: follow(h["rounds"][index], path)[place]["edits"].pop(number))
                for body in smaller_bodies(event["push"], schema.resources(history["world"]["contract"])) if "push" in event else []:
                    yield changed(history, lambda h: follow(h["rounds"][index], path)[place].update(push=body))


def remove_client(history: dict, name: str) -> None:
    history["clients"].remove(name)
    for events in history["rounds"]:
        events["clients"].pop(name, None)


def follow(events: dict, path: tuple) -> list:
    for name in path:
        events = events[name]
    return events


def changed(history: dict, change) -> dict:
    less = copy.deepcopy(history)
    change(less)
    return less


def with_one_push(history: dict, judged: dict) -> dict:
    """Only the push that differs from the model, with the rows before it."""
    return dict(history, clients=[], rounds=[{"clients": {}, "chaos": [], "judged": [judged], "restore": ""}])


def shrink(history: dict, fails, seconds: float) -> dict:
    """`fails` runs a history, several times if clients run at once."""
    end, found = time.monotonic() + seconds, True
    while found:
        found = False
        for less in smaller(history):
            if time.monotonic() > end:
                return history
            if fails(less):
                history, found = less, True
                break
    return history
