"""Makes a failing history shorter: rounds first, then clients, events and edits are left out."""

import copy
import time


def smaller(history: dict):
    """Each history with one part left out, the largest parts first."""
    rounds = history["rounds"]
    if len(rounds) > 1:
        for index in range(len(rounds)):
            yield changed(history, lambda h: h["rounds"].pop(index))
    for name in history["clients"] if len(history["clients"]) > 1 else []:
        yield changed(history, lambda h: remove_client(h, name))
    for index, events in enumerate(rounds):
        lists = [("chaos",)] + [("clients", name) for name in events["clients"] if name in history["clients"]]
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


def shrink(history: dict, fails, seconds: float) -> dict:
    """`fails` runs a history. Since clients run at once, a history counts as failing if one of a few runs fails."""
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
