"""The right to sync, which one process has at a time."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable

from ..errors import StoreClosed
from ..model import BEAT_SECONDS, Model

log = logging.getLogger("fieldmerge")


class Lease:
    """Counts the uses of the lease in this process. The first use acquires it, the end of the last use releases it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._users = 0
        self._stop = threading.Event()

    def acquire(self, *, gives_up: Callable[[], bool]) -> bool:
        """Waits until no other process syncs; returns false if `gives_up` returns true before."""
        pause = threading.Event()
        while True:
            with self._lock:
                if self._users or self._model.take_lease():
                    self._users += 1
                    if self._users == 1:
                        self._beat()
                    return True
            if gives_up():
                return False
            pause.wait(0.05)

    def release(self) -> None:
        """Ends one use."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            self._stop.set()
            try:
                self._model.drop_lease()
            except StoreClosed:
                pass
            except sqlite3.Error as error:
                log.warning("the lease could not be returned: %s", error)

    def _beat(self) -> None:
        self._stop = stop = threading.Event()
        if self._model.database.path == ":memory:":
            return

        def run() -> None:
            while not stop.wait(BEAT_SECONDS):
                try:
                    self._model.beat()
                except Exception as error:
                    log.warning("no heartbeat: %s", error)

        threading.Thread(target=run, name="fieldmerge-heartbeat", daemon=True).start()
