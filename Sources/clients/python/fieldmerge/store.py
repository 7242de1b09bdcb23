"""The store: records that are there without a network, edits that survive anything."""

from __future__ import annotations

import inspect
import logging
import os
import random
import sqlite3
import time
import uuid
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .background import Background
from .changes import Json
from .clock import Clock
from .database import Database
from .errors import RulesUnknown, StorageError, StoreClosed, UnsentEdits, WrongStore
from .forms import RecordDraft
from .identity import IdentityFile
from .ids import plain
from .keeping import Keep, filter_of
from .model import Change, Draft, Model
from .queries.indexes import Declared
from .snapshot import load
from .support import Support
from .syncing import Report, Synchronizer
from .tickets import Conflict, Gone, Lost, Overtaken, RefusedEdit, Ticket
from .tokens import TokenSource
from .transaction import SingleEdit, Transaction
from .transport import HTTPTransport, Transport
from .typed import R, ResourceType, TypedRecords

log = logging.getLogger("fieldmerge")

SIGN_OUT_SECONDS = 2.0
NOTE_SECONDS = 1.0
"""While edits are made, how often their number is written beside the store."""

Token = str | Callable[[], "str | None"] | None


@dataclass(frozen=True)
class Progress:
    """The progress of a snapshot; `total` is an estimate, `None` if there is none."""

    done: int
    total: int | None


@dataclass(frozen=True)
class Status:
    """The status of the store. `phase` is `idle`, `pulling`, `pushing`, `waiting`, `offline`, `needsAuth`,
    `needsUpgrade` or `closed`; times are seconds since 1970."""

    phase: str
    unsent: int
    refused: int
    progress: Progress | None
    last_synced: float | None
    next_try: float | None
    revision: int | None
    message: str | None = None
    link: str | None = None
    error: str | None = None
    problem: Any = None


