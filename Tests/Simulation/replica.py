"""A copy of the records on one client, which follows the feed."""

import json
import time


class Replica:
    def __init__(self, caller):
        self.caller = caller
        self.records, self.feed, self.revision = {}, None, None
        # A test of the checks: the next change is dropped.
        self.drops = False

    def follow(self, gateway: int, mode: str = "changes", loses: bool = False, limit: int = 500) -> bool:
        """True if the replica now contains all changes that the gateway had."""
        if self.feed is None or mode == "snapshot":
            return self.snapshot(gateway)
        if mode == "events":
            return self.read_events(gateway, limit)
        address = f"/v1/changes?since={self.revision}&feed={self.feed}&limit={limit}"
        if loses:
            self.caller.call_and_lose(gateway, "GET", address, None, 0.02)
        for _ in range(1000):
            status, text = self.caller.call(
                gateway, "GET", f"/v1/changes?since={self.revision}&feed={self.feed}&limit={limit}")
            if status == 410:
                return self.snapshot(gateway)
            if status != 200:
                return False
            page = json.loads(text)
            self.store(page)
            if not page["more"]:
                return True
        return False

    def read_events(self, gateway: int, limit: int) -> bool:
        for name, data in self.caller.events(gateway, f"/v1/changes?limit={limit}", f"{self.feed}:{self.revision}", 1.5):
            if name == "resync":
                return self.snapshot(gateway)
            if name == "changes":
                self.store(data)
        return True

    def snapshot(self, gateway: int) -> bool:
        status, text = self.caller.call(gateway, "GET", "/v1/snapshot")
        lines = [json.loads(line) for line in text.splitlines() if line] if status == 200 else []
        if not lines or "end" not in lines[-1]:
            return False
        head = lines[0]["snapshot"]
        self.records = {(line["resource"], line["id"]): line["record"] for line in lines if "resource" in line}
        self.feed, self.revision = head["feed"], head["revision"]
        return True

    def store(self, page: dict) -> None:
        for change in page["changes"]:
            if self.drops:
                self.drops = False
                continue
            if change["record"] is None and "problem" not in change:
                self.records.pop((change["resource"], change["id"]), None)
            elif change["record"] is not None:
                self.records[change["resource"], change["id"]] = change["record"]
        self.feed, self.revision = page["feed"], page["revision"]

    def differences(self, expected: dict) -> list:
        found = []
        for name in sorted(set(expected) | set(self.records), key=str):
            mine, other = self.records.get(name), expected.get(name)
            if mine != other:
                found.append(f"{name[0]} {name[1]}: the replica has {json.dumps(mine)}, the database {json.dumps(other)}")
        return found


def settle(replicas: dict, expected: dict, gateways: int, seconds: float) -> dict:
    """Follows until every replica equals the database, and returns what differs at the deadline."""
    end, turn, left = time.monotonic() + seconds, 0, dict(replicas)
    while left:
        for name, replica in list(left.items()):
            if replica.follow(turn % gateways) and not replica.differences(expected[name]):
                del left[name]
        turn += 1
        if not left or time.monotonic() > end:
            break
        time.sleep(0.2)
    return {name: replica.differences(expected[name]) for name, replica in left.items()}
