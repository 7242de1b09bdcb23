"""A copy of the records on one client, which follows the feed."""

import json
import time

from turns import at_once


class Replica:
    """Its methods are steps of an event (turns.py)."""

    def __init__(self, caller):
        self.caller = caller
        self.records, self.feed, self.revision = {}, None, None
        # A test of the checks: the next change that alters a record is dropped.
        self.drops = False

    def follow(self, gateway: int, mode: str = "changes", loses: bool = False, limit: int = 500):
        """True if the replica now contains all changes that the gateway had."""
        if self.feed is None or mode == "snapshot":
            return (yield from self.snapshot(gateway))
        if mode == "events":
            return (yield from self.read_events(gateway, limit))
        if loses:
            yield from self.caller.call_and_lose(
                gateway, "GET", f"/v1/changes?since={self.revision}&feed={self.feed}&limit={limit}")
        while True:
            status, text = yield from self.caller.call(
                gateway, "GET", f"/v1/changes?since={self.revision}&feed={self.feed}&limit={limit}")
            if status == 410:
                return (yield from self.snapshot(gateway))
            if status != 200:
                return False
            page = json.loads(text)
            self.store(page)
            if not page["more"]:
                return True
            yield None

    def read_events(self, gateway: int, limit: int):
        events = yield from self.caller.events(gateway, f"/v1/changes?limit={limit}", f"{self.feed}:{self.revision}")
        for name, data in events:
            if name == "resync":
                return (yield from self.snapshot(gateway))
            if name == "changes":
                self.store(data)
        return True

    def snapshot(self, gateway: int):
        status, text = yield from self.caller.call(gateway, "GET", "/v1/snapshot")
        lines = [json.loads(line) for line in text.splitlines() if line] if status == 200 else []
        if not lines or "end" not in lines[-1]:
            return False
        head = lines[0]["snapshot"]
        self.records = {(line["resource"], key_of(line["id"])): line["record"] for line in lines if "resource" in line}
        self.feed, self.revision = head["feed"], head["revision"]
        return True

    def store(self, page: dict) -> None:
        for change in page["changes"]:
            name = change["resource"], key_of(change["id"])
            if self.drops and "problem" not in change and self.records.get(name) != change["record"]:
                self.drops = False
                continue
            if change["record"] is None and "problem" not in change:
                self.records.pop(name, None)
            elif change["record"] is not None:
                self.records[name] = change["record"]
        self.feed, self.revision = page["feed"], page["revision"]

    def differences(self, expected: dict) -> list:
        found = []
        for name in sorted(set(expected) | set(self.records), key=str):
            mine, other = self.records.get(name), expected.get(name)
            if mine != other:
                found.append(f"{name[0]} {name[1]}: the replica has {json.dumps(mine)}, the database {json.dumps(other)}")
        return found


def key_of(id):
    """An id as a part of a dictionary's key."""
    return tuple(id) if isinstance(id, list) else id


def settle(replicas: dict, expected: dict, gateways: int, seconds: float) -> dict:
    """Follows until each copy equals the database, and returns the differences at the deadline."""
    end, turn, left = time.monotonic() + seconds, 0, dict(replicas)
    while left:
        for name, replica in list(left.items()):
            if at_once(replica.follow(turn % gateways)) and not replica.differences(expected[name]):
                del left[name]
        turn += 1
        if not left or time.monotonic() > end:
            break
        time.sleep(0.2)
    return {name: replica.differences(expected[name]) for name, replica in left.items()}
