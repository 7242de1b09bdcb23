"""Decides what a client does next: a table of states and events, as `Tests/Clients/Cases/scheduler.json` has it.

It is pure: it has no state and no effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STATES = ("idle", "pulling", "pushing", "waiting", "offline", "needsAuth", "needsUpgrade", "closed")
EVENTS = (
    "edit", "sync", "news", "timer", "online", "offline", "token",
    "answer.settled", "answer.page", "answer.retry", "answer.lost", "answer.unauthorized",
    "answer.upgrade", "answer.resync", "answer.history", "answer.rules", "answer.tooLarge",
    "close", "kill",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """The actions if its conditions are true."""

    state: str
    actions: tuple[str, ...] = ()
    when: tuple[str, ...] = ()


def _row(text: str) -> Row:
    """Reads `condition, condition? state: action, action`."""
    conditions, mark, rest = text.rpartition("?")
    state, _, actions = rest.partition(":")
    return Row(state.strip(), _names(actions), _names(conditions) if mark else ())


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _rows(*texts: str) -> tuple[Row, ...]:
    return tuple(_row(text) for text in texts)


_BEGIN = _rows("unsent? pushing: push", "pulling: pull")
_BEGIN_ONLINE = _rows("unsent? pushing: resetBackoff, push", "pulling: resetBackoff, pull")
_END_WAIT = _rows("unsent? pushing: cancelTimer, push", "pulling: cancelTimer, pull")
_END_WAIT_ONLINE = _rows("unsent? pushing: cancelTimer, resetBackoff, push", "pulling: cancelTimer, resetBackoff, pull")
_ASK_AGAIN = _rows("unsent? pushing: cancelTimer, askToken", "pulling: cancelTimer, askToken")
_RESYNC = _rows("again? waiting: resnapshot, schedule", "pulling: resetBackoff, resnapshot, pull")

_CELLS: Mapping[str, Mapping[str, tuple[Row, ...]]] = {
    "idle": {
        "edit": _BEGIN,
        "sync": _BEGIN,
        "news": _BEGIN,
        "online": _BEGIN_ONLINE,
        "offline": _rows("offline"),
        "close": _rows("closed"),
    },
    "pulling": {
        "sync": _rows("pulling: note"),
        "news": _rows("pulling: note"),
        "online": _rows("pulling: resetBackoff"),
        "offline": _rows("offline: abort"),
        "token": _rows("pulling: pull"),
        "answer.page": _rows(
            "unsent? pushing: resetBackoff, push", "more? pulling: resetBackoff, pull", "idle: resetBackoff, keepUp"
        ),
        "answer.retry": _rows("waiting: schedule"),
        "answer.lost": _rows("waiting: schedule"),
        "answer.unauthorized": _rows("fresh? needsAuth: scheduleLong", "pulling: askToken"),
        "answer.upgrade": _rows("needsUpgrade: scheduleLong"),
        "answer.resync": _RESYNC,
        "answer.rules": _rows("again? waiting: readRules, schedule", "pulling: resetBackoff, readRules, pull"),
        "close": _rows("closed: abort"),
    },
    "pushing": {
        "sync": _rows("pushing: note"),
        "news": _rows("pushing: note"),
        "online": _rows("pushing: resetBackoff"),
        "offline": _rows("offline: abort"),
        "token": _rows("pushing: push"),
        "answer.settled": _rows(
            "unsent? pushing: resetBackoff, push", "more? pulling: resetBackoff, pull", "idle: resetBackoff, keepUp"
        ),
        "answer.retry": _rows("waiting: schedule"),
        "answer.lost": _rows("waiting: schedule"),
        "answer.unauthorized": _rows("fresh? needsAuth: scheduleLong", "pushing: askToken"),
        "answer.upgrade": _rows("needsUpgrade: scheduleLong"),
        "answer.resync": _RESYNC,
        "answer.history": _RESYNC,
        "answer.rules": _rows(
            "again? waiting: readRules, schedule",
            "unsent? pushing: resetBackoff, readRules, push",
            "pulling: resetBackoff, readRules, pull",
        ),
        "answer.tooLarge": _rows("pushing: single, push"),
        "close": _rows("closed: abort"),
    },
    "waiting": {
        "edit": _END_WAIT,
        "sync": _END_WAIT,
        "news": _rows("waiting: note"),
        "timer": _BEGIN,
        "online": _END_WAIT_ONLINE,
        "offline": _rows("offline: cancelTimer"),
        "close": _rows("closed: cancelTimer"),
    },
    "offline": {
        "sync": _BEGIN,
        "news": _rows("offline: note"),
        "online": _BEGIN_ONLINE,
        "close": _rows("closed"),
    },
    "needsAuth": {
        "sync": _ASK_AGAIN,
        "news": _rows("needsAuth: note"),
        "timer": _rows("unsent? pushing: askToken", "pulling: askToken"),
        "online": _ASK_AGAIN,
        "token": _END_WAIT,
        "close": _rows("closed: cancelTimer"),
    },
    "needsUpgrade": {
        "sync": _END_WAIT,
        "news": _rows("needsUpgrade: note"),
        "timer": _BEGIN,
        "online": _END_WAIT,
        "close": _rows("closed: cancelTimer"),
    },
    "closed": {},
}


def rows(state: str, event: str) -> tuple[Row, ...]:
    """Returns the rows of a cell; the first row with true conditions applies, and the last row has no conditions."""
    if event == "kill":
        return (Row("idle"),)
    # An event without a row does not change the state, and causes no action.
    return _CELLS[state].get(event, (Row(state),))


def decide(state: str, event: str, conditions: Mapping[str, bool]) -> Row:
    """Returns the actions for an event."""
    return next(row for row in rows(state, event) if all(conditions[name] for name in row.when))
