"""The library's clock, which tests can replace."""

from __future__ import annotations

import threading
import time


class Clock:
    """The clock of the machine."""

    def now(self) -> float:
        """Returns the seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Returns seconds that only grow."""
        return time.monotonic()

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Waits, with the condition's lock held, until it is notified or the time is over."""
        condition.wait(seconds)
