"""Talks to the gateway: does what the scheduler's table says, one request at a time."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .changes import Json
from .clock import Clock
from .errors import RulesUnknown, StoreClosed
from .ids import in_url
from .model import BEAT_SECONDS, Frozen, LeaseLost, Model
from .scheduler import decide
from .tokens import TokenSource
from .transport import TIMEOUT_SECONDS, Answer, BrokenOff, Request, Response, Transport, clock_offset

log = logging.getLogger("fieldmerge")

SNAPSHOT_RECORDS_IN_A_TRANSACTION = 500
FIRST_WAIT = 1.0
LONGEST_WAIT = 300.0
CLOSE_SECONDS = 2.0

_RETRY_CODES = {"in-progress", "not-run", "busy", "over-rate", "over-journal", "unknown-outcome"}
_NOT_ABOUT_THE_PUSH = {"strange-host", "strange-origin", "malformed-request", "unknown-query", "duplicate-query"}


@dataclass
class Report:
    """What a sync has done. `phase` is where it ended; `error` and `problem` say why where that is not `idle`."""

    phase: str = "idle"
    merged: int = 0
    refused: int = 0
    conflicts: int = 0
    changes: int = 0
    unsent: int = 0
    error: str | None = None
    problem: Json | None = None

    @property
    def ok(self) -> bool:
        """Whether everything was sent, nothing was refused, and everything was read."""
        return self.phase == "idle" and self.unsent == 0 and self.refused == 0 and self.error is None


@dataclass
class Situation:
    """Where the sync stands, for the app to show."""

    phase: str = "idle"
    next_try: float | None = None
    due: float | None = None
    """When the next try is, by the clock that only grows."""
    message: str | None = None
    link: str | None = None
    problem: Json | None = None
    error: str | None = None
    extra: Json = field(default_factory=dict)


class DeadlinePassed(Exception):
    """The app wanted to be done by now."""


class _Stopped(Exception):
    """The store is closing."""


class Synchronizer:
    """Runs the scheduler's table over one store and one transport."""

    def __init__(
        self,
        model: Model,
        transport: Transport,
        tokens: TokenSource,
        *,
        clock: Clock,
        client: str | None = None,
        randomness: random.Random | None = None,
    ) -> None:
        self.model = model
        self.transport = transport
        self.tokens = tokens
        self.clock = clock
        self.situation = Situation()
        self.on_status: Callable[[], None] = lambda: None
        self.state = "idle"
        self._client = client
        self._random = randomness or random.Random()
        self._turn = threading.Lock()
        self._runner: int | None = None
        self._noted = threading.Event()
        self._is_single = False
        self._waits = 0
        self._retry_after: float | None = None
        self._last_more = False
        self._used_token = 0
        self._fresh_after: int | None = None
        self._last_answer: str | None = None
        self._is_other_history = False
        self._report = Report()
        self._deadline: float | None = None
        self._is_closing = False

    # Events

    def note(self) -> None:
        """Remembers that changes are to be asked for."""
        self._noted.set()

    def run(self, event: str, *, deadline: float | None = None) -> Report:
        """Hands an event to the table and does what follows, until nothing is under way; returns what was done.

        One thread does so at a time, others wait for it; so does one process, by a lease in the store.
        """
        if event in ("sync", "news") and self._turn.locked():
            self.note()
        if self._runner == threading.get_ident():
            # A handler of an event asks for a sync from within one.
            return self._reported(Report(phase=self.state, error="a sync is under way"))
        limit = None if deadline is None else self.clock.monotonic() + deadline
        if not self._turn.acquire(timeout=-1 if deadline is None else max(0.0, deadline)):
            return self._reported(Report(phase=self.state, error="another sync is under way"))
        try:
            self._runner = threading.get_ident()
            self._deadline = limit
            self._report = Report()
            try:
                self._run_events(event, limit)
            except (_Stopped, StoreClosed):
                self.state = "closed"
                self._report.error = "the store is closed"
            except Exception as error:
                log.exception("the sync failed; it is tried again")
                self._fail(error)
            except BaseException:
                self.state = "waiting"  # not in the middle of a request that is over
                raise
            return self._reported(self._report)
        finally:
            self._deadline = None
            self._runner = None
            self._turn.release()

    def _run_events(self, event: str, limit: float | None) -> None:
        """Hands an event and those that come of it to the table, with the lease."""
        if not self._take_lease(limit):
            self._report.error = "another process is syncing"
            return
        refused = self.model.counts()[1]
        beating = _Heartbeat(self.model)
        try:
            following: str | None = event
            while following is not None:
                following = self._handle(following)
        except LeaseLost:
            # What was answered is on the other's way too: the same bytes, the same keys.
            self._settle_into("idle")
            self._report.error = "another process has taken over"
        except DeadlinePassed:
            self._settle_into("idle")
            self._report.error = "out of time"
        finally:
            beating.stop()
            self._drop_lease()
        self._report.refused = max(self._report.refused, self.model.counts()[1] - refused)

    def _fail(self, error: Exception) -> None:
        """Waits after an exception of the store, of a callback, or of this library: the next try begins anew."""
        self._lost(f"{type(error).__name__}: {error}")
        self.state = "waiting"
        self._schedule()

    def _reported(self, report: Report) -> Report:
        report.phase = self.state
        try:
            report.unsent, _ = self.model.counts()
        except (StoreClosed, sqlite3.Error) as error:
            report.error = report.error or str(error)
        return report

    def _take_lease(self, limit: float | None) -> bool:
        pause = threading.Event()
        while not self.model.take_lease():
            if self._is_closing or limit is not None and self.clock.monotonic() >= limit:
                return False
            pause.wait(0.05)
        return True

    def _drop_lease(self) -> None:
        try:
            self.model.drop_lease()
        except StoreClosed:
            pass
        except sqlite3.Error as error:
            log.warning("the lease could not be given back: %s", error)

    def _settle_into(self, state: str) -> None:
        self.state = state
        self._tell(phase=state, next_try=None)

    def _handle(self, event: str) -> str | None:
        """Does what follows from an event; returns the event that comes of it, or nil at rest."""
        row = decide(self.state, event, self._conditions(event))
        if event.startswith("answer."):
            self._last_answer = event
            if event in ("answer.history", "answer.settled"):
                self._is_other_history = event == "answer.history"
            if event in ("answer.settled", "answer.page"):
                self._report.error = None
        self.state = row.state
        resting = row.state not in ("pulling", "pushing")
        if resting and not ("schedule" in row.actions or "scheduleLong" in row.actions):
            self._tell(phase=row.state, next_try=self.situation.next_try if row.state == "waiting" else None)
        elif not resting:
            self._tell(phase=row.state, next_try=None)
        following: str | None = None
        for action in row.actions:
            following = self._do(action) or following
            if following is not None:
                break
        return following

    def _conditions(self, event: str) -> dict[str, bool]:
        has_place = self.model.place()[0] is not None or event == "answer.page"
        return {
            "unsent": self.model.has_unsent(),
            "more": self._last_more or self._noted.is_set() or not has_place,
            "again": event == self._last_answer or event == "answer.history" and self._is_other_history,
            "fresh": self._fresh_after is not None and self._used_token >= self._fresh_after,
        }

    def _do(self, action: str) -> str | None:
        if self._is_closing:
            raise _Stopped()
        if action == "push":
            return self._guarded(self._push)
        if action == "pull":
            return self._guarded(self._pull)
        if action == "askToken":
            return self._ask_token()
        if action == "readRules":
            self.model.note(rulesDue=True)  # the next request reads them first
        elif action == "resnapshot":
            self.model.note(resnapshot=True, snapshot=None)
        elif action == "single":
            self._is_single = True
        elif action == "note":
            self.note()
        elif action == "schedule":
            self._schedule()
        elif action == "scheduleLong":
            self._wait_for(LONGEST_WAIT)
        elif action == "resetBackoff":
            self._waits = 0
        # cancelTimer and keepUp: the thread of `start()` waits by `next_try`, and listens while idle.
        # abort: `close` has broken the request off already.
        return None

    def _schedule(self) -> None:
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2**self._waits)
        self._waits = min(self._waits + 1, 20)
        wait = self._random.uniform(0, longest) if self._retry_after is None else self._retry_after
        self._retry_after = None
        self._wait_for(wait)

    def _wait_for(self, seconds: float) -> None:
        self.situation.due = self.clock.monotonic() + seconds
        self._tell(phase=self.state, next_try=self.clock.now() + seconds)

    def _tell(self, *, phase: str, next_try: float | None) -> None:
        situation = self.situation
        if phase in ("idle", "pulling", "pushing") and phase != situation.phase:
            if phase == "idle":
                situation.error = situation.problem = None
            situation.message = situation.link = None
        changed = (situation.phase, situation.next_try) != (phase, next_try)
        situation.phase, situation.next_try = phase, next_try
        if next_try is None:
            situation.due = None
        if changed:
            self.on_status()

    def _guarded(self, request: Callable[[], str | None]) -> str | None:
        """Makes a request; what breaks on the way is an answer that was lost."""
        try:
            return request()
        except OSError as error:
            if self._is_closing:
                raise _Stopped() from error
            if self._deadline is not None and self.clock.monotonic() >= self._deadline:
                raise DeadlinePassed() from error
            return self._lost(str(error) or type(error).__name__)
        except RulesUnknown as error:
            return self._lost(str(error))

    def _lost(self, reason: str, problem: Json | None = None) -> str:
        self.situation.error = self._report.error = reason
        self.situation.problem = self._report.problem = problem
        return "answer.lost"

    # Requests

    def _send(self, method: str, path: str, *, body: bytes | None = None, accept: str = "application/json") -> Response:
        timeout = TIMEOUT_SECONDS
        if self._deadline is not None:
            left = self._deadline - self.clock.monotonic()
            if left <= 0:
                raise DeadlinePassed()
            timeout = min(timeout, left)
        response = self.transport.send(Request(method, path, self.headers(accept, body), body, timeout))
        self.model.note_offset(clock_offset(response.headers, now=self.clock.now(), known=self.model.offset()))
        return response

    def headers(self, accept: str, body: bytes | None = None) -> dict[str, str]:
        """Returns the headers of a request; throws `OSError` where the app has no token now."""
        headers = {"Accept": accept, "Accept-Encoding": "gzip", "User-Agent": "fieldmerge-python/1.0"}
        try:
            token = self.tokens.get(until=self._deadline)
        except OSError:
            raise
        except Exception as error:
            log.warning("the token could not be asked for: %s", error)
            raise OSError(f"the token could not be asked for: {error}") from error
        self._used_token = self.tokens.generation
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if self._client is not None:
            headers["X-Client"] = self._client
        device = self.model.database.meta("device")
        if device is not None:
            headers["X-Device-ID"] = device
        if body is not None:
            headers["Content-Type"] = "application/json"
        return headers

    def ask(self, method: str, path: str, *, body: bytes | None = None, accept: str = "application/json") -> Answer:
        """Sends a request and returns its answer; throws `OSError` where none came."""
        response = self._send(method, path, body=body, accept=accept + ", application/problem+json")
        return self._whole(response)

    def _whole(self, response: Response) -> Answer:
        try:
            parts: list[bytes] = []
            for part in response.parts():
                if parts:
                    self._check_end()
                parts.append(part)
            return Answer(response.status, response.headers, b"".join(parts))
        finally:
            response.close()

    def _ask_token(self) -> str:
        self._fresh_after = self._used_token + 1
        try:
            self.tokens.renew(refused=self._used_token, until=self._deadline)
        except Exception as error:
            self._check_end()
            log.warning("the token could not be asked for: %s", error)
            return self._lost(f"the token could not be asked for: {error}")
        return "token"

    def _refusal(self, answer: Answer) -> str:
        """Returns the event of an answer that is no 200, whatever was asked."""
        problem = answer.problem
        if answer.status != 401:
            self._fresh_after = None
        if answer.status == 401:
            self.situation.problem = self._report.problem = problem
            self._report.error = "401"
            return "answer.unauthorized"
        if answer.status == 426 and problem is not None:
            self.situation.message = problem.get("message") or problem.get("detail")
            self.situation.link = problem.get("link")
            self.situation.problem = self._report.problem = problem
            self._report.error = "426"
            return "answer.upgrade"
        if answer.status in (429, 503, 504) or problem is not None and problem.get("retry") is True:
            self._retry_after = answer.retry_after(now=self.clock.now())
            self.situation.error = self._report.error = str(answer.status)
            self.situation.problem = self._report.problem = problem
            return "answer.retry"
        detail = problem.get("detail") if problem else None
        return self._lost(f"{answer.status}: {detail or 'no answer of a gateway'}", problem)

    def _read_rules(self) -> str | None:
        answer = self.ask("GET", "/v1/rules")
        if answer.status != 200:
            return self._refusal(answer)
        try:
            self.model.store_rules(answer.body.decode())
        except ValueError as error:
            return self._lost(f"the answer is not the rules: {error}")
        self._fresh_after = None
        return None

    def _prepare(self) -> str | None:
        """Reads the rules if they are due, and records that these give another shape; returns an event instead of going
        on."""
        if self.model.rules is None or self.model.database.meta("rulesDue"):
            refusal = self._read_rules()
            if refusal is not None:
                return refusal
        return self._refresh() if self.model.stale() else None

    def _refresh(self) -> str | None:
        """Reads the records of stale resources again; `None` once nothing is stale."""
        if self.model.database.meta("otherHistory"):
            return None
        if self.model.database.meta("resnapshot"):
            event = self._snapshot()  # it replaces the stale ones too
            return None if event == "answer.page" else event
        return self._refresh_visited() or self._refresh_kept()

    def _refresh_visited(self) -> str | None:
        read: list[tuple[str, object, Json | None]] = []
        visited = self.model.visited()
        for resource, text in visited:
            record_id = json.loads(text)
            answer = self.ask("GET", f"/v1/records/{urllib.parse.quote(resource)}/{in_url(record_id)}")
            problem = answer.problem
            is_gone = answer.status == 404 and problem is not None and problem["code"] == "no-such-record"
            if not is_gone and (answer.status != 200 or not isinstance(answer.json, dict)):
                return self._refusal(answer)
            read.append((resource, record_id, None if is_gone else answer.json))
        if visited:
            self.model.store_visited(read)
        return None

    def _refresh_kept(self) -> str | None:
        resources = [name for name in self.model.stale() if self.model.keeps(name)]
        if not resources:
            return None
        note = self.model.database.meta("refresh") or {}
        cursor = note.get("cursor") if note.get("resources") == resources else None
        query = {"resources": ",".join(resources), **({} if cursor is None else {"after": cursor})}
        path = "/v1/snapshot?" + urllib.parse.urlencode(query, safe=",")
        response = self._send("GET", path, accept="application/x-ndjson, application/problem+json")
        try:
            if response.status == 200:
                return self._take_refresh(response, resources, goes_on=cursor is not None)
            answer = self._whole(response)
        finally:
            response.close()
        if answer.status in (400, 410) and cursor is not None:
            self.model.forget_refresh()
            return self._lost("the snapshot that broke off cannot go on")
        # Resources of which one is unknown: the rules have changed again.
        return "answer.rules" if answer.status == 404 and answer.problem else self._refusal(answer)

    def _take_refresh(self, response: Response, resources: list[str], *, goes_on: bool) -> str | None:
        self._fresh_after = None
        lines: list[Json] = []
        began = False
        for line in _lines(response):
            if "snapshot" in line:
                other = self._is_other(line["snapshot"])
                if other is not None:
                    return other
                if not self.model.begin_refresh(line["snapshot"], resources=resources, goes_on=goes_on):
                    raise BrokenOff("the snapshot that broke off cannot go on")
                began = True
                self.on_status()
            elif not began:
                raise BrokenOff("the snapshot has no beginning")
            elif "record" in line:
                lines.append(line)
            elif "end" in line:
                self.model.end_refresh(lines)
                return None
            if len(lines) >= SNAPSHOT_RECORDS_IN_A_TRANSACTION and "cursor" in line:
                self.model.store_refreshed(lines, cursor=line["cursor"])
                lines = []
                self._between_parts()
        raise BrokenOff("the snapshot broke off")

    def _is_other(self, head: Json) -> str | None:
        """Returns the event of a snapshot of stale resources that is one of other rules, or of another feed."""
        if self._has_other_rules(head):
            return "answer.rules"
        if head["feed"] != self.model.place()[0]:
            return "answer.resync"
        return None

    def _has_other_rules(self, head: Json) -> bool:
        version = head.get("rules")
        return version is not None and version != self.model.database.meta("rulesVersion")

    # Pushing

    def _push(self) -> str:
        refusal = self._prepare()
        if refusal is not None:
            return refusal
        batch = self.model.freeze(is_single=self._is_single)
        pushes = [push for push in batch if not push.is_kept]
        if not pushes:
            if self.model.stale():
                return self._lost("the records of another shape cannot be read")
            return "answer.settled"
        keeps_nothing = self.model.resources is not None and not self.model.asked()
        asked = (None, None) if self._is_single or keeps_nothing else self.model.place()
        self._noted.clear()
        body = self._sync_body(batch, asked)
        answer = self.ask("POST", "/v1/sync?by=true", body=body)
        page = answer.json
        if answer.status not in (200, 207):
            return self._push_refused(answer, batch, pushes)
        if not isinstance(page, dict) or not isinstance(page.get("results"), list):
            return self._lost("the answer is not that of a gateway")
        self._fresh_after = None
        self._is_single = False
        return self._take_answer(pushes, page, asked)

    def _sync_body(self, batch: list[Frozen], asked: tuple[str | None, int | None]) -> bytes:
        members = []
        if asked[0] is not None:
            members += [f'"feed":{json.dumps(asked[0])}'.encode(), f'"since":{asked[1]}'.encode()]
            if self.model.resources is not None:
                members.append(f'"resources":{json.dumps(self.model.asked())}'.encode())
        members.append(b'"pushes":[' + b",".join(push.body for push in batch) + b"]")
        return b"{" + b",".join(members) + b"}"

    def _push_refused(self, answer: Answer, batch: list[Frozen], pushes: list[Frozen]) -> str:
        problem = answer.problem
        if answer.status in (401, 426, 429, 503) or answer.status in (400, 403, 413, 422) and problem:
            self.model.nothing_written([push.seq for push in pushes])
        code = (problem or {}).get("code")
        is_known = problem is not None and code not in _NOT_ABOUT_THE_PUSH and problem.get("retry") is not True
        # A proxy's 413 counts as well: it is about the length, whoever says so.
        if answer.status == 413 or answer.status in (400, 403, 422) and is_known:
            self._fresh_after = None
            if len(pushes) > 1 or not self._is_single:
                return "answer.tooLarge"
            if len(batch) > len(pushes) and not self.model.is_in_doubt():
                # Not this one alone is too large, but what has to be repeated before it.
                self.model.thaw(pushes[0].seq)
                return "answer.settled"
            told = problem or {"code": "too-large", "title": "Too large", "status": 413, "retry": False}
            self.model.refuse(pushes[0].seq, told, [])
            self._report.refused += 1
            self._last_more = True
            return "answer.settled"
        if answer.status == 410:
            return "answer.resync"
        return self._refusal(answer)

    def _take_answer(self, pushes: list[Frozen], page: Json, asked: tuple[str | None, int | None]) -> str:
        by_key = {result.get("key"): result for result in page["results"] if isinstance(result, dict)}
        again = rules = history = False
        for push in pushes:
            result = by_key.get(push.key)
            what = _kind(result)
            if what == "again" or result is None:
                again = True
                if result is not None and result.get("code") in (429, 503):
                    # The gateway has looked the key up, and runs the push when it comes again.
                    self.model.nothing_written([push.seq])
                self.situation.problem = self._report.problem = (result or {}).get("problem")
            elif what == "rules":
                rules = True
                self.model.thaw(push.seq)
            elif what == "history":
                history = True
                self.model.note_other_history(push.seq)
            elif what == "settled":
                self._report.merged += 1
                self._report.conflicts += sum(
                    bool(outcome.get("conflict")) for one in result["results"] for outcome in one.get("outcomes") or []
                )
                self.model.settle(push.seq, result["results"])
            else:
                self._report.refused += 1
                self.model.refuse(push.seq, _problem_of(result), result.get("results") or [])
        stored = self._take_page(page, asked)
        if history:
            return "answer.history"
        if again:
            if self._report.error is None:
                self._report.error = "a push has to be sent again"
            return "answer.retry"
        if rules or self.model.database.meta("rulesDue"):
            return "answer.rules"
        return stored

    def _take_page(self, page: Json, asked: tuple[str | None, int | None]) -> str:
        problem = page.get("problem")
        if asked[0] is None:
            self._last_more = True  # nothing was asked for
            return "answer.settled"
        if page.get("changes") is None:
            if isinstance(problem, dict) and problem.get("status") == 410:
                return "answer.resync"
            self._report.problem = problem
            self._last_more = False
            return "answer.settled"
        if not _is_page(page):
            self._last_more = True
            return "answer.settled"
        self._report.changes += self.model.store_page(page, asked=asked)
        self._last_more = bool(page.get("more")) or bool(self.model.database.meta("rulesDue"))
        return "answer.settled"

    # Pulling

    def _pull(self) -> str:
        refusal = self._prepare()
        if refusal is not None:
            return refusal
        self._noted.clear()
        if self.model.resources is not None and not self.model.asked():
            self._last_more = False
            self.model.rebuild()
            return "answer.page"  # nothing is kept here
        feed, revision = self.model.place()
        if feed is None or self.model.database.meta("resnapshot"):
            return self._snapshot()
        query = {"feed": feed, "since": str(revision)}
        answer = self.ask("GET", f"/v1/changes?{self._query(query)}")
        if answer.status == 410:
            self._fresh_after = None
            return "answer.resync"
        if answer.status != 200:
            return self._no_feed(answer) or self._refusal(answer)
        page = answer.json
        if not _is_page(page):
            return self._lost("the answer is not that of a gateway")
        self._fresh_after = None
        self._report.changes += self.model.store_page(page, asked=(feed, revision))
        self._last_more = bool(page.get("more"))
        return self._rules_or_page()

    def _rules_or_page(self) -> str:
        return "answer.rules" if self.model.database.meta("rulesDue") else "answer.page"

    def _query(self, query: dict[str, str]) -> str:
        if self.model.resources is not None:
            query["resources"] = ",".join(self.model.asked())
        return urllib.parse.urlencode(query, safe=",")

    def _no_feed(self, answer: Answer) -> str | None:
        """A gateway without a journal tells no changes: then there is nothing to pull."""
        problem = answer.problem
        if answer.status == 404 and problem is not None and problem.get("code") == "no-feed":
            self._report.problem = problem
            self._last_more = False
            self.model.rebuild()
            return "answer.page"
        return None

    def _snapshot(self) -> str:
        note = self.model.database.meta("snapshot")
        cursor = note.get("cursor") if note else None
        query = self._query({} if cursor is None else {"after": cursor})
        path = "/v1/snapshot" + (f"?{query}" if query else "")
        response = self._send("GET", path, accept="application/x-ndjson, application/problem+json")
        if response.status != 200:
            answer = self._whole(response)
            if answer.status in (400, 410) and cursor is not None:
                self.model.forget_snapshot()
                return "answer.resync"
            return self._no_feed(answer) or self._refusal(answer)
        self._fresh_after = None
        try:
            for whole in self._store_snapshot(response, goes_on=cursor is not None):
                if whole:
                    self._last_more = True  # what changed meanwhile
                return self._rules_or_page()
        finally:
            response.close()
        raise BrokenOff("the snapshot broke off")

    def _store_snapshot(self, response: Response, *, goes_on: bool) -> Iterator[bool]:
        """Stores a snapshot as it comes; yields true once it is whole, and false if it is one of other rules."""
        lines: list[Json] = []
        began = False
        for line in _lines(response):
            if "snapshot" in line:
                if self._has_other_rules(line["snapshot"]):
                    self.model.note(rulesDue=True)
                    yield False
                    return
                if not self.model.begin_snapshot(line["snapshot"], goes_on=goes_on):
                    raise BrokenOff("the snapshot that broke off cannot go on")
                began = True
                self.on_status()
            elif not began:
                raise BrokenOff("the snapshot has no beginning")
            elif "record" in line:
                lines.append(line)
                if len(lines) >= SNAPSHOT_RECORDS_IN_A_TRANSACTION:
                    self.model.store_part(lines, cursor=None)
                    self._report.changes += len(lines)
                    lines = []
                    self._between_parts()
            elif "cursor" in line:
                self.model.store_part(lines, cursor=line["cursor"])
                self._report.changes += len(lines)
                lines = []
                self._between_parts()
            elif "end" in line:
                self.model.store_part(lines, cursor=None)
                self._report.changes += len(lines)
                while self.model.drop_old(SNAPSHOT_RECORDS_IN_A_TRANSACTION):
                    self._between_parts()
                self.model.end_snapshot()
                yield True
                return

    def _between_parts(self) -> None:
        self.on_status()
        self._check_end()

    def _check_end(self) -> None:
        """Throws if the store is closing, or the deadline has passed."""
        if self._is_closing:
            raise _Stopped()
        if self._deadline is not None and self.clock.monotonic() >= self._deadline:
            raise DeadlinePassed()

    # End

    def close(self, *, until: float | None = None) -> None:
        """Breaks off what is under way, and waits until it is over, at most for two seconds."""
        self._is_closing = True
        self.tokens.close()
        self.transport.abort()
        end = time.monotonic() + CLOSE_SECONDS if until is None else until
        has_turn = False
        while self._runner != threading.get_ident() and time.monotonic() < end:
            has_turn = self._turn.acquire(timeout=max(0.0, min(0.1, end - time.monotonic())))
            if has_turn:
                break
            self.transport.abort()  # again, for a request that begins only now
        try:
            self.state = decide(self.state, "close", dict.fromkeys(("unsent", "more", "again", "fresh"), False)).state
            self.situation.phase = self.state
            self.transport.close()
        finally:
            if has_turn:
                self._turn.release()


