"""Large pushes: each in a separate request, in parallel with the requests of the scheduler's table."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable

from ..clock import Clock
from ..model import Frozen, LeaseLost, Model
from ..transport import Answer
from .lease import Lease
from .outcomes import problem_of_request, refuses, store_result, wrote_nothing
from .pushing import sync_body
from .report import DeadlinePassed, Report, Stopped, longest_wait
from .requester import Requester

log = logging.getLogger("fieldmerge")

_LOOKED_AT = {"settled", "refused", "rules", "history", "unauthorized"}
"""Ends of a request after which the scheduler has something to do."""


class Lane:
    """Sends one large push at a time, in a thread. It has separate waits, which a new edit does not end."""

    def __init__(
        self, model: Model, requests: Requester, lease: Lease, *, clock: Clock, randomness: random.Random
    ) -> None:
        self.is_busy = False
        self.due: float | None = None
        """The time of the next try after a failure, by the clock that only grows."""
        self.on_change: Callable[[], None] = lambda: None
        self.on_news: Callable[[], None] = lambda: None
        """Called if the scheduler has something to do after the end of a request."""
        self._model = model
        self._requests = requests
        self._lease = lease
        self._clock = clock
        self._random = randomness
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._failures = 0
        self._last = ""
        self._has_news = False
        self._is_closed = False
        self._is_stopped = False
        self._retry_after: float | None = None
        self.report = Report()
        """The report that counts what the lane has done."""
        requests.check = self._check

    def begin(self, report: Report) -> bool:
        """Sends the next large push that can be sent, if no other is in progress and the lane does not wait;
        needs the lease.
        """
        with self._changed:
            if self.is_busy or self._is_closed:
                return False
            if not self._model.has_large():
                if not self._model.holds_large():
                    self.end_wait()
                return False
            if not self.is_due:
                return False
            self.is_busy, self._has_news, self._is_stopped = True, False, False
        self.report = report
        self._lease.acquire(gives_up=lambda: True)
        self._thread = threading.Thread(target=self._run, name="fieldmerge-large", daemon=True)
        self._thread.start()
        return True

    @property
    def is_due(self) -> bool:
        """Returns whether the lane is not waiting."""
        return self.due is None or self._clock.monotonic() >= self.due

    def end_wait(self) -> None:
        """Ends a wait: the network is back, or the app requests a sync."""
        self._failures, self.due, self._last = 0, None, ""

    def wait(self, seconds: float) -> None:
        """Waits until a request ends, at most so long."""
        with self._changed:
            if self.is_busy:
                self._changed.wait(seconds)

    def take_news(self) -> bool:
        """Returns, once, whether the last request left work for the scheduler."""
        has_news, self._has_news = self._has_news, False
        return has_news

    def abort(self) -> None:
        """Aborts the request in progress. Its bytes remain frozen."""
        self._is_stopped = True
        self._requests.transport.abort()

    def close(self, *, until: float) -> None:
        """Aborts running work, and waits for its end."""
        self._is_closed = True
        thread = self._thread
        while self.is_busy and thread is not threading.current_thread() and time.monotonic() < until:
            self.abort()  # again, for a request that begins only now
            self.wait(0.1)
        self._requests.transport.close()

    def _check(self) -> None:
        if self._is_closed or self._is_stopped:
            raise Stopped()

    def _run(self) -> None:
        end = "stopped"
        try:
            end = self._send()
        except (Stopped, DeadlinePassed):
            pass
        except LeaseLost:
            end = "lost"
        except OSError as error:
            log.info("a large push has no answer: %s", error)
            end = "stopped" if self._is_closed or self._is_stopped else "lost"
        except Exception:
            log.exception("a large push failed; it is sent again")
            end = "lost"
        finally:
            self._model.large_under_way = None
            self._note_end(end)

    def _note_end(self, end: str) -> None:
        # What the scheduler does first helps once: after that, only time does.
        helps = end in ("rules", "history", "unauthorized") and end != self._last
        if end not in ("settled", "refused") and not helps:
            longest = longest_wait(self._failures)
            seconds = self._random.uniform(0, longest) if self._retry_after is None else self._retry_after
            self._failures += 1
            self.due = self._clock.monotonic() + seconds
        else:
            self._failures, self.due = 0, None
        self._retry_after = None
        self._last = end
        try:
            self._lease.release()
        finally:
            with self._changed:
                self._has_news = end in _LOOKED_AT
                self.is_busy = False
                self._changed.notify_all()
        if not self._is_closed:
            self.on_change()
            if self._has_news:
                self.on_news()

    def _send(self) -> str:
        batch = self._model.freeze_large()
        pushes = [push for push in batch if not push.is_kept]
        if not pushes:
            return "none"
        self._model.large_under_way = pushes[0].seq
        self.on_change()
        answer = self._requests.ask("POST", "/v1/sync?by=true", body=sync_body({}, batch))
        return self._take(answer, pushes[0])

    def _take(self, answer: Answer, push: Frozen) -> str:
        page = answer.json
        if answer.status in (200, 207) and isinstance(page, dict) and isinstance(page.get("results"), list):
            results = (one for one in page["results"] if isinstance(one, dict) and one.get("key") == push.key)
            return store_result(self._model, push, next(results, None), self.report)
        if wrote_nothing(answer):
            self._model.nothing_written([push])
        if refuses(answer):
            self._model.refuse(push, problem_of_request(answer), [])
            self.report.refused += 1
            return "refused"
        if answer.status in (401, 426):
            return "unauthorized"
        self._retry_after = answer.retry_after(now=self._clock.now())
        return "again"
