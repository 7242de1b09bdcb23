"""The thread that updates live queries and indexes, so that no edit waits for them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from ..changes import Json
from ..clock import Clock
from ..errors import StoreClosed
from ..model.reading import Reading
from .indexes import Indexer
from .live import LiveQuery
from .running import Runner

log = logging.getLogger("fieldmerge")

GAP_SECONDS = 0.05
"""Between a change and the look at it, in which other changes may come."""

LOAD_SECONDS = 0.5
"""The same while all records of a resource are being fetched."""

YIELD_SECONDS = 0.002
"""Between two batches of an index, in which an edit may begin."""

CLOSE_SECONDS = 1.0


class Worker:
    """Tests changes for live queries, and builds indexes when there are no changes."""

    def __init__(self, reading: Callable[[], Reading], runner: Runner, indexer: Indexer, clock: Clock) -> None:
        self._reading = reading
        self._runner = runner
        self._indexer = indexer
        self._clock = clock
        self._lives: list[LiveQuery] = []
        self._wake = threading.Condition()
        self._pending: dict[str, set[str]] = {}
        self._due: float | None = None
        self._is_asked = False
        self._gap = GAP_SECONDS
        self._has_index_work = False
        self._has_fault = False
        self._is_busy = False
        self._is_closing = False
        self._thread: threading.Thread | None = None

    # Called by other threads. None of these functions waits for the work.

    def add(self, live: LiveQuery) -> None:
        """Adds a live query."""
        with self._wake:
            self._lives.append(live)
        self.look()

    def forget(self, live: LiveQuery) -> None:
        """Removes a live query."""
        with self._wake:
            self._lives = [one for one in self._lives if one is not live]

    def look(self) -> None:
        """Makes the thread process new live queries and functions now, without changes."""
        with self._wake:
            self._is_asked = True
            self._notify()

    def index(self) -> None:
        """Makes the thread build the indexes if there is work."""
        with self._wake:
            self._has_index_work = True
            self._notify()

    def fault(self) -> None:
        """Makes the thread rebuild all indexes."""
        with self._wake:
            self._has_fault = True
        self.index()

    def touch(self, places: set[tuple[str, str]]) -> None:
        """Notes changed records. The key `*` means all records of a resource."""
        with self._wake:
            for resource, key in places if self._lives else ():
                self._pending.setdefault(resource, set()).add(key)
            if self._lives and self._due is None:
                self._due = self._clock.monotonic() + self._gap
            self._has_index_work = self._has_index_work or self._thread is not None
            if self._thread is not None:
                self._notify()

    def touch_all(self) -> None:
        """Notes that another process has written, so that any record may have changed."""
        self.touch({(resource, "*") for live in self.lives() for resource in live._window.watched})

    def lives(self) -> list[LiveQuery]:
        """Returns the live queries."""
        with self._wake:
            return list(self._lives)

    def settle(self) -> None:
        """Waits until no work is due. For tests."""
        with self._wake:
            self._wake.wait_for(lambda: self._is_closing or not self._has_work)

    @property
    def _has_work(self) -> bool:
        return self._is_busy or self._is_asked or self._due is not None or self._has_index_work

    def _notify(self) -> None:
        if self._thread is None and not self._is_closing:
            self._thread = threading.Thread(target=self._run, name="fieldmerge-queries", daemon=True)
            self._thread.start()
        self._wake.notify_all()

    def close(self, interrupt: Callable[[], None]) -> None:
        """Ends the thread, and all live queries."""
        with self._wake:
            self._is_closing = True
            self._wake.notify_all()
        interrupt()
        for live in self.lives():
            live.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS)

    # The thread

    def _run(self) -> None:
        try:
            self._run_jobs()
        finally:
            with self._wake:
                self._is_closing = True
                self._wake.notify_all()

    def _run_jobs(self) -> None:
        while True:
            with self._wake:
                self._is_busy = False
                self._wake.notify_all()
                job = self._next_job()
                if job is None:
                    return
                self._is_busy = True
            try:
                job()
            except StoreClosed:
                return
            except Exception:
                if self._is_closing:
                    return
                log.exception("queries cannot be kept up to date")
                for live in self.lives():
                    live._window.forget()

    def _next_job(self) -> Callable[[], None] | None:
        while not self._is_closing:
            now = self._clock.monotonic()
            if self._due is not None and self._due <= now:
                self._due = None
                return lambda: self._look(is_due=True)
            if self._is_asked:
                self._is_asked = False
                return lambda: self._look(is_due=False)
            if self._has_index_work:
                self._has_index_work = False
                return self._work
            self._clock.wait(self._wake, None if self._due is None else self._due - now)
        return None

    def _work(self) -> None:
        if self._has_fault:
            self._has_fault = False
            self._indexer.reset()
        if self._indexer.has_work and self._indexer.step():
            with self._wake:
                self._has_index_work = True
                self._wake.wait(YIELD_SECONDS)

    def _look(self, *, is_due: bool) -> None:
        pending: dict[str, set[str]] = {}
        with self._wake:
            if is_due:
                pending, self._pending = self._pending, {}
            lives = list(self._lives)
        shown: list[tuple[LiveQuery, Any]] = []
        model = self._reading()
        with model.database.snapshot():
            changes = self._changes(model, pending, lives)
            for live in lives:
                if any("*" in pending.get(resource, ()) for resource in live._window.watched):
                    live._window.forget()
                shown.append((live, live._window.refresh(model, self._runner, changes)))
            is_filling = model.database.meta("snapshot") is not None or model.database.meta("refresh") is not None
        self._gap = LOAD_SECONDS if is_filling else GAP_SECONDS
        for live, value in shown:
            live._show(value)

    def _changes(
        self, model: Reading, pending: dict[str, set[str]], lives: list[LiveQuery]
    ) -> dict[str, dict[str, Json | None]]:
        watched = {resource for live in lives for resource in live._window.watched}
        return {
            resource: {key: model.view_at(resource, key) for key in keys}
            for resource, keys in pending.items()
            if resource in watched and "*" not in keys
        }
