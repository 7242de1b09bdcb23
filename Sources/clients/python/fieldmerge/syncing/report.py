"""The report of a sync, and its phase."""

from __future__ import annotations

from dataclasses import dataclass

from ..changes import Json

FIRST_WAIT = 1.0
LONGEST_WAIT = 300.0
CLOSE_SECONDS = 2.0


@dataclass
class Report:
    """The report of a sync. `phase` is its last phase; `error` and `problem` are the reason if it is not `idle`."""

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
    """The present state of the sync, for the app to show."""

    phase: str = "idle"
    next_try: float | None = None
    due: float | None = None
    """The time of the next try, by the clock that only grows."""
    message: str | None = None
    link: str | None = None
    problem: Json | None = None
    error: str | None = None


class DeadlinePassed(Exception):
    """The app wanted to be done by now."""


class Stopped(Exception):
    """The store is closing."""


def longest_wait(failures: int) -> float:
    """Returns the longest wait after so many failures: 1 s, doubling to 5 minutes."""
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(failures, 20)))