class _Heartbeat:
    """Says now and then that the sync under way is alive."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if model.database.path != ":memory:":
            self._thread = threading.Thread(target=self._run, name="fieldmerge-heartbeat", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            try:
                self._model.beat()
            except Exception as error:
                log.warning("no heartbeat: %s", error)

    def stop(self) -> None:
        self._stop.set()


def _lines(response: Response) -> Iterator[Json]:
    """Yields the lines of NDJSON; throws `OSError` where one is no JSON."""
    rest = b""
    for part in response.parts():
        rest += part
        *whole, rest = rest.split(b"\n")
        for line in whole:
            if line.strip():
                yield _parsed(line)
    if rest.strip():
        yield _parsed(rest)


def _parsed(line: bytes) -> Json:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise BrokenOff("a line of the snapshot is no JSON") from error
    if not isinstance(value, dict):
        raise BrokenOff("a line of the snapshot is no object")
    return value


def _is_page(page: Any) -> bool:
    return (
        isinstance(page, dict)
        and isinstance(page.get("changes"), list)
        and isinstance(page.get("feed"), str)
        and isinstance(page.get("revision"), int)
        and all(isinstance(change, dict) and "record" in change for change in page["changes"])
    )


def _problem_of(result: Json) -> Json:
    problem = result.get("problem")
    if isinstance(problem, dict):
        return problem
    for one in result.get("results") or []:
        if isinstance(one.get("problem"), dict):
            return dict(one["problem"])
    return {"code": "refused", "title": "Refused", "status": result.get("code"), "retry": False}


def _kind(result: Json | None) -> str:
    """Returns what the answer to a push means: `settled`, `refused`, `rules`, `history` or `again`."""
    if result is None:
        return "again"
    status, code = result.get("status"), result.get("code")
    results = result.get("results") or []
    if status in ("merged", "partial") and results:
        return "settled"
    problems = [one for one in [result.get("problem"), *(each.get("problem") for each in results)] if one]
    if any(one.get("code") == "rules-changed" for one in problems):
        return "rules"
    if any(one.get("code") == "history-changed" for one in problems):
        return "history"
    if any(one.get("retry") is True or one.get("code") in _RETRY_CODES for one in problems):
        return "again"
    if code in (429, 503, 504):
        return "again"
    if status == "rejected" or code in (400, 403, 413) or any(one.get("retry") is False for one in problems):
        return "refused"
    return "again"
