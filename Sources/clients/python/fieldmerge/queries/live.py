"""Live queries, and the thread that updates them.

A live query has a window: the rows of its result and some rows after them. They replace rows that leave the result.
Each
change is tested against the window. The query runs over the store again if the window has too few rows, if the rules
change, or if a temporary id in its conditions gets its real id.
"""

from __future__ import annotations

import bisect
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..changes import Json
from ..errors import FieldMergeError
from ..ids import key_of
from ..model.reading import Reading
from ..values import json_equal
from .query import Options, Query
from .rows import Referred, Results, Row, by_order, results
from .running import Runner

if TYPE_CHECKING:
    from .worker import Worker

log = logging.getLogger("fieldmerge")

Changes = Mapping[str, Mapping[str, "Json | None"]]
"""Changed records by resource and key, as an app reads them."""

SPARE_ROWS = 20
"""Rows that a window has behind its result."""


class LiveQuery:
    """A query whose `value` follows the store. Several threads may use it. `with` and `close()` end it."""

    def __init__(self, worker: Worker, resource: str, options: Options) -> None:
        self._worker = worker
        self._window = Window(resource, options)
        self._listeners: dict[Callable[[Any], Any], Results | None] = {}
        """Functions of the app, each with the value that it has got."""
        self._watchers: list[Callable[[], object]] = []
        self._changed = threading.Condition()
        self._value: Results | None = None
        self._is_closed = False

    @property
    def value(self) -> Results | None:
        """The records of the result, with `next`; `None` until the first answer."""
        return self._value

    def subscribe(self, callback: Callable[[Results], Any]) -> Callable[[], None]:
        """Calls back with the value and each later value, in a thread of the store and at most once in 50 ms. Returns
        a function that ends the subscription."""

        def call(value: Results) -> None:
            callback(value)

        with self._changed:
            self._listeners[call] = None
        self._worker.look()

        def end() -> None:
            with self._changed:
                self._listeners.pop(call, None)

        return end

    def __iter__(self) -> Iterator[Results]:
        """Yields the value and each later value. A slow loop gets only the newest value. The loop ends with
        `close()`."""
        last: Results | None = None
        while (value := self._next(last)) is not None:
            yield value
            last = value

    def _next(self, last: Results | None) -> Results | None:
        with self._changed:
            while self._value is last and not self._is_closed:
                self._changed.wait()
            return None if self._is_closed else self._value

    @property
    def is_closed(self) -> bool:
        """Whether the query has ended."""
        return self._is_closed

    def close(self) -> None:
        """Ends the query. No callback begins after this call, and loops over the query end."""
        self._worker.forget(self)
        with self._changed:
            self._is_closed = True
            self._listeners.clear()
            self._changed.notify_all()
        self._tell_watchers()

    def _watch(self, watcher: Callable[[], object]) -> Callable[[], None]:
        """Calls a non-blocking function after each new value and at the end. Returns a function that ends the
        calls."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def _tell_watchers(self) -> None:
        for watcher in list(self._watchers):
            try:
                watcher()
            except RuntimeError:
                pass  # The event loop of the callback has ended.

    def _show(self, value: Results | None) -> None:
        """Sets the value, and calls back if it has changed."""
        with self._changed:
            if value is not None:
                self._value = value
            self._changed.notify_all()
            due = [
                call for call, last in self._listeners.items() if self._value is not None and last is not self._value
            ]
        if value is not None:
            self._tell_watchers()
        for call in due:
            with self._changed:
                if self._is_closed or call not in self._listeners or self._value is None:
                    continue
                shown = self._listeners[call] = self._value
            try:
                call(shown)
            except Exception:
                log.exception("a function of the app failed")

    def __enter__(self) -> LiveQuery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Window:
    """The rows of a live query, as the thread of the worker keeps them."""

    def __init__(self, resource: str, options: Options) -> None:
        self.resource = resource
        self.options = options
        self.runs = 0
        """How often the query ran over the store."""
        self.tests = 0
        """How many changed records were tested."""
        self._query: Query | None = None
        self._edition: str | None = None
        self._rows: list[Row] | None = None
        self._by_key: dict[str, Row] = {}
        self._edge: tuple[Any, ...] | None = None
        """Records behind this place may be missing; `None` if the window has all rows."""
        self._shown: tuple[list[Row], str | None, list[Row | None]] | None = None
        self._beside: dict[tuple[str, str], Row | None] = {}
        """The records that the rows of the value refer to."""
        self._fault: str | None = None

    def forget(self) -> None:
        """Makes the query run again at the next refresh."""
        self._rows = None

    @property
    def watched(self) -> set[str]:
        """The resources whose changes concern the query."""
        return {self.resource, *(one.resource for one in (self._query.follow.values() if self._query else ()))}

    def refresh(self, model: Reading, runner: Runner, changes: Changes) -> Results | None:
        """Applies changed records by their keys. Returns the value if it has changed. After an error, the last value
        stays, and the query runs again at the next change."""
        try:
            return self._refresh(model, runner, changes)
        except (FieldMergeError, sqlite3.Error) as error:
            self._rows = None
            if self._fault != str(error):
                log.warning("a live query of %s fails: %s", self.resource, error)
            self._fault = str(error)
            return None

    def _refresh(self, model: Reading, runner: Runner, all_changes: Changes) -> Results | None:
        changes = all_changes.get(self.resource, {})
        rules = model.rules
        if rules is None:
            return self._another(Results(), [], [])
        query = self._query
        is_other = query is None or any(model.resolve(one) != now for one, now in query.temporary.items())
        if is_other or self._edition != rules.edition:
            query = self._query = runner.compile(model, self.resource, self.options)
            self._edition, self._rows = rules.edition, None
        assert query is not None
        if self._rows is not None and changes:
            self._apply(query, self._rows, changes)
        elif self._rows is not None and not any(key in all_changes.get(resource, {}) for resource, key in self._beside):
            return None
        if self._rows is None or (self._edge is not None and len(self._rows) <= (query.limit or 0)):
            self._run(model, runner, query)
        self._fault = None
        rows = self._rows or []
        shown = rows[: query.limit]
        referred = self._referred(model, query, shown)
        value = results(query, rows[: query.limit + 1] if query.limit else rows, referred)
        return self._another(value, shown, list(referred.rows.values()))

    def _referred(self, model: Reading, query: Query, shown: list[Row]) -> Referred:
        """Returns the records that rows refer to. Unchanged records keep their objects."""
        referred = Referred(model)
        for row in shown if query.follow else ():
            referred.beside(query, row.record)
        for place, now in referred.rows.items():
            before = self._beside.get(place)
            if now is not None and before is not None and json_equal(before.record, now.record):
                referred.rows[place] = before
        self._beside = dict(referred.rows)
        return referred

    def _run(self, model: Reading, runner: Runner, query: Query) -> None:
        count = None if query.limit is None else query.limit + 1 + SPARE_ROWS
        rows = runner.run(model, query, self.options.names, count).rows
        self.runs += 1
        self._rows = [self._unchanged(key_of(row.record["id"]), row) for row in rows]
        self._by_key = {key_of(row.record["id"]): row for row in self._rows}
        self._edge = self._rows[-1].order if count is not None and len(rows) == count else None

    def _apply(self, query: Query, rows: list[Row], changes: Mapping[str, Json | None]) -> None:
        self.tests += len(changes)
        for key, record in changes.items():
            before = self._by_key.get(key)
            row = None
            if record is not None and query.matches(record):
                order = query.order_of(record)
                if query.is_behind(order) and (self._edge is None or order <= self._edge):
                    row = self._unchanged(key, Row(order, record))
            if row is before:
                continue
            if before is not None:
                del rows[bisect.bisect_left(rows, before.order, key=by_order)]
                del self._by_key[key]
            if row is not None:
                bisect.insort(rows, row, key=by_order)
                self._by_key[key] = row
        if query.limit is not None and len(rows) > 2 * (query.limit + SPARE_ROWS):
            for row in rows[query.limit + 1 + SPARE_ROWS :]:
                del self._by_key[key_of(row.record["id"])]
            del rows[query.limit + 1 + SPARE_ROWS :]
            self._edge = rows[-1].order

    def _unchanged(self, key: str, row: Row) -> Row:
        """Returns the earlier row if its record is unchanged."""
        before = self._by_key.get(key)
        return before if before is not None and json_equal(before.record, row.record) else row

    def _another(self, value: Results, rows: list[Row], beside: list[Row | None]) -> Results | None:
        """Returns the value if it differs from the last one."""
        last, now = self._shown, (list(rows), value.next, beside)
        self._shown = now
        is_same = last is not None and last[1] == now[1] and _are_same(last[0], now[0]) and _are_same(last[2], now[2])
        return None if is_same else value


def _are_same(rows: Sequence[Row | None], others: Sequence[Row | None]) -> bool:
    return len(rows) == len(others) and all(one is other for one, other in zip(rows, others))
