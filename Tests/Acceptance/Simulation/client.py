"""One client: it runs its events one after the other and sends each push until it has a final answer."""

import json
import re
import time
import traceback

from faults import code_of
from ledger import WRITTEN
from pushing import Push
from replica import Replica, key_of
from wire import Caller
from world import SECTION_TABLE

PATIENCE = 60
REFUSED = (400, 403, 404, 409, 413, 422)


class Client:
    def __init__(self, place, settings: dict, ledger, faults):
        self.place, self.settings, self.ledger, self.faults = place, settings, ledger, faults
        self.caller = Caller(place, settings, faults)
        self.replica = Replica(self.caller)
        self.name = settings["name"]
        self.answers = []
        self.pushes = 0
        # For tests of the checks: SQL reverts the next acknowledged push.
        self.undoes = False

    def start(self, event: dict):
        """The event as steps (turns.py)."""
        try:
            yield from getattr(self, event["do"])(event)
        except Exception:  # reported as a fault of the history
            self.faults.add("crash", f"{self.name}, {event}: {traceback.format_exc(limit=-3)[:1500]}")

    # MARK: Events

    def follow(self, event: dict):
        yield from self.replica.follow(event["gateway"], event["mode"], event["loses"], event["limit"])

    def read(self, event: dict):
        keys = sorted(key for name, key in self.replica.records if name == event["resource"]) or [1]
        key = keys[int(event["pick"] * len(keys))]
        status, text = yield from self.caller.call(event["gateway"], "GET", f"/v1/records/{event['resource']}/{key}")
        if status == 200 and json.loads(text)["id"] != key:
            self.faults.add("read", f"GET of {event['resource']} {key} returned {text[:300]}")

    def push(self, event: dict):
        yield from self.push_with(self.caller, event)

    def burst(self, event: dict):
        """Many pushes at once, each through a separate connection."""
        callers = [Caller(self.place, self.settings, self.faults) for _ in event["pushes"]]
        steps = [self.push_with(caller, push) for caller, push in zip(callers, event["pushes"])]
        for each in steps:
            next(each, None)
        yield None
        for each in steps:
            yield from each
        for caller in callers:
            caller.close()

    def push_with(self, caller, event: dict):
        push = Push(self.place.world, self.settings, event, self.replica)
        if event["preview"]:
            status, text = yield from caller.call(event["gateway"], "POST", "/v1/push?preview=true", push.body)
            self.faults.count(f"preview {status}")
            push.refuse_all(self.ledger, "a preview")
            return
        self.pushes += 1
        start = time.monotonic()
        for _ in range(event["loses"]):
            yield from caller.call_and_lose(event["gateway"], "POST", "/v1/push", push.body)
        # Another address is another push, so a push whose answer was lost keeps its address.
        is_sync = event["via"] == "sync" and not event["loses"]
        status, answer, text = yield from self.send(caller, event["gateway"], push.body, is_sync)
        self.enter(push, status, answer, text, start, time.monotonic())
        if event["again"] and status and not is_sync:
            yield from self.send_again(caller, event, push, status, text)

    def send(self, caller, gateway: int, body: dict, is_sync: bool):
        """Sends a push until its answer is final."""
        end = time.monotonic() + PATIENCE
        while True:
            if is_sync:
                status, answer, text = yield from self.sync(caller, gateway, body)
            else:
                status, text = yield from caller.call(gateway, "POST", "/v1/push", body)
                answer = json.loads(text) if status else {}
            self.faults.count(f"{status} {code_of(text)}" if status not in (200, 0) else str(status))
            if status in (200, 207):
                return status, answer, text
            if status in REFUSED and code_of(text) != "in-progress":
                return status, answer, text
            if time.monotonic() > end:
                self.faults.add("no-answer", f"{self.name}: {body['key']} had no final answer within {PATIENCE} s; "
                                             f"the last was {status} {text[:400]}")
                return 0, {}, ""
            gateway += status == 0
            yield None

    def sync(self, caller, gateway: int, body: dict):
        replica = self.replica
        whole = {"pushes": [body]}
        if replica.feed:
            whole |= {"feed": replica.feed, "since": replica.revision}
        status, text = yield from caller.call(gateway, "POST", "/v1/sync", whole)
        if status not in (200, 207):
            return status, {}, text
        answer = json.loads(text)
        if answer.get("changes") is not None and replica.feed and whole.get("since") == replica.revision:
            replica.store(answer)
        result = answer["results"][0]
        return result["code"], result, json.dumps(result.get("problem") or result)

    def enter(self, push: Push, status: int, answer: dict, text: str, start: float, end: float) -> None:
        if status in (200, 207):
            push.enter(self.ledger, answer, start, end, self.faults)
            if answer["status"] == "merged":
                self.answers.append((push, answer))
            for index, result in enumerate(answer["results"]):
                if any(o["outcome"] in (*WRITTEN, "deleted") for o in result["outcomes"]):
                    if result.get("status", answer["status"]) == "merged":
                        self.ledger.journalled[self.name, push.body["key"]] = f"{push.body['key']}, edit {index}"
            if self.undoes:
                self.take_back(push, answer)
        elif status:
            push.refuse_all(self.ledger, f"{status} {code_of(text)}")
            if status in (400, 403) and not self.is_outside_rows(push, text) or code_of(text) in ("key-reused", "unexpected-error", "unauthorized"):
                self.faults.add("unexpected", f"{self.name}: {json.dumps(push.body)} was answered {status} {text[:1500]}")

    def is_outside_rows(self, push: Push, text: str) -> bool:
        """True if a part would be moved to a good that the client may not read."""
        return code_of(text) == "outside-rows" and self.place.world["referred"] and any(
            edit["resource"] == "parts" for edit in push.body["edits"])

    def take_back(self, push: Push, answer: dict) -> None:
        for index, result in enumerate(answer["results"]):
            for outcome in result["outcomes"]:
                if outcome.get("group") == "n" and outcome["section"] in ("good", "item") and outcome["outcome"] in ("applied", "combined"):
                    delta = push.meant[index][outcome["section"], "delta"]
                    self.place.engine.write(f"UPDATE goods SET n = n - {delta} WHERE id = {result['id']}")
                    self.undoes = False
                    return

    def send_again(self, caller, event: dict, push: Push, status: int, text: str):
        """The same key and body, through any gateway, have the same answer."""
        again, _, other = yield from self.send(caller, event["gateway"] + 1, push.body, False)
        if not again:
            return
        if self.place.tokens.has_changed(self.name):
            # Values that the client may not read any more are removed from a stored answer.
            text = other = json.dumps({"status": json.loads(other).get("status")})
        if "hmac-sha256:" in json.dumps([result.get("record") for result in results_of(other)]):
            self.faults.add("digest", f"{self.name}, {push.body['key']}: a stored answer has a digest for a private value: {other[:900]}")
        if again != status or without_request(other) != without_request(text):
            begin = next((i for i, pair in enumerate(zip(text, other)) if pair[0] != pair[1]), 0)
            self.faults.add("other-answer", f"{self.name}, {push.body['key']}: first {status} …{text[max(0, begin - 300):begin + 300]}; "
                                            f"then {again} …{other[max(0, begin - 300):begin + 300]}")

    def undo(self, event: dict):
        answers = [(push, answer) for push, answer in self.answers if len(answer["results"]) == 1 and push.body["key"]]
        if not answers:
            return
        push, answer = answers[int(event["pick"] * len(answers))]
        result = answer["results"][0]
        status, text = yield from self.caller.call(
            event["gateway"], "GET", f"/v1/journal?resource={result['resource']}&id={result['id']}&limit=1000")
        if status != 200:
            return
        entry = next((e for e in json.loads(text)["entries"] if e["key"] == push.body["key"]), None)
        if entry is None:
            return
        start = time.monotonic()
        while time.monotonic() < start + PATIENCE:
            status, text = yield from self.caller.call(event["gateway"], "POST", f"/v1/journal/{entry['number']}/undo", {})
            if status and status < 500 and code_of(text) != "in-progress":
                break
            yield None
        self.faults.count(f"undo {status} {code_of(text) if status != 200 else ''}")
        if status == 200:
            self.answers.remove((push, answer))
            self.enter_undo(push, entry, json.loads(text), start, time.monotonic())

    def enter_undo(self, push: Push, entry: dict, answer: dict, start: float, end: float) -> None:
        before = {(o["section"], o.get("group"), o.get("id")): o for o in entry["outcomes"]}
        for outcome in answer["outcomes"]:
            section, group, word = outcome["section"], outcome.get("group"), outcome["outcome"]
            table = SECTION_TABLE[section]
            key = outcome.get("id", answer["id"]) if section == "parts" else answer["id"]
            was = before.get((section, group, outcome.get("id")))
            if word not in (*WRITTEN, "deleted"):
                continue
            if group is None or was is None:
                self.ledger.delete(table, key, start, end)
                self.ledger.restore(table, key, start, end)
                if table == "goods":
                    self.ledger.lost_goods[key] = (start, end)
            elif word == "client-won":
                self.faults.add("undo", f"an undo of {push.body['key']} replaced a later write: {outcome}")
            elif word in ("applied", "combined"):
                if group == "n":
                    self.ledger.add(table, key, int(was["current"]) - int(was["written"]))
                elif group in ("label", "note", "name"):
                    self.ledger.write(table, key, group, was["current"], start, end)
                elif group == "tags":
                    self.ledger.tags.get(key, set()).clear()
                elif group == "high":
                    self.ledger.highs.pop(key, None)


def results_of(text: str) -> list:
    """The results of an answer; none if it has no result."""
    return json.loads(text).get("results") or []


def without_request(text: str) -> dict:
    """The answer without the id of its request and without private values, of which a stored answer has digests.

    Goods have a private field, so a stored answer contains the good as it is now.
    """
    body = json.loads(re.sub(r"hmac-sha256:\w+|PIN-\w+", "", text))
    body.pop("instance", None)
    for result in body.get("results") or []:
        if result["resource"] == "goods":
            result.pop("record", None)
    return body
