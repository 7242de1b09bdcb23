"""The threads of `store.start()`: a thread that syncs if there is a reason, and a thread that listens for changes."""

from __future__ import annotations

import logging
import random
import sqlite3
import threading
import time
import urllib.parse
from collections.abc import Callable

from .clock import Clock
from .errors import StoreClosed
from .syncing import CLOSE_SECONDS, Synchronizer
from .transport import TIMEOUT_SECONDS, Request, Transport, ask

log = logging.getLogger("fieldmerge")

LOOK_SECONDS = 1.0
"""How often a look is taken at whether another process has written."""

LISTEN_SECONDS = 50
LONGEST_PAUSE = 60.0


class Background:
    """Passes edits, news, and the end of waits to the scheduler."""

    def __init__(
        self,
        synchronizer: Synchronizer,
        *,
        clock: Clock,
        listener: Callable[[], Transport] | None,
        on_strange_write: Callable[[], None],
    ) -> None:
        self._synchronizer = synchronizer
        self._clock = clock
        self._on_strange_write = on_strange_write
        self._wake = threading.Condition()
        self._reasons: set[str] = {"sync"}
        self._is_closing = False
        self._is_idle = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fieldmerge-sync", daemon=True)
        synchronizer.lane.on_news = lambda: self.tell("news")
        self._ear = _Listener(self, synchronizer, listener()) if listener is not None else None
        self._thread.start()
        if self._ear is not None:
            self._ear.start()

    def tell(self, reason: str) -> None:
        """Sends an event to the scheduler, soon."""
        with self._wake:
            self._reasons.add(reason)
            self._wake.notify_all()

    def _run(self) -> None:
        version = self._data_version()
        while True:
            reason = self._next_reason()
            if reason is None:
                return
            if reason == "look":
                version = self._look(version)
                continue
            self._is_idle.clear()
            try:
                self._synchronizer.run(reason, waits=False)
            except Exception:
                log.exception("the sync failed; it is tried again")
                with self._wake:
                    self._clock.wait(self._wake, 5)
            if self._synchronizer.state == "idle":
                self._is_idle.set()

    def _look(self, version: int) -> int:
        """Detects writes of another process; returns the version of the file."""
        seen = self._data_version()
        if seen == version:
            return version
        try:
            self._on_strange_write()
        except (StoreClosed, sqlite3.Error) as error:
            log.warning("the store cannot be read: %s", error)
            return version
        return seen

    def _data_version(self) -> int:
        try:
            return self._synchronizer.model.database.data_version
        except (StoreClosed, sqlite3.Error):
            return -1

    def _next_reason(self) -> str | None:
        with self._wake:
            while not self._is_closing:
                for reason in ("token", "online", "offline", "sync", "edit", "news"):
                    if reason in self._reasons:
                        self._reasons.discard(reason)
                        if reason == "sync":
                            self._reasons.discard("news")
                        return reason
                left, reason = self._next_due()
                if left is not None and left <= 0:
                    return reason
                self._clock.wait(self._wake, LOOK_SECONDS if left is None else min(left, LOOK_SECONDS))
                if not self._reasons and not self._is_closing and (left is None or left > LOOK_SECONDS):
                    return "look"
        return None

    def _next_due(self) -> tuple[float | None, str]:
        """Returns the seconds until the next wait ends, and its event."""
        situation, lane = self._synchronizer.situation, self._synchronizer.lane
        now = self._clock.monotonic()
        waits = [(situation.due, "timer"), (None if lane.is_busy else lane.due, "lane")]
        left, reason = min(((due - now, name) for due, name in waits if due is not None), default=(None, ""))
        if left is not None and left <= 0:
            if reason == "timer":
                situation.due = None
            else:
                lane.due = None
        return left, reason

    @property
    def is_closing(self) -> bool:
        return self._is_closing

    def wait_for_idle(self, seconds: float) -> bool:
        """Waits until no work is in progress; false after the timeout."""
        return self._is_idle.wait(seconds)

    def close(self) -> None:
        """Ends both threads within two seconds, and aborts running work."""
        end = time.monotonic() + CLOSE_SECONDS
        with self._wake:
            self._is_closing = True
            self._wake.notify_all()
        self._is_idle.set()
        self._synchronizer.close(until=end)
        ear, own = self._ear, threading.current_thread()
        while ear is not None and ear is not own and ear.is_alive() and time.monotonic() < end:
            ear.close()  # again, for a request that begins only now
            ear.join(0.1)
        if self._thread is not own:
            self._thread.join(max(0.0, end - time.monotonic()))


class _Listener(threading.Thread):
    """Waits for changes by long polls, and reports them to the scheduler, which fetches them."""

    def __init__(self, owner: Background, synchronizer: Synchronizer, transport: Transport) -> None:
        super().__init__(name="fieldmerge-listener", daemon=True)
        self._owner = owner
        self._synchronizer = synchronizer
        self._transport = transport
        self._pause = threading.Event()

    def run(self) -> None:
        failures = 0
        try:
            while not self._owner.is_closing:
                if not self._owner.wait_for_idle(1) or self._owner.is_closing:
                    continue
                try:
                    place = self._synchronizer.model.place()
                    has_news = place[0] is not None and self._listen(place)
                except StoreClosed:
                    return
                except Exception as error:
                    log.info("no changes are heard of: %s", error)
                    failures += 1
                    longest = min(LONGEST_PAUSE, 2.0 ** min(failures, 6))
                    self._pause.wait(random.uniform(longest / 2, longest))
                    continue
                if place[0] is None:
                    self._pause.wait(1)
                elif has_news or failures:
                    failures = 0
                    self._owner._is_idle.clear()
                    self._owner.tell("news")
        finally:
            self._transport.close()

    def _listen(self, place: tuple[str | None, int | None]) -> bool:
        query = {"feed": str(place[0]), "since": str(place[1]), "limit": "1", "wait": str(LISTEN_SECONDS)}
        if self._synchronizer.model.resources is not None:
            query["resources"] = ",".join(self._synchronizer.model.asked())
        subset = self._synchronizer.model.feed_filter()
        if subset is not None:
            query["filter"] = subset
        path = "/v1/changes?" + urllib.parse.urlencode(query, safe=",")
        headers = self._synchronizer.requests.headers("application/json, application/problem+json")
        answer = ask(self._transport, Request("GET", path, headers, None, LISTEN_SECONDS + TIMEOUT_SECONDS))
        page = answer.json
        if answer.status == 200 and isinstance(page, dict):
            is_other = page.get("rules") not in (None, self._synchronizer.model.database.meta("rulesVersion"))
            has_moved = [page.get("feed"), page.get("revision")] != list(place)
            return bool(page.get("changes")) or is_other or has_moved
        if answer.status in (401, 410, 426):
            return True  # the scheduler's own request will find it out
        raise OSError(f"no changes are told: {answer.status}")

    def close(self) -> None:
        self._pause.set()
        self._transport.abort()
