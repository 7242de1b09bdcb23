"""Runs the actions of the scheduler's table, one request at a time; the lane sends large pushes in parallel."""

from __future__ import annotations

import logging
import random
import sqlite3
import threading
import time
from typing import Any

from ..clock import Clock
from ..errors import StoreClosed
from ..model import LeaseLost, Model
from ..scheduler import decide
from ..tokens import TokenSource
from ..transport import Transport
from .lane import Lane
from .lease import Lease
from .pushing import Pushing
from .report import CLOSE_SECONDS, LONGEST_WAIT, DeadlinePassed, Report, Stopped, longest_wait
from .requester import Requester

log = logging.getLogger("fieldmerge")

LOOK_SECONDS = 0.1
"""How often a sync that waits for a large push looks for small ones."""


class Synchronizer(Pushing):
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
        lane_transport: Transport | None = None,
    ) -> None:
        named: Any = {"clock": clock, "client": client}
        super().__init__(model, Requester(model, transport, tokens, **named), clock=clock)
        self.state = "idle"
        self._random = randomness or random.Random()
        self._lease = Lease(model)
        large = Requester(model, lane_transport or transport, tokens, **named)
        self.lane = Lane(model, large, self._lease, clock=clock, randomness=self._random)
        self.lane.on_change = lambda: self.on_status()
        self._turn = threading.Lock()
        self._runner: int | None = None
        self._waits = 0
        self._last_answer: str | None = None
        self._is_other_history = False

    @property
    def transport(self) -> Transport:
        """The transport of requests."""
        return self.requests.transport

    @property
    def phase(self) -> str:
        """The phase for the app: the scheduler's phase, or the lane's phase if the scheduler is idle."""
        if self.situation.phase != "idle":
            return self.situation.phase
        return "pushing" if self.lane.is_busy else "idle" if self.lane.due is None else "waiting"

    @property
    def lane_next_try(self) -> float | None:
        """The time of the lane's next try after a failure."""
        due = self.lane.due
        return None if due is None or self.lane.is_busy else self.clock.now() + due - self.clock.monotonic()

    def note(self) -> None:
        """Notes that changes are due."""
        self._noted.set()

    def run(self, event: str, *, deadline: float | None = None, waits: bool = True) -> Report:
        """Passes an event to the table and runs its actions, until no work is in progress; returns the report.

        One thread of one process runs at a time, by a lease in the store. Other threads wait. With `waits`, the run
        also waits until no
        large push is in progress. The event `lane` only starts the lane.
        """
        if event in ("sync", "news") and self._turn.locked():
            self.note()
        if self._runner == threading.get_ident():
            # An event handler has requested a sync during a sync.
            return self._reported(Report(phase=self.state, error="a sync is under way"))
        limit = None if deadline is None else self.clock.monotonic() + deadline
        if not self._turn.acquire(timeout=-1 if deadline is None else max(0.0, deadline)):
            return self._reported(Report(phase=self.state, error="another sync is under way"))
        try:
            self._runner = threading.get_ident()
            self.requests.deadline = limit
            self._report = Report()
            try:
                self._run_events(event, waits=waits)
            except (Stopped, StoreClosed):
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
            self.requests.deadline = None
            self._runner = None
            self._turn.release()

    def _run_events(self, event: str, *, waits: bool) -> None:
        """Passes an event and the events that follow to the table, with the lease."""
        if not self._lease.acquire(gives_up=lambda: self._is_closing or self._is_late()):
            self._report.error = "another process is syncing"
            return
        refused = self.model.counts()[1]
        if event in ("sync", "online", "token"):
            self.lane.end_wait()
        try:
            following: str | None = None if event == "lane" else event
            while True:
                while following is not None:
                    following = self._handle(following)
                if not self._begin_lane() and not (waits and self.lane.is_busy):
                    if not (waits and self.lane.take_news()):
                        break
                    following = "news"  # the lane has ended while something else was under way
                    continue
                following = self._after_lane() if waits else None
                if not waits:
                    break
        except LeaseLost:
            # Its answers are on the way to the other process too: the same bytes, the same keys.
            self._settle_into("idle")
            self._report.error = "another process has taken over"
        except DeadlinePassed:
            self.lane.abort()
            self._settle_into("idle")
            self._report.error = "out of time"
        finally:
            self._lease.release()
        self._report.refused = max(self._report.refused, self.model.counts()[1] - refused)

    def _begin_lane(self) -> bool:
        """Starts a large push in the lane, if no small push must be sent first."""
        if self.state not in ("idle", "pulling") or self.lane.is_busy:
            return False
        is_due = self.model.rules is None or self.model.database.meta("rulesDue") or self.model.place()[0] is None
        return not is_due and not self.model.has_unsent() and self.lane.begin(self._report)

    def _after_lane(self) -> str | None:
        """Waits for the lane; returns an event if there is something for the table to do before or after its end."""
        self.lane.report = self._report
        while self.lane.is_busy:
            self._check_end()
            if self.state == "idle" and (self._noted.is_set() or self.model.has_unsent()):
                return "sync"
            self.lane.wait(LOOK_SECONDS)
        return "news" if self.lane.take_news() else None

    def _fail(self, error: Exception) -> None:
        """Waits after an exception of the store, of a callback, or of this library: the next try begins anew."""
        self._lost(f"{type(error).__name__}: {error}")
        self.state = "waiting"
        self._schedule()

    def _reported(self, report: Report) -> Report:
        report.phase = self.phase if self.state == "idle" else self.state
        try:
            report.unsent, _ = self.model.counts()
        except (StoreClosed, sqlite3.Error) as error:
            report.error = report.error or str(error)
        return report

    def _settle_into(self, state: str) -> None:
        self.state = state
        self._tell(phase=state, next_try=None)

    def _handle(self, event: str) -> str | None:
        """Runs the actions of an event; returns the next event, or `None` at rest."""
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
        self._begin_lane()
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
            "fresh": self._fresh_after is not None and self.requests.used_token >= self._fresh_after,
        }

    def _do(self, action: str) -> str | None:
        if self._is_closing:
            raise Stopped()
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
        longest = longest_wait(self._waits)
        self._waits += 1
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

    def close(self, *, until: float | None = None) -> None:
        """Aborts running work, and waits for its end, for two seconds at most."""
        self._is_closing = True
        self.tokens.close()
        self.transport.abort()
        self.lane.abort()
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
            self.lane.close(until=end)
            self.transport.close()
        finally:
            if has_turn:
                self._turn.release()
