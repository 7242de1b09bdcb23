"""Tickets and outcomes of edits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
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
    """A group or row that two edits changed: the user's base (`old`), the value of the other edit (`current`), the
    user's value (`new`), and the value in the database (`written`)."""

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
    name: str | None = None
    """The name of the entry in `store.conflicts()`. Decisions remove it from there; a second one does nothing."""
    kind: str = "conflict"
    _fields: Any = None
    """The names of the fields of the group when the entry was made."""
    _store: Any = None

    def take_mine(self) -> Ticket | None:
        """Writes `new` again, with the current value as its base. Returns its ticket; `None` if no write is needed."""
        ticket: Ticket | None = self._store._take_mine(self)
        return ticket

    def take_theirs(self) -> Ticket | None:
        """Writes `current` again if this client has overwritten it. Returns the ticket of this edit, if any."""
        ticket: Ticket | None = self._store._take_current(self)
        return ticket

    def dismiss(self) -> None:
        """Removes the entry from the list."""
        self._store._dismiss(self)


@dataclass(frozen=True)
class Outcome:
    """The outcome of an edit: `status` is `merged`, `refused` or `discarded`."""

    status: str
    conflicts: tuple[Conflict, ...]
    problem: Json | None
    record: Any


class Ticket:
    """The handle of an edit; `store.ticket(…)` finds it again after a restart, by its `token` or its `id`."""

    def __init__(self, store: Store, token: str) -> None:
        self._store = store
        self.token = token
        self._last_id = store._model.ticket_id(token)
        self._last_told: Json | None = None
        store._note_ticket(self)

    @property
    def id(self) -> Any:
        """The id of the record (of several the first), temporary until the gateway has assigned one."""
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
        """Waits for the outcome of the edit. Throws `TimeoutError` if there is none within this number of seconds.

        The store has to sync meanwhile: by `store.start()`, or `store.sync()` in another thread.
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
        """Keeps the outcome of the edit, because the store is deleted."""
        self._last_id = self._store._model.ticket_id(self.token)
        self._last_told = self._store._model.ticket_outcome(self.token)

    def __repr__(self) -> str:
        return f"Ticket({self.token!r})"


def overtaken_of(store: Any, told: Json) -> Overtaken:
    """Returns an overtaken edit for the app."""
    values = {name: as_read(value) for name, value in told.items() if name in Overtaken.__dataclass_fields__}
    return Overtaken(**values, _fields=told.get("fields"), _told=told, _store=store)


def conflict_of(store: Any, told: Json) -> Conflict:
    """Returns a conflict for the app."""
    values = {name: as_read(value) for name, value in told.items() if name in Conflict.__dataclass_fields__}
    return Conflict(**values, _fields=told.get("fields"), _store=store)


@dataclass(frozen=True)
class Overtaken:
    """An unsent edit of a group that another client has changed since."""

    resource: str
    id: Any
    section: str
    item: Any
    group: str
    old: Any
    current: Any
    new: Any
    by: Any = None
    name: str | None = None
    """The name of the entry in `store.conflicts()`; `None` for an open form."""
    kind: str = "overtaken"
    draft: Any = None
    """The form whose group has changed in the store."""
    _fields: Any = None
    """The names of the fields of the group when the entry was made."""
    _told: Any = None
    _store: Any = None

    def take_mine(self) -> bool:
        """Does the same as `keep_mine`."""
        return self.keep_mine()

    def dismiss(self) -> None:
        """Removes the entry from the list. The edit is sent as it is."""
        if self.draft is None:
            self._store._dismiss(self)

    def keep_mine(self) -> bool:
        """Keeps the edit, with `current` as its base, so that it causes no conflict. If the edit was sent meanwhile,
        this writes `new` in a new edit."""
        return bool(self._store._keep_mine(self))

    def take_theirs(self) -> bool:
        """Drops the edit of this group. If it was sent meanwhile, this writes `current` in a new edit."""
        return bool(self._store._take_theirs(self))


@dataclass(frozen=True)
class Gone:
    """A record that was deleted, or that this client may no longer read. Its drafts become refused edits. `record` is
    its last version."""

    resource: str
    id: Any
    record: Any = None


@dataclass(frozen=True)
class Lost:
    """The store's file was deleted or replaced. `unsent` edits are lost with it; `None` if the number is unknown."""

    unsent: int | None


@dataclass(frozen=True)
class EditOfRecord:
    """One record's part of a refused edit, as it was to be sent."""

    resource: str
    id: Any
    changeset: Json


@dataclass(frozen=True)
class UnsentEdit:
    """A push without an answer: `resource` and `id` of its first edit. `state` is `draft`, or `sending` once the
    gateway may have it."""

    name: str
    resource: str
    id: Any
    edits: tuple[EditOfRecord, ...]
    state: str
    _edits: Any = None
    _store: Any = None

    def discard(self) -> bool:
        """Removes it from the queue, with the pushes that use a row that it creates; false if it has an answer.

        Throws `NotPossible` if it is being sent, or if other edits have joined it since the list was read.
        """
        return bool(self._store._discard_unsent(self))


@dataclass(frozen=True)
class RefusedEdit:
    """A refused edit: `resource`, `id` and the current `record` are of the refused record.

    `edits` contains every part; none of them was written.
    """

    resource: str
    id: Any
    record: Any
    problem: Json
    edits: tuple[EditOfRecord, ...]
    name: str = ""
    faulty: tuple[str, ...] = ()
    """The paths of the groups that the refusal names, such as `customer.address` or `groceries[1].item`."""
    _seq: int = 0
    _store: Any = None

    def resend(self, *, without: Iterable[str] = ()) -> bool:
        """Moves the edit to the end of the queue, under a new key. Returns false if it is no longer refused.

        The groups of the paths `without` remain refused. Throws `UnknownName` for an unknown path, and `NotPossible` if
        nothing is left to send.
        """
        return bool(self._store._resend(self._seq, list(without)))

    def restore(self) -> Any:
        """Returns an open form of the record as it is now, with the values of the edit. The entry leaves the list when
        the form is saved. Throws `NotPossible` for an edit of several records."""
        return self._store._restore(self._seq)

    def discard(self) -> bool:
        """Gives the edit up."""
        return bool(self._store._discard(self._seq))


Handler = Callable[[Any], Any]