class Store(Support):
    """The records of one user on one server, returned by `fieldmerge.open`. Threads may share it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        server: str,
        user: str,
        token: Token,
        resources: Iterable[str] | None,
        client: str | None,
        transport: Transport | None = None,
        listener: Callable[[], Transport] | None = None,
        clock: Clock | None = None,
        randomness: random.Random | None = None,
        indexes: Declared = None,
        search: Declared = None,
        keep: Keep = None,
    ) -> None:
        super().__init__()
        self._filter = filter_of(keep)
        self._server = server.rstrip("/")
        self._user = user
        self._clock = clock or Clock()
        self._is_signed_out = False
        self._tickets: weakref.WeakSet[Ticket] = weakref.WeakSet()
        self._background: Background | None = None
        self._identity = IdentityFile(os.fspath(path))
        self._noted_at = 0.0
        while True:
            self._database = _opened(path)
            try:
                self._model = Model(self._database, resources=resources, clock=self._clock)
                self._claim()
                break
            except _SignedOutMeanwhile:
                self._database.close()
            except BaseException:
                self._database.close()
                raise
        self._note_unsent(at_once=True)
        self._model.on_touch = self._on_touch
        self._model.on_outcome = self._on_outcome
        self._listener: Callable[[], Transport] | None = listener
        if transport is None:
            transport = HTTPTransport(self._server)
            self._listener = lambda: HTTPTransport(self._server)
        self._synchronizer = Synchronizer(
            self._model,
            transport,
            TokenSource(token, clock=self._clock),
            clock=self._clock,
            client=client,
            randomness=randomness,
            lane_transport=self._listener() if self._listener is not None else None,
        )
        self._synchronizer.on_status = self._on_status
        self._prepare_queries(indexes, search)

    def _claim(self) -> None:
        """Stores the store's owner, and prepares the store for the resources to keep."""
        database = self._database
        with database.transaction("open"):
            if database.meta("signedOut") and not database.is_left:
                raise _SignedOutMeanwhile()
            database.set_meta("signedOut", None)
            held = database.meta("user")
            if held not in (None, self._user):
                raise WrongStore(f"{database.path} is the store of another user: {held}")
            database.set_meta("user", self._user)
            database.set_meta("server", self._server)  # a gateway may move: a store belongs to its history and its user
            self._note_loss()
            if database.meta("device") is None:
                database.set_meta("device", str(uuid.uuid4()))
            self._identity.store, self._identity.lost = database.meta("device"), database.meta("lost")
            if database.meta("feed") is not None and database.meta("resources") != self._model.resources:
                database.set_meta("resnapshot", True)
                database.set_meta("snapshot", None)
            if database.meta("resources") != self._model.resources:
                database.set_meta("resources", self._model.resources)
                for (resource,) in database.rows("SELECT DISTINCT resource FROM base"):
                    if not self._model.keeps(resource):
                        database.write(
                            "DELETE FROM base WHERE resource = ?1 AND NOT EXISTS (SELECT 1 FROM edit"
                            " WHERE edit.resource = base.resource AND edit.key = base.key)",
                            resource,
                        )
            self._model.keep(self._filter)
            self._model.note_shapes()
        self._model.prune()

    def _note_loss(self) -> None:
        """Queues the event `lost` if the earlier store was deleted, once for each store."""
        told, device = self._identity.read(), self._database.meta("device")
        if told is None or told.store == device or self._database.is_left:
            return
        # A damaged file names no store: then only a new store shows that the one before is gone.
        if self._database.meta("lost") != told.store if told.store else device is None:
            self._database.set_meta("lost", told.store)
            self._model.queue_lost(told.unsent)

    def _note_unsent(self, *, at_once: bool = False) -> None:
        """Writes the number of unsent edits beside the store: the first one and at a rest at once, else once a second."""
        now = self._clock.monotonic()
        is_soon = self._identity.unsent and not at_once and now < self._noted_at + NOTE_SECONDS
        if self._identity.path is None or is_soon:
            return
        self._noted_at = now
        try:
            if self._database.meta("signedOut"):
                self._identity.remove()  # by another process
            else:
                self._identity.write(self._model.counts()[0])
        except (StoreClosed, sqlite3.Error):
            pass  # the store ends, or its next opening writes the number

    def of(self, kind: ResourceType[R]) -> TypedRecords[R]:
        """Returns the records of a resource as dataclasses that `fieldmerge types --language python` wrote."""
        return TypedRecords(self, kind)

    # Editing

    def edit(self, resource: str, record_id: Any, *, base: Any = None) -> SingleEdit:
        """Edits a record: `with store.edit("shoppers", 123) as s: s.customer.street = "…"`.

        It is on disk when the block ends; after an exception, nothing is stored. With `base`, a record that was read
        before, the edit is the difference to the base, and its `old` has the base's values.
        """
        return SingleEdit(self, resource, record_id, is_new=False, base=base)

    def draft(self, resource: str, record_id: Any) -> RecordDraft:
        """Opens a form of a record: the values at its opening are the `old` of its edits."""
        return RecordDraft(self, resource, record_id)

    def create(self, resource: str, record_id: Any = None, *, id: Any = None) -> SingleEdit:
        """Creates a record, in the form of `edit`; it needs an id unless the database numbers it."""
        return SingleEdit(self, resource, record_id if record_id is not None else id, is_new=True)

    def delete(self, resource: str, record_id: Any) -> Ticket:
        """Deletes a record."""
        transaction = Transaction(self)
        transaction.delete(resource, record_id)
        return transaction._commit()

    def transaction(self, *, atomic: str | None = None) -> Transaction:
        """Edits several records as one: `with store.transaction() as t: t.edit(…)…; t.create(…); t.delete(…)`.

        With `atomic="edit"` the server merges valid edits even if it refuses others; otherwise all or none.
        """
        return Transaction(self, atomic=atomic)

    def ticket(self, ticket_id: Any, *, resource: str | None = None) -> Ticket | None:
        """Returns the ticket of an earlier edit by its token, or the latest one by its record's id; `None` where
        there is none."""
        found = self._model.find_ticket(plain(ticket_id), resource=resource)
        return None if found is None else Ticket(self, found[0])

    def state(self, resource: str, record_id: Any, *path: Any, item: Any = None) -> str:
        """Returns `clean`, `draft`, `sending` or `refused` of a group: `store.state("shoppers", 123, "customer",
        "address")`, in a list with the item's id between section and group. A shorter path asks for all below it.
        Throws `UnknownName`.
        """
        names: list[Any] = []
        for part in path:
            names += part.split(".") if isinstance(part, str) and not names else [part]
        if item is not None and names:
            names.insert(1, item)
        return self._model.state(resource, plain(record_id), tuple(names))

    def _rules_version(self) -> str:
        rules = self._model.rules
        if rules is None:
            raise RulesUnknown("the rules are not known yet: let the store sync once")
        return rules.edition

    def _to_edit(self, resource: str, record_id: Any) -> Json | None:
        record = self._model.view(resource, record_id)
        if record is None and not self._model.keeps(resource):
            record = self._fetched(resource, record_id)
            if record is not None:
                self._model.visit(resource, record)
        return record

    def _commit(self, drafts: list[Draft], atomic: str | None, *, replaces: int | None = None) -> Ticket:
        try:
            ticket = Ticket(self, self._model.commit(drafts, atomic=atomic, replaces=replaces))
        except sqlite3.Error as error:
            raise StorageError(f"the edit cannot be stored: {error}") from error
        self._known_edits = self._model.edit_count()
        self._note_unsent()
        self._was_edited()
        return ticket

    def _note_ticket(self, ticket: Ticket) -> None:
        with self._settled:
            self._tickets.add(ticket)

    def _was_edited(self) -> None:
        if self._background is not None:
            self._background.tell("edit")

    def _on_status(self) -> None:
        self._note_unsent(at_once=self._synchronizer.phase == "idle")
        super()._on_status()

    # Events

    def on_conflict(self, handler: Callable[[Conflict], Any]) -> Callable[[], None]:
        """Calls back for conflicts; a value that the handler returns is a new edit of the group. Returns a function
        that ends it."""
        return self._on("conflict", handler)

    def on_overtaken(self, handler: Callable[[Overtaken], Any]) -> Callable[[], None]:
        """Calls back if another client changed a group with an unsent edit."""
        return self._on("overtaken", handler)

    def on_refused(self, handler: Callable[[RefusedEdit], Any]) -> Callable[[], None]:
        """Calls back if an edit was refused."""
        return self._on("refused", handler)

    def on_gone(self, handler: Callable[[Gone], Any]) -> Callable[[], None]:
        """Calls back if a record was deleted for this client."""
        return self._on("gone", handler)

    def on_lost(self, handler: Callable[[Lost], Any]) -> Callable[[], None]:
        """Calls back once if the store's file was deleted or replaced, with the number of edits that are lost."""
        return self._on("lost", handler)

    def on_status(self, handler: Callable[[Status], Any]) -> Callable[[], None]:
        """Calls back if the status has changed."""
        return self._on("status", handler)

    def before_store(self, hook: Callable[[Change], Any]) -> Callable[[], None]:
        """Calls back before a record of the server is stored; edits made through the change's `edit`,
        `create` and `delete` are stored in the same transaction. Returns a function that ends it."""
        if inspect.iscoroutinefunction(hook):
            raise TypeError("before_store runs inside a transaction, so it cannot await anything")
        self._hooks.append(hook)
        self._model.run_hooks = self._run_hooks

        def end() -> None:
            if hook in self._hooks:
                self._hooks.remove(hook)

        return end

    # Syncing

    def sync(self, *, deadline: float | None = None) -> Report:
        """Sends unsent edits and reads changes. Never throws for the network or an answer; these are in the report.
        With a deadline, in seconds, it ends in order before it."""
        report = self._synchronizer.run("sync", deadline=deadline)
        self._note_unsent(at_once=True)
        self._on_outcome()
        return report

    def start(self) -> Store:
        """Starts a thread that syncs if there is a reason; returns the store."""
        if self._database.is_closed:
            raise StoreClosed("the store is closed")
        if self._background is None:
            self._known_edits = self._model.edit_count()
            self._background = Background(
                self._synchronizer,
                clock=self._clock,
                listener=self._listener,
                on_strange_write=self._on_strange_write,
            )
        return self

    def set_token(self, token: Token) -> None:
        """Replaces the token, or the function that returns tokens, for example after `needsAuth`."""
        self._synchronizer.tokens.replace(token)
        if self._background is not None:
            self._background.tell("token")

    def set_online(self, is_online: bool) -> None:
        """Sets whether the device has a network, if the app can detect this: without a network the store sends
        nothing.
        """
        if not is_online:
            self._synchronizer.transport.abort()
            self._synchronizer.lane.abort()
        if self._background is not None:
            self._background.tell("online" if is_online else "offline")
        elif not is_online:
            self._synchronizer.run("offline")

    @property
    def status(self) -> Status:
        """The current status of the store."""
        situation = self._synchronizer.situation
        if self._database.is_closed:
            return Status("closed", 0, 0, None, None, None, None)
        with self._database.lock:
            unsent, refused = self._model.counts()
            note = self._database.meta("snapshot") or self._database.meta("refresh")
            return Status(
                phase=self._synchronizer.phase,
                unsent=unsent,
                refused=refused,
                progress=Progress(note["done"], note.get("records")) if note else None,
                last_synced=self._database.meta("lastSynced"),
                next_try=situation.next_try or self._synchronizer.lane_next_try,
                revision=self._database.meta("revision"),
                message=situation.message,
                link=situation.link,
                error=situation.error,
                problem=situation.problem,
            )

    def resync(self) -> Report:
        """Reads everything again; unsent edits keep their `old`."""
        self._model.note(resnapshot=True, snapshot=None)
        return self.sync()

    def sign_out(self, unsent: str = "refuse") -> None:
        """Deletes the local store. While edits are unsent, `refuse` throws `UnsentEdits`, `send` sends them first
        (and throws after a failure), `discard` drops them. A refused edit that is not in the gateway's journal
        counts as unsent."""
        if unsent not in ("refuse", "send", "discard"):
            raise ValueError("unsent is “refuse”, “send” or “discard”")
        if unsent == "send" and self._model.counts()[0]:
            self.sync()
        with self._settled:
            tickets = list(self._tickets)
        # An edit that is made just now is not lost either: the store is emptied in one transaction.
        with self._database.transaction("sign out"):
            for ticket in tickets:
                ticket._keep()
            count = self._model.discard_all(limit=(1 << 62) if unsent == "discard" else 0)
        if count:
            raise UnsentEdits(count)
        self._is_signed_out = True
        self._end()
        self._indexer.drop_tables()
        self._identity.remove()
        self._database.remove()
        self._on_outcome()

    # End

    def close(self) -> None:
        """Ends syncing and closes the file; unsent edits are sent after the next opening."""
        self._end()
        self._note_unsent(at_once=True)
        self._database.close()
        self._on_outcome()

    def _end(self) -> None:
        background, self._background = self._background, None
        if background is not None:
            background.close()
        else:
            self._synchronizer.close()
        self._end_queries()
        self._deliver()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _SignedOutMeanwhile(Exception):
    """Another process has signed out since the file was opened, and deletes it."""


