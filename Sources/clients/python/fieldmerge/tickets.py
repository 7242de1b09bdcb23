"""What becomes of edits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .changes import Json
from .editing import as_read
from .errors import StoreClosed

if TYPE_CHECKING:
    from .store import Store

_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Conflict:
    """A place where two edits met: what was held as `old`, what stood there (`current`), what was sent (`new`),
    and what stands now (`written`)."""

    resource: str
    id: Any
    section: str | None
    item: Any
    group: str | None
    outcome: str | None
    old: Any
    current: Any
    new: Any
    written: Any
    by: Any = None
    parts: Any = None
    rule: str | None = None
    _store: Any = None

    def take_mine(self) -> Ticket | None:
        """Makes the losing edit once more, from what stands now; returns its ticket, `None` where there is
        nothing to do."""
        ticket: Ticket | None = self._store._take_mine(self)
        return ticket


@dataclass(frozen=True)
class Outcome:
    """What became of an edit: `status` is `merged`, `refused` or `discarded`."""

    status: str
    conflicts: tuple[Conflict, ...]
    problem: Json | None
    record: Any


class Ticket:
    """A handle on an edit; `store.ticket(…)` finds it again after a restart, by its `token` or its `id`."""

    def __init__(self, store: Store, token: str) -> None:
        self._store = store
        self.token = token
        self._last_id = store._model.ticket_id(token)
        self._last_told: Json | None = None
        store._note_ticket(self)

    @property
    def id(self) -> Any:
        """The id of the record (of several the first), temporary until the gateway has given one."""
        try:
            self._last_id = self._store._model.ticket_id(self.token)
        except StoreClosed:
            pass
        return self._last_id

    @property
    def is_open(self) -> bool:
        """Whether nothing has become of the edit yet."""
        return self._read() is None

    def outcome(self, timeout: float | None = None) -> Outcome:
        """Waits for what became of the edit; throws `TimeoutError` where nothing has within so many seconds.

        Somebody has to sync meanwhile: `store.start()`, or `store.sync()` elsewhere.
        """
        limit = None if timeout is None else time.monotonic() + timeout
        store = self._store
        while True:
            with store._settled:
                outcome = self._read()
                if outcome is not None:
                    return outcome
                left = _POLL_SECONDS if limit is None else min(_POLL_SECONDS, limit - time.monotonic())
                if left <= 0:
                    raise TimeoutError("the edit has no answer yet")
                store._settled.wait(left)

    def _read(self) -> Outcome | None:
        try:
            told = self._store._model.ticket_outcome(self.token)
        except StoreClosed:
            if not self._store._is_signed_out:
                raise
            told = self._last_told
            if told is None:
                return Outcome("discarded", (), None, None)
        if told is None:
            return None
        conflicts = tuple(conflict_of(self._store, one) for one in told["conflicts"])
        return Outcome(told["status"], conflicts, told["problem"], as_read(told["record"]))

    def _keep(self) -> None:
        """Remembers what became of the edit, since the store is deleted."""
        self._last_id = self._store._model.ticket_id(self.token)
        self._last_told = self._store._model.ticket_outcome(self.token)

    def __repr__(self) -> str:
        return f"Ticket({self.token!r})"


def conflict_of(store: Any, told: Json) -> Conflict:
    """Returns a conflict as the app has it."""
    values = {name: as_read(value) for name, value in told.items() if name in Conflict.__dataclass_fields__}
    return Conflict(**values, _store=store)


@dataclass(frozen=True)
class Overtaken:
    """An edit that was not sent yet, of a group that somebody else has changed meanwhile."""

    resource: str
    id: Any
    section: str
    item: Any
    group: str
    old: Any
    current: Any
    new: Any
    by: Any = None
    _told: Any = None
    _store: Any = None

    def keep_mine(self) -> bool:
        """Takes what stands now as seen: the edit goes on from there, without a conflict. Where it was sent
        meanwhile, `new` is a new edit, from what stands then."""
        return bool(self._store._keep_mine(self))

    def take_theirs(self) -> bool:
        """Drops the edit of this group. Where it was sent meanwhile, `current` is a new edit, from what stands
        then."""
        return bool(self._store._take_theirs(self))


@dataclass(frozen=True)
class Gone:
    """A record that is `None` for this client from now on; its drafts are refused edits. `record` is what the server
    last told of it."""

    resource: str
    id: Any
    record: Any = None


@dataclass(frozen=True)
class EditOfRecord:
    """One record's part of a refused edit, as it was to be sent."""

    resource: str
    id: Any
    changeset: Json


@dataclass(frozen=True)
class RefusedEdit:
    """An edit that was refused for good: `resource`, `id` and `record`, the true one, are of what was at fault.

    `edits` holds every part; nothing of it was written.
    """

    resource: str
    id: Any
    record: Any
    problem: Json
    edits: tuple[EditOfRecord, ...]
    _seq: int = 0
    _store: Any = None

    def resend(self) -> bool:
        """Puts the edit behind the others that wait to be sent, under a new key."""
        return bool(self._store._resend(self._seq))

    def discard(self) -> bool:
        """Gives the edit up."""
        return bool(self._store._discard(self._seq))


Handler = Callable[[Any], Any]
