"""Delivery of events and changed records to the functions of the app."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .changes import Json
from .database import Database
from .editing import as_read
from .errors import StoreClosed
from .model import Change, Model
from .tickets import Gone, Lost, conflict_of, overtaken_of
from .transaction import Transaction
from .values import json_equal

if TYPE_CHECKING:
    from .queries.worker import Worker
    from .forms import RecordDraft

log = logging.getLogger("fieldmerge")


@dataclass
class Observer:
    """A callback for a record, or for all records of a resource."""

    resource: str
    record_id: Any
    callback: Callable[[Any], Any]
    last: Any = None
    due: float = 0.0
    """During a snapshot, when all records of a resource are read again at the earliest."""


class Delivery:
    """Calls the app back, in one thread at a time.

    An event is kept on disk until a function of the app has returned. If the function throws, or returns a future that
    fails, the event is delivered again after the next start of the program.
    """

    _model: Model
    _database: Database
    _worker: Worker

    def __init__(self) -> None:
        self._settled = threading.Condition()
        self._handlers: dict[str, list[Callable[[Any], Any]]] = {}
        self._hooks: list[Callable[[Change], Any]] = []
        self._observers: list[Observer] = []
        self._forms: list[RecordDraft] = []
        self._touched: set[tuple[str, str]] = set()
        self._delivery = threading.Lock()
        self._deliverer: int | None = None
        self._has_news = False
        self._unhandled: set[int] = set()
        """The events that are being handled, or whose function has failed."""
        self._last_status: Any = None
        self._known_edits = 0
        self._outcome_listeners: list[Callable[[], None]] = []

    # What a store adds

    def refused_edits(self) -> list[Any]:
        raise NotImplementedError

    def _was_edited(self) -> None:
        raise NotImplementedError

    def _observed(self, observer: Observer) -> Any:
        raise NotImplementedError

    def _answer(self, conflict: Any, value: Any) -> None:
        raise NotImplementedError

    @property
    def status(self) -> Any:
        raise NotImplementedError

    def _on(self, kind: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
        self._handlers.setdefault(kind, []).append(handler)
        self._deliver()

        def end() -> None:
            if handler in self._handlers[kind]:
                self._handlers[kind].remove(handler)

        return end

    def _run_hooks(self, incoming: list[tuple[str, Any, Json | None, Json | None]]) -> None:
        if self._model.rules is None:
            return
        for resource, record_id, before, after in incoming:
            for hook in list(self._hooks):
                transaction = Transaction(self)  # type: ignore[arg-type]
                change = Change(resource, record_id, as_read(before), as_read(after), transaction)
                try:
                    hook(change)
                    drafts = transaction._drafts()
                    if drafts:
                        self._model.commit(drafts, atomic=None)
                except (sqlite3.Error, StoreClosed):
                    raise
                except Exception:
                    log.exception("before_store failed for %s %s", resource, record_id)

    def _on_touch(self, touched: set[tuple[str, str]]) -> None:
        self._touched |= touched
        self._worker.touch(touched)
        self._deliver()

    def _on_outcome(self) -> None:
        with self._settled:
            self._settled.notify_all()
        for listener in list(self._outcome_listeners):
            listener()

    def _on_status(self) -> None:
        self._deliver()

    def _on_strange_write(self) -> None:
        """Handles writes of another process: every observed value may have changed."""
        self._on_outcome()
        self._worker.touch_all()
        self._touched |= {(observer.resource, "*") for observer in self._observers}
        self._deliver()
        # Only its edits are a reason to sync. If its own sync were a reason, two processes would sync without end.
        edits = self._model.edit_count()
        if edits != self._known_edits:
            self._known_edits = edits
            self._was_edited()

    def _deliver(self) -> None:
        """Calls the app's functions for events, in one thread at a time. Never throws."""
        self._has_news = True
        while self._has_news:
            if self._deliverer == threading.get_ident():
                return
            if not self._delivery.acquire(blocking=False):
                return  # the thread that calls back now will find it
            try:
                self._deliverer = threading.get_ident()
                while self._has_news:
                    self._has_news = False
                    try:
                        self._deliver_events()
                        self._deliver_forms()
                        self._deliver_records()
                        self._deliver_status()
                    except StoreClosed:
                        return
                    except Exception:
                        # What is stored stays stored, and the events of it come with the next news.
                        log.exception("the app could not be called back")
                        self._touched |= {(observer.resource, "*") for observer in self._observers}
                        return
            finally:
                self._deliverer = None
                self._delivery.release()

    def _deliver_events(self) -> None:
        after = 0
        while kinds := [kind for kind, handlers in self._handlers.items() if handlers and kind != "status"]:
            event = self._model.next_event(kinds, after=after, without=self._unhandled)
            if event is None:
                return
            after, kind, body = event
            told = self._event(kind, body)
            if told is None:
                self._model.forget_event(after)
            else:
                self._hand_over(after, kind, told)

    def _hand_over(self, number: int, kind: str, told: Any) -> None:
        """Calls back with an event, and deletes it once every function has returned."""
        self._unhandled.add(number)
        waiting: list[Future[Any]] = []
        for handler in list(self._handlers[kind]):
            try:
                answer = handler(told)
            except Exception:
                log.exception("a handler of the app failed; the event comes again with the next start")
                return
            if isinstance(answer, Future):
                waiting.append(answer)
            elif kind == "conflict" and answer is not None:
                self._answer(told, answer)
        if not waiting:
            self._forget(number)
            return

        def ended(_: Any) -> None:
            if any(one.cancelled() for one in waiting):
                self._unhandled.discard(number)
                self._deliver()  # another loop may listen already
            elif all(one.done() and one.exception() is None for one in waiting):
                self._forget(number)

        for one in waiting:
            one.add_done_callback(ended)

    def _forget(self, number: int) -> None:
        try:
            self._model.forget_event(number)
            self._unhandled.discard(number)
        except StoreClosed:
            pass

    def _event(self, kind: str, body: Json) -> Any:
        if kind == "conflict":
            return conflict_of(self, body)
        if kind == "overtaken":
            return overtaken_of(self, body)
        if kind == "lost":
            return Lost(body["unsent"])
        if kind == "gone":
            return Gone(body["resource"], body["id"], as_read(body.get("record")))
        return next((entry for entry in self.refused_edits() if entry._seq == body["entry"]), None)

    def _deliver_forms(self) -> None:
        """Tells which groups of open forms have changed below them. These events are neither stored nor listed."""
        resources = {resource for resource, _ in self._touched}
        for form in [form for form in self._forms if form.resource in resources]:
            for event in form._overtaken():
                for handler in list(self._handlers.get("overtaken", [])):
                    self._call(handler, event)

    def _deliver_records(self) -> None:
        touched, self._touched = self._touched, set()
        if not touched:
            return
        resources = {resource for resource, _ in touched}
        is_filling = self._database.meta("snapshot") is not None or self._database.meta("refresh") is not None
        for observer in list(self._observers):
            if observer.resource not in resources:
                continue
            began = time.monotonic()
            if is_filling and observer.record_id is None and began < observer.due:
                self._touched.add((observer.resource, "*"))  # reported when the thread is idle, or at the end
                continue
            now = self._observed(observer)
            observer.due = time.monotonic() + 5 * (time.monotonic() - began)
            if not json_equal(now, observer.last):
                observer.last = now
                self._call(observer.callback, now)

    def _deliver_status(self) -> None:
        if not self._handlers.get("status"):
            return
        status = self.status
        if status != self._last_status:
            self._last_status = status
            for handler in list(self._handlers["status"]):
                self._call(handler, status)

    def _call(self, handler: Callable[[Any], Any], value: Any) -> Any:
        try:
            return handler(value)
        except Exception:
            log.exception("a handler of the app failed")
            return None