def _opened(path: str | os.PathLike[str]) -> Database:
    """Opens the file of a store. If another process has signed out of it, waits until that has deleted the file, and
    takes it over if that was killed."""
    end = time.monotonic() + SIGN_OUT_SECONDS
    while True:
        database = Database(path)
        database.is_left = bool(database.meta("signedOut")) and time.monotonic() > end
        if not database.meta("signedOut") or database.is_left:
            return database
        database.close()
        time.sleep(0.05)


def open_store(
    path: str | os.PathLike[str],
    *,
    server: str,
    user: str,
    token: Token = None,
    resources: Iterable[str] | None = None,
    client: str | None = None,
    snapshot: str | os.PathLike[str] | None = None,
    indexes: Declared = None,
    search: Declared = None,
    keep: Keep = None,
    **testing: Any,
) -> Store:
    """Opens or creates the store of a user on a server; needs no network.

    - `path`: the store's file, `:memory:` for tests. One file for each database and user; processes may share it.
    - `server`: the gateway's address, which may change.
    - `token`: a bearer token, or a function that returns one; it is called again when the gateway answers 401.
    - `resources`: the resources to keep (without it: all that the user may read; empty: none).
    - `keep`: a subset, such as `{"orders": {"where": {"order.status": ["open"]}}}`: of these resources only records that match
      are kept. All processes of a store use the subset of the process that opened it last.
    - `client`: name and version of the program, such as `shop-till/3.2`, sent as `X-Client`.
    - `indexes`: fields by which queries find or sort, such as `{"orders": ["order.status", "order.due"]}`; built in the
      background. Without an index a query reads all records of the resource.
    - `search`: fields in which `search` finds words, such as `{"orders": ["order.title"]}`.
    - `snapshot`: a first snapshot, NDJSON (also .gz) or SQLite; of no effect once the store has synced.

    Throws `WrongStore` if the file belongs to another user, `NewerStore` if a later version has written it, `BadSnapshot`
    for a broken snapshot.
    """
    if not user:
        raise ValueError("user names whose store this is")
    if isinstance(resources, str):
        raise TypeError("resources is a list of names")
    store = Store(
        path,
        server=server,
        user=user,
        token=token,
        resources=resources,
        client=client,
        indexes=indexes,
        search=search,
        keep=keep,
        **testing,
    )
    if snapshot is not None and store._model.place()[0] is None:
        try:
            load(store._model, snapshot)
        except BaseException:
            store.close()
            raise
    return store
