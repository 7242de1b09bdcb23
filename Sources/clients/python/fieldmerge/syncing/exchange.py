"""The common part of all requests of a sync: events of answers, and the report of the sync."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ..changes import Json
from ..clock import Clock
from ..errors import RulesUnknown
from ..model import Model
from ..tokens import TokenSource
from ..transport import Answer
from .report import DeadlinePassed, Report, Situation, Stopped
from .requester import Requester

log = logging.getLogger("fieldmerge")


class Exchange:
    """The state of a sync, and the events that answers are."""

    def __init__(self, model: Model, requests: Requester, *, clock: Clock) -> None:
        self.model = model
        self.requests = requests
        self.clock = clock
        self.situation = Situation()
        self.on_status: Callable[[], None] = lambda: None
        self._report = Report()
        self._retry_after: float | None = None
        self._fresh_after: int | None = None
        self._last_more = False
        self._is_closing = False
        self._noted = threading.Event()
        requests.check = self._check_end

    @property
    def tokens(self) -> TokenSource:
        """The app's token."""
        return self.requests.tokens

    def _guarded(self, request: Callable[[], str | None]) -> str | None:
        """Makes a request; a failure on the way is a lost answer."""
        try:
            return request()
        except OSError as error:
            if self._is_closing:
                raise Stopped() from error
            if self._is_late():
                raise DeadlinePassed() from error
            return self._lost(str(error) or type(error).__name__)
        except RulesUnknown as error:
            return self._lost(str(error))

    def _lost(self, reason: str, problem: Json | None = None) -> str:
        self.situation.error = self._report.error = reason
        self.situation.problem = self._report.problem = problem
        return "answer.lost"

    def _ask_token(self) -> str:
        self._fresh_after = self.requests.used_token + 1
        try:
            self.requests.renew()
        except Exception as error:
            self._check_end()
            log.warning("the token could not be asked for: %s", error)
            return self._lost(f"the token could not be asked for: {error}")
        return "token"

    def _refusal(self, answer: Answer) -> str:
        """Returns the event of an answer other than 200, for any request."""
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

    def _check_end(self) -> None:
        """Throws if the store is closing, or the deadline has passed."""
        if self._is_closing:
            raise Stopped()
        if self._is_late():
            raise DeadlinePassed()

    def _is_late(self) -> bool:
        deadline = self.requests.deadline
        return deadline is not None and self.clock.monotonic() >= deadline
