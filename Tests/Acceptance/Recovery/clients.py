"""Clients with replicas: one over plain HTTP, one with the library for Python, and the list of all pushes."""

import json
import time
from collections import Counter
from datetime import datetime, timezone

import fieldmerge
from fieldmerge.transport import HTTPTransport
from processes import BenchmarkError


class Told(Exception):
    """An answer that ends a push without a merge."""

    def __init__(self, code: str):
        self.code = code


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Follower:
    """A client over plain HTTP: a copy that reads a snapshot and then follows the changes."""

    def __init__(self, scene):
        self.scene = scene
        self.replica, self.feed, self.revision = {}, None, None
        self.told = Counter()
        self.snapshot()

    def snapshot(self) -> None:
        def complete():
            status, text = self.scene.get("/v1/snapshot")
            lines = [json.loads(line) for line in text.splitlines() if line] if status == 200 else []
            return lines if lines and "end" in lines[-1] else None

        lines = self.scene.wait_until("a snapshot", complete)
        self.feed, self.revision = lines[0]["snapshot"]["feed"], lines[0]["snapshot"]["revision"]
        self.replica = {}
        for line in lines:
            if "record" in line:
                self.store(line)

    def store(self, change: dict) -> None:
        record = change["record"]
        if record is None:
            self.replica.pop(change["id"], None)
        else:
            article = record["article"]
            self.replica[change["id"]] = (article["name"], article["note"], article["stock"])

    def follow(self) -> None:
        """Reads the changes that there are now."""
        while True:
            status, text = self.scene.get(f"/v1/changes?since={self.revision}&feed={self.feed}")
            if status == 410:
                self.told["resync"] += 1
                return self.snapshot()
            if status != 200:
                return
            page = json.loads(text)
            for change in page["changes"]:
                self.store(change)
            self.feed, self.revision = page["feed"], page["revision"]
            if not page["more"]:
                return


class LosingTransport(HTTPTransport):
    """The network, which loses the answers to pushes while this is set."""

    loses = False

    def send(self, request):
        response = super().send(request)
        if self.loses and b'"pushes"' in (request.body or b""):
            for _ in response.parts():
                pass
            raise OSError("the answer was lost")
        return response


class Device:
    """A client with the library for Python, whose store is a file."""

    def __init__(self, scene, name: str):
        self.name = name
        url = f"http://127.0.0.1:{scene.port}"
        self.transport = LosingTransport(url)
        self.store = fieldmerge.open(
            str(scene.folder / f"{name}.db"), server=url, user=name, token=scene.token, resources=["articles"],
            transport=self.transport)
        self.scene = scene
        self.told = Counter()
        self.tickets = {}
        self.sync()

    def sync(self) -> None:
        def is_done():
            report = self.store.sync()
            return report.ok and report.unsent == 0

        self.scene.wait_until(f"the device “{self.name}” has synced", is_done)

    def send_and_lose(self) -> None:
        """Sends the edits. The gateway merges them, and the answer is lost."""
        self.transport.loses = True
        self.store.sync()
        self.transport.loses = False

    @property
    def replica(self) -> dict:
        records = self.store.records("articles")
        return {record.id: (record.article.name, record.article.note, record.article.stock) for record in records}

    def add(self, row: int, delta: int = 1) -> None:
        with self.store.edit("articles", row) as edit:
            edit.article.stock = edit.article.stock + delta
        self.tickets[("add", row)] = edit.ticket

    def note(self, row: int, text: str) -> None:
        with self.store.edit("articles", row) as edit:
            edit.article.note = text
        self.tickets[("note", row, text)] = edit.ticket

    def create(self, name: str) -> None:
        with self.store.create("articles") as edit:
            edit.article.update(name=name, stock=1)
        self.tickets[("create", name)] = edit.ticket

    def outcomes(self) -> dict:
        """The outcome of each edit that the library reports."""
        found = {}
        for edit, ticket in self.tickets.items():
            outcome = ticket.outcome(0)
            problem = outcome.problem or {}
            found[edit] = (outcome.status, problem.get("reason") or problem.get("code"), len(outcome.conflicts))
            self.told[f"{outcome.status} {found[edit][1] or ''}".strip()] += 1
        return found


class Push:
    """A push over plain HTTP, with its key, its bytes, and its known outcome."""

    def __init__(self, kind: str, row, edits: list, feed: str, key: str):
        self.kind, self.row, self.key = kind, row, key
        self.body = json.dumps({"key": key, "feed": feed, "sent": now(), "edits": edits}).encode()
        self.is_acknowledged = False
        self.code = None
        self.id = row
        self.phase = ""


class Ledger:
    """All pushes over plain HTTP. Each writes a different row, so that each can be found in the data."""

    def __init__(self, scene):
        self.scene = scene
        self.pushes = []
        self.phase = "before"
        self.next_row = 21
        self.feed = None

    def row(self) -> int:
        self.next_row += 1
        return self.next_row - 1

    def refresh(self) -> None:
        self.feed = json.loads(self.scene.get("/v1/changes")[1])["feed"]

    def make(self, kind: str) -> Push:
        key = f"{self.phase}-{len(self.pushes)}"
        row = None if kind == "create" else self.row()
        # A base that is in no row, so that a repeated addition is detected.
        add = {"stock": {"old": -1000, "new": -999}}
        if kind == "create":
            edits = [{"resource": "articles", "id": "tmp:a", "changeset": {
                "article": {"old": None, "new": {"name": key, "note": "", "stock": 1}}}}]
        elif kind == "note":
            edits = [{"resource": "articles", "id": row, "changeset": {"article": {"note": {"old": "", "new": key}}}}]
        else:
            edits = [{"resource": "articles", "id": row, "changeset": {"article": add}}]
            if kind == "shared":
                edits.append({"resource": "articles", "id": 1 + row % 5, "changeset": {"article": add}})
        push = Push(kind, row, edits, self.feed, key)
        push.phase = self.phase
        self.pushes.append(push)
        return push

    def send(self, push: Push, seconds: float = 60) -> str:
        """Sends a push until its answer is final, and returns its code: `merged`, or that of the problem."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            status, text = self.scene.request("POST", "/v1/push", push.body)
            if status == 0:
                time.sleep(0.1)
                continue
            answer = json.loads(text)
            problem = answer if "code" in answer else next(
                (result["problem"] for result in answer.get("results", []) if "problem" in result), {})
            if problem.get("retry"):
                push.code = problem["code"]
                time.sleep(0.1)
                continue
            push.code = "merged" if status == 200 else problem.get("code", str(status))
            if status == 200:
                push.is_acknowledged = True
                if push.kind == "create":
                    push.id = answer["results"][0]["id"]
                    if isinstance(push.id, str):
                        push.id = answer["results"][0]["ids"][push.id]
            return push.code
        raise BenchmarkError(f"a push was never answered: {push.key}, {push.code}")

    def work(self, count: int) -> None:
        """Sends pushes of all kinds, each until it is merged."""
        self.refresh()
        for number in range(count):
            push = self.make(("add", "note", "shared", "create", "add")[number % 5])
            code = self.send(push)
            if code != "merged":
                raise BenchmarkError(f"a push was not merged: {push.key}, {code}")

    def times(self, push: Push, rows: dict) -> int:
        """How often the data contain the push."""
        if push.kind == "create":
            return sum(1 for row in rows.values() if row[0] == push.key)
        if push.kind == "note":
            return 1 if rows.get(push.row, ("", "", 0))[1] == push.key else 0
        return rows[push.row][2] - 100
