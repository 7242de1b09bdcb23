"""The shared cases of all clients: stored data, requests and reports."""

from __future__ import annotations

import copy
import json
import queue
import re
import tempfile
import threading
import unittest
import urllib.parse
from pathlib import Path
from typing import Any

from support import cases

import fieldmerge
from fieldmerge.testing import Held, ManualClock, ScriptedServer, memory_store
from fieldmerge.testing.scripted import Reply
from fieldmerge.transport import Request

MODEL = cases("model.json")


class Device:
    """A store, the server that delays its requests, and the names of values in a case."""

    def __init__(
        self, test: unittest.TestCase, case: dict[str, Any], folder: str, *, model: Any = MODEL, **options: Any
    ) -> None:
        self.test = test
        self.options = options
        self.path = str(Path(folder) / "store.db")
        self.clock = ManualClock()
        self.rules = copy.deepcopy(model["rules"])
        self.snapshot = copy.deepcopy(case.get("base", model["base"]))
        self.feed, self.revision = "f1", 1
        self.has_subset, self.keep = "keep" in case, case.get("keep")
        self.filter: Any = None
        self.difference: dict[str, Any] | None = None
        self.faults: list[str] = []
        self.is_offline = False
        self.names: dict[str, Any] = {}
        self.tickets: dict[str, Any] = {}
        self.bytes: dict[str, bytes] = {}
        self.events: list[tuple[str, Any]] = []
        self.last_events: list[tuple[str, Any]] = []
        self.kept: dict[str, Any] = {}
        self.forms: dict[str, Any] = {}
        self.held: Held | None = None
        self.last_push: bytes = b""
        self.syncing: threading.Thread | None = None
        self.open()
        self.sync()
        self.settle()
        self.quiet()
        self.test.assertEqual(self.store.status.phase, "idle")

    def open(self) -> None:
        self.server = ScriptedServer(self.serve, clock=self.clock)
        self.server.hold(lambda request: request.path.startswith("/v1/sync") or request.path.startswith("/v1/changes"))
        options = {**self.options, **({"keep": self.keep} if self.keep else {})}
        self.store = memory_store(self.server, path=self.path, clock=self.clock, token=lambda: "t", **options)
        with self.store._database.lock:
            self.store._database._connection.execute("PRAGMA synchronous = OFF")
        self.ends = []
        for kind in ("conflict", "overtaken", "refused", "gone"):
            register = getattr(self.store, f"on_{kind}")
            self.ends.append(register(lambda event, kind=kind: self.events.append((kind, event))))

    def serve(self, request: Request) -> Reply:
        if request.path.startswith("/v1/rules"):
            return Reply.of(self.rules)
        if request.path.startswith("/v1/snapshot") and self.is_offline:
            raise OSError("no network")
        if request.path.startswith("/v1/snapshot"):
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(request.path).query)
            if "unless" in query:
                return self.serve_difference(query)
            self.agree(_filter_in(query), _filter_of(self.keep))
            self.filter = _filter_of(self.keep)
            wanted = query["resources"][0].split(",") if "resources" in query else None
            told = [one for one in self.snapshot if wanted is None or one["resource"] in wanted]
            head = {"feed": self.feed, "revision": self.revision, "rules": self.rules["version"]}
            lines = [{"snapshot": {**head, "resources": [], "records": len(told)}}, *told]
            lines.append({"end": {"records": len(told)}})
            return Reply(200, "".join(json.dumps(line) + "\n" for line in lines).encode())
        return Reply.problem(404, "no-such-address")

    def serve_difference(self, query: dict[str, list[str]]) -> Reply:
        """Answers a request for the difference of two filters by the last step. Without a step the connection
        breaks."""
        told = self.difference
        if told is None:
            raise OSError("no network")
        self.difference = told.get("then")
        subset = _filter_of(told["keep"] if "keep" in told else self.keep)
        self.agree(query["unless"][0], f"{self.feed}:{self.revision}")
        self.agree(_filter_in(query), subset)
        self.agree(query.get("after", [None])[0], told.get("after"))
        if "status" in told:
            if "snapshot" in told:
                self.snapshot, self.feed = told["snapshot"], told["feed"]
            return Reply.problem(told["status"], told["code"])
        head = {"feed": told["feed"], "revision": self.revision, "rules": self.rules["version"], "records": None}
        lines = [{"snapshot": {**head, "resources": []}}, *told["lines"]]
        if "cursor" in told:
            lines.append({"cursor": told["cursor"]})
        else:
            lines.append({"end": {"records": len(told["lines"])}})
            self.filter, self.feed = subset, told["feed"]
        return Reply(200, "".join(json.dumps(line) + "\n" for line in lines).encode())

    def agree(self, found: Any, expected: Any) -> None:
        """Notes a fault if a request that the server answers by itself is not as expected."""
        if found != expected:
            self.faults.append(f"found {found}, expected {expected}")

    def check_filter(self, request: Request) -> None:
        """Compares the filter of a request for changes with that of the feed."""
        if request.path.startswith("/v1/changes"):
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(request.path).query)
            self.test.assertEqual(_filter_in(query), self.filter)
        self.test.assertEqual(self.faults, [])

    def do_difference(self, step: dict[str, Any]) -> None:
        self.difference = step
        self.sync()
        self.settle()
        self.quiet()
        self.test.assertIsNone(self.difference, "the difference was not requested")
        self.test.assertEqual(self.faults, [])

    # Placeholders

    def known(self, value: Any) -> Any:
        """A value with the names that are bound replaced."""
        if isinstance(value, str) and value.startswith("$"):
            return self.names.get(value, value)
        if isinstance(value, dict):
            return {self.known(name): self.known(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.known(one) for one in value]
        return value

    def matches(self, expected: Any, found: Any, *, exact: bool) -> bool:
        """Whether a value is as expected. Binds names at their first use."""
        if isinstance(expected, str) and expected.startswith("$"):
            if expected in self.names:
                return bool(self.names[expected] == found)
            self.names[expected] = found
            return True
        if isinstance(expected, dict) and isinstance(found, dict):
            if exact and len(expected) != len(found):
                return False
            return all(name in found and self.matches(one, found[name], exact=exact) for name, one in expected.items())
        if isinstance(expected, list) and isinstance(found, list):
            if len(expected) != len(found):
                return False
            return all(self.matches(one, other, exact=exact) for one, other in zip(expected, found))
        return type(expected) is type(found) and bool(expected == found)

    def expect(self, expected: Any, found: Any, *, exact: bool = False) -> None:
        plain = json.loads(json.dumps(found))
        self.test.assertTrue(self.matches(expected, plain, exact=exact), f"\nexpected {expected}\nfound    {plain}")

    # Requests

    def sync(self) -> None:
        if self.syncing is None or not self.syncing.is_alive():
            self.syncing = threading.Thread(target=self.sync_until_killed, daemon=True)
            self.syncing.start()

    def sync_until_killed(self) -> None:
        try:
            self.store.sync()
        except Killed:
            pass

    def next(self) -> Held:
        if self.held is None:
            self.sync()
            self.held = self.server.next_held(5)
        return self.held

    def settle(self) -> None:
        """Waits until sync() is over, or has sent its next request."""
        assert self.syncing is not None
        self.held = None
        while self.syncing.is_alive():
            try:
                self.held = self.server.next_held(0.01)
                return
            except queue.Empty:
                self.syncing.join(0.001)
        try:
            self.held = self.server.next_held(0)
        except queue.Empty:
            pass

    def quiet(self) -> None:
        """Answers an open pull without changes, so that the sync ends."""
        while self.held is not None and self.held.request.path.startswith("/v1/changes"):
            self.held.answer(self.page([]))
            self.settle()

    def page(self, changes: Any) -> dict[str, Any]:
        return {
            "feed": self.feed, "revision": self.revision, "more": False, "rules": self.rules["version"],
            "changes": changes,
        }  # fmt: skip

    # Steps

    def run(self, step: dict[str, Any]) -> None:
        getattr(self, f"do_{_snake(step['do'])}")(step)

    def do_edit(self, step: dict[str, Any]) -> None:
        with self.failing(step):
            base = self.kept[step["base"]] if "base" in step else None
            with self.store.edit(step["resource"], self.known(step["id"]), base=base) as record:
                self.change(record, step)
            self.note(step, record.ticket)

    def do_create(self, step: dict[str, Any]) -> None:
        own = None if str(step["id"]).startswith("$") else step["id"]
        with self.failing(step):
            with self.store.create(step["resource"], own) as record:
                self.change(record, step)
            self.expect(step["id"], record.ticket.id)
            self.note(step, record.ticket)

    def do_keep(self, step: dict[str, Any]) -> None:
        self.kept[step["as"]] = self.store.record(step["resource"], self.known(step["id"]))

    def do_draft(self, step: dict[str, Any]) -> None:
        self.forms[step["as"]] = self.store.draft(step["resource"], self.known(step["id"]))

    def do_type(self, step: dict[str, Any]) -> None:
        self.change(self.forms[step["draft"]].record, step)

    def do_save(self, step: dict[str, Any]) -> None:
        with self.failing(step):
            self.note(step, self.forms[step["draft"]].save())

    def do_close(self, step: dict[str, Any]) -> None:
        self.forms[step["draft"]].close()

    def do_deaf(self, step: dict[str, Any]) -> None:
        for end in self.ends:
            end()

    def do_conflicts(self, step: dict[str, Any]) -> None:
        self.expect(step["entries"], [_told(entry) for entry in self.store.conflicts()])

    def do_unsent(self, step: dict[str, Any]) -> None:
        told = [{**_told(entry), "edits": [dict(vars(edit)) for edit in entry.edits]} for entry in self.store.unsent()]
        self.expect(step["entries"], told)

    def do_listed(self, step: dict[str, Any]) -> None:
        lists = {"conflicts": self.store.conflicts, "unsent": self.store.unsent, "refused": self.store.refused_edits}
        entry = lists[step["of"]]()[step["entry"]]
        named = {"without": step["without"]} if "without" in step else {}
        with self.failing(step):
            answer = getattr(entry, _snake(step["call"]))(**named)
            if step["call"] == "restore":
                self.forms[step["as"]] = answer

    def do_delete(self, step: dict[str, Any]) -> None:
        self.note(step, self.store.delete(step["resource"], self.known(step["id"])))

    def do_transaction(self, step: dict[str, Any]) -> None:
        with self.failing(step):
            with self.store.transaction(atomic=step.get("atomic")) as transaction:
                for part in step["steps"]:
                    if part["do"] == "delete":
                        transaction.delete(part["resource"], self.known(part["id"]))
                    elif part["do"] == "create":
                        record = transaction.create(part["resource"])
                        self.expect(part["id"], record.id)
                        self.change(record, part)
                    else:
                        self.change(transaction.edit(part["resource"], self.known(part["id"])), part)
            self.note(step, transaction.ticket)

    def failing(self, step: dict[str, Any]) -> Any:
        device = self

        class Failing:
            def __enter__(self) -> None:
                pass

            def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
                if "error" not in step:
                    return False
                device.test.assertIsInstance(error, fieldmerge.FieldMergeError)
                for name, value in step["error"].items():
                    found = getattr(error, {"near": "nearest"}.get(name, name))
                    device.test.assertEqual(found, value)
                return True

        return Failing()

    def change(self, record: Any, step: dict[str, Any]) -> None:
        for path, value in step.get("set", {}).items():
            *parents, last = path.split(".")
            target = record
            for part in parents:
                target = target[int(part)] if part.isdigit() else target[part]
            target[last] = self.known(value)
        for name, items in step.get("append", {}).items():
            for item in items:
                record[name].append(self.known(item))
        for name, indexes in step.get("remove", {}).items():
            for index in sorted(indexes, reverse=True):
                del record[name][index]

    def note(self, step: dict[str, Any], ticket: Any) -> None:
        if "ticket" in step:
            self.tickets[step["ticket"]] = ticket.token

    def do_send(self, step: dict[str, Any]) -> None:
        self.quiet()
        held = self.next()
        self.test.assertTrue(held.request.path.startswith("/v1/sync"), held.request.path)
        self.last_push = held.request.body or b""
        self.check_filter(held.request)
        if "since" in held.json:
            self.test.assertEqual(held.json.get("filter"), self.filter)
        found = held.json["pushes"]
        self.test.assertEqual(len(found), len(step["pushes"]), f"{found}")
        for expected, push in zip(step["pushes"], found):
            for name, value in expected.items():
                if name != "sent":
                    self.expect(_sorted(value), _sorted(push.get(name)), exact=True)
            if expected.get("sent") is False:
                self.test.assertNotIn("sent", push)
                continue
            self.test.assertRegex(push["sent"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")

    def do_answer(self, step: dict[str, Any]) -> None:
        held = self.next()
        self.is_offline = step.get("offline", False)
        self.take_rules(step)
        self.feed = step.get("feed", self.feed)
        self.revision += 1
        body = self.page(self.known(step.get("changes", [])))
        if self.has_subset and "since" not in held.json:
            self.revision -= 1  # without a stored position the client does not store changes of the answer
        self.difference = step.get("difference")
        body["results"] = self.known(step["results"])
        if "problem" in step:
            body["problem"] = step["problem"]
        whole = all(result["code"] == 200 for result in body["results"]) and body["changes"] is not None
        held.answer(body, step.get("status", 200 if whole else 207))
        self.settle()
        if "difference" in step:
            self.quiet()

    def take_rules(self, step: dict[str, Any]) -> None:
        """The rules and the records that the server has from now on."""
        if "newRules" in step:
            self.rules = _regrouped(self.rules, step["newRules"], step.get("regroup", []))
        if "resources" in step:
            others = {one["resource"]: one for one in step["resources"]}
            self.rules["resources"] = [others.get(one["resource"], one) for one in self.rules["resources"]]
        if "snapshot" in step:
            self.snapshot = self.known(step["snapshot"])

    def do_raw(self, step: dict[str, Any]) -> None:
        held = self.next()
        if step["status"] is None:
            held.break_off()
        else:
            headers = {"content-type": "application/problem+json"}
            held.reply(Reply(step["status"], step["body"].encode(), headers))
        self.settle()
        if step.get("again"):
            self.test.assertIsNotNone(self.held, "the client asks once more by itself")

    def do_pull(self, step: dict[str, Any]) -> None:
        held = self.next()
        if held.request.path.startswith("/v1/sync"):
            self.test.assertEqual(held.json.get("pushes", []), [])
        self.check_filter(held.request)
        self.revision += 1
        if step.get("resync"):
            self.feed, self.snapshot = step["feed"], self.known(step["snapshot"])
            held.reply(Reply.problem(410, "resync", feed=self.feed, earliest=1))
            return self.settle()
        self.take_rules(step)
        body = self.page(self.known(step["changes"]))
        if held.request.path.startswith("/v1/sync"):
            body["results"] = []
        held.answer(body)
        self.settle()

    def do_pulling(self, step: dict[str, Any]) -> None:
        self.test.assertTrue(self.next().request.path.startswith("/v1/changes"))

    def do_decide(self, step: dict[str, Any]) -> None:
        ended = []

        def decide(event: Any) -> None:
            ended[0]()
            if "edit" in step:
                self.run(step["edit"])
            else:
                self.test.assertTrue(getattr(event, _snake(step["call"]))())

        ended.append(getattr(self.store, f"on_{step['event']}")(decide))

    def do_read(self, step: dict[str, Any]) -> None:
        record = self.store.record(step["resource"], self.known(step["id"]))
        self.expect(step["record"], record, exact=True)

    def do_state(self, step: dict[str, Any]) -> None:
        found = self.store.state(
            step["resource"], self.known(step["id"]), step["section"], step["group"], item=self.known(step.get("item"))
        )
        self.test.assertEqual(found, step["state"])

    def do_status(self, step: dict[str, Any]) -> None:
        status = self.store.status
        for name, value in step.items():
            if name != "do":
                self.test.assertEqual(getattr(status, name), value, f"{name} of {status}")

    def do_ticket(self, step: dict[str, Any]) -> None:
        ticket = self.store.ticket(self.tickets[step["ticket"]])
        if step.get("open"):
            self.test.assertTrue(ticket.is_open)
            return
        outcome = ticket.outcome(timeout=0)
        found = {
            "status": outcome.status,
            "problem": outcome.problem,
            "record": outcome.record,
            "conflicts": [_told(conflict) for conflict in outcome.conflicts],
        }
        self.expect(step["outcome"], found)

    def do_events(self, step: dict[str, Any]) -> None:
        self.quiet()
        found = [{"event": kind, **_told(event)} for kind, event in self.events]
        self.test.assertEqual(len(found), len(step["events"]), f"{found}")
        self.expect(step["events"], found)
        self.last_events, self.events = self.events, []

    def do_take_mine(self, step: dict[str, Any]) -> None:
        self.last_events[step["event"]][1].take_mine()

    def do_keep_mine(self, step: dict[str, Any]) -> None:
        self.last_events[step["event"]][1].keep_mine()

    def do_take_theirs(self, step: dict[str, Any]) -> None:
        self.last_events[step["event"]][1].take_theirs()

    def do_refused(self, step: dict[str, Any]) -> None:
        entries = self.store.refused_edits()
        told = [{**_told(entry), "edits": [dict(vars(edit)) for edit in entry.edits]} for entry in entries]
        self.expect(step["entries"], told)

    def do_resend(self, step: dict[str, Any]) -> None:
        self.test.assertTrue(self.store.refused_edits()[step["entry"]].resend())

    def do_discard(self, step: dict[str, Any]) -> None:
        self.test.assertTrue(self.store.refused_edits()[step["entry"]].discard())

    def pushes_of_last(self) -> list[bytes]:
        text = self.last_push.decode()
        start = text.index('"pushes":[') + len('"pushes":[')
        decoder = json.JSONDecoder()
        pushes = []
        while text[start] != "]":
            _, end = decoder.raw_decode(text, start)
            pushes.append(text[start:end].encode())
            start = end + (text[end] == ",")
        return pushes

    def do_remember(self, step: dict[str, Any]) -> None:
        self.bytes[step["name"]] = self.pushes_of_last()[step["push"]]

    def do_same(self, step: dict[str, Any]) -> None:
        self.test.assertEqual(self.pushes_of_last()[step["push"]], self.bytes[step["name"]])

    def do_distinct(self, step: dict[str, Any]) -> None:
        values = [self.names[name] for name in step["names"]]
        self.test.assertEqual(len(values), len(set(map(str, values))))

    def do_restart(self, step: dict[str, Any]) -> None:
        self.is_offline = False
        self.keep = step.get("keep", self.keep)
        self.kill()
        self.clock.advance(60)
        self.open()

    def kill(self) -> None:
        """Ends the process without notice: nothing is written any more."""

        def dead(step: str) -> None:
            raise Killed()

        self.store._end_queries()
        self.store._database.on_step = dead
        self.server.abort()
        self.held = None
        if self.syncing is not None:
            self.syncing.join()
            self.syncing = None
        self.store._database.close()


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


class Killed(BaseException):
    """The end of a process."""


def _sorted(value: Any) -> Any:
    """Edits of a push with sorted items."""
    if isinstance(value, list):
        rows = [_sorted(one) for one in value]
        if all(isinstance(one, dict) and "id" in one and "changeset" not in one for one in rows):
            return sorted(rows, key=lambda one: (str(one["id"]).startswith(("tmp:", "$")), str(one["id"])))
        return rows
    if isinstance(value, dict):
        return {name: _sorted(one) for name, one in value.items()}
    return value


def _told(event: Any) -> dict[str, Any]:
    names = [name for name in event.__dataclass_fields__ if not name.startswith("_") and name not in ("edits", "draft")]
    return {name: getattr(event, name) for name in names}


def _regrouped(rules: Any, version: str, groups: Any) -> Any:
    rules = copy.deepcopy(rules)
    rules["version"] = version
    for told in groups:
        for resource in rules["resources"]:
            for section in resource["sections"]:
                if (resource["resource"], section["section"]) != (told["resource"], told["section"]):
                    continue
                fields = [
                    each for one in section["groups"] for each in one["fields"] if each["field"] in told["fields"]
                ]
                rest = [one for one in section["groups"] if one["fields"][0]["field"] not in told["fields"]]
                section["groups"] = [{"group": told["group"], "onConflict": "client-wins", "fields": fields}, *rest]
    return rules


def _filter_of(keep: Any) -> Any:
    """The filter of a subset; `None` for all records."""
    found = {resource: told["where"] for resource, told in (keep or {}).items() if told.get("where")}
    return found or None


def _filter_in(query: dict[str, list[str]]) -> Any:
    return json.loads(query["filter"][0]) if "filter" in query else None


class CaseTests(unittest.TestCase):
    """Has a test for each case, made below."""


def run_case(test: unittest.TestCase, case: dict[str, Any], kind: type[Device] = Device, **options: Any) -> None:
    """Runs the steps of a case on a new store."""
    with tempfile.TemporaryDirectory() as folder:
        device = kind(test, case, folder, **options)
        try:
            for number, step in enumerate(case["steps"]):
                try:
                    device.run(step)
                except (AssertionError, queue.Empty) as error:
                    raise AssertionError(f"step {number}, {step}: {error!r}") from error
        finally:
            device.kill()


def _make(case: dict[str, Any]) -> Any:
    return lambda self: run_case(self, case)


for _case in MODEL["cases"]:
    setattr(CaseTests, "test_" + re.sub(r"\W+", "_", _case["name"]), _make(_case))


if __name__ == "__main__":
    unittest.main()
