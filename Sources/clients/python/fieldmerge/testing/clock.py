"""A clock that only a test moves."""

from __future__ import annotations

import threading
import time

from ..clock import Clock

_LONGEST_WAIT = 0.02
"""How long a wait of the clock takes at most in real time; who waits looks again."""


class ManualClock(Clock):
    """A clock that a test moves; it begins at a plausible time."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._monotonic = 1_000.0
        self._lock = threading.Lock()

    def now(self) -> float:
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        with self._lock:
            return self._monotonic

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        if seconds is None:
            condition.wait()
            return
        end = self.monotonic() + seconds
        limit = time.monotonic() + _LONGEST_WAIT
        while self.monotonic() < end and time.monotonic() < limit:
            if condition.wait(0.005):
                return

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        with self._lock:
            self._now += seconds
            self._monotonic += seconds

    def jump(self, seconds: float) -> None:
        """Sets the wall clock, like a user or a time server; no time passes."""
        with self._lock:
            self._now += seconds
