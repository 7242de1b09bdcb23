"""Live queries, and the thread that keeps them up to date.

A live query has a window: the rows of its result and some behind them, so that a row that leaves has a successor. A change
is tested against the window. The query runs over the store again if the window has too few rows, if the rules are others, or
if a temporary id in its conditions has become another one.
"""

from __future__ import annotations

import bisect
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..changes import Json
from ..errors import FieldMergeError
from ..ids import key_of
from ..model.reading import Reading
from ..values import json_equal
from .query import Options, Query
from .rows import Results, Row, by_order, results
from .running import Runner

if TYPE_CHECKING:
    from .worker import Worker

log = logging.getLogger("fieldmerge")

SPARE_ROWS = 20
"""Rows that a window has behind its result."""


class LiveQuery:
    """A query whose `value` follows the store. Threads may share it. `with` and `close()` end it."""

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
        """Calls back with the value and with each later one, in a thread of the store and at most once in 50 ms. Returns
        a function that ends it."""

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
        """Yields the value and each later one. A slow loop gets the newest one. It ends with `close()`."""
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
        """Whether it has ended."""
        return self._is_closed

    def close(self) -> None:
        """Ends it. No callback begins after this, and loops over it end."""
        self._worker.forget(self)
        with self._changed:
            self._is_closed = True
            self._listeners.clear()
            self._changed.notify_all()
        self._tell_watchers()

    def _watch(self, watcher: Callable[[], object]) -> Callable[[], None]:
        """Calls a function, which must not wait, after each new value and at the end. Returns a function that ends it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def _tell_watchers(self) -> None:
        for watcher in list(self._watchers):
            try:
                watcher()
            except RuntimeError:
                pass  # its event loop has ended

    def _show(self, value: Results | None) -> None:
        """Sets the value, and calls back where it is another one."""
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
        self._shown: tuple[list[Row], str | None] | None = None
        self._fault: str | None = None

    def forget(self) -> None:
        """Has the query run again with the next refresh."""
        self._rows = None

    def refresh(self, model: Reading, runner: Runner, changes: dict[str, Json | None]) -> Results | None:
        """Applies changed records by their keys; returns the value if it is another one. After an error the last value
        stays, and the query runs again with the next change."""
        try:
            return self._refresh(model, runner, changes)
        except (FieldMergeError, sqlite3.Error) as error:
            self._rows = None
            if self._fault != str(error):
                log.warning("a live query of %s fails: %s", self.resource, error)
            self._fault = str(error)
            return None

    def _refresh(self, model: Reading, runner: Runner, changes: dict[str, Json | None]) -> Results | None:
        rules = model.rules
        if rules is None:
            return self._another(Results(), [])
        query = self._query
        is_other = query is None or any(model.resolve(one) != now for one, now in query.temporary.items())
        if is_other or self._edition != rules.edition:
            query = self._query = runner.compile(model, self.resource, self.options)
            self._edition, self._rows = rules.edition, None
        assert query is not None
        if self._rows is not None and changes:
            self._apply(query, self._rows, changes)
        elif self._rows is not None:
            return None
        if self._rows is None or (self._edge is not None and len(self._rows) <= (query.limit or 0)):
            self._run(model, runner, query)
        self._fault = None
        shown = self._rows or []
        return self._another(results(query, shown[: query.limit + 1] if query.limit else shown), shown[: query.limit])

    def _run(self, model: Reading, runner: Runner, query: Query) -> None:
        count = None if query.limit is None else query.limit + 1 + SPARE_ROWS
        rows = runner.run(model, query, self.options.names, count).rows
        self.runs += 1
        self._rows = [self._unchanged(key_of(row.record["id"]), row) for row in rows]
        self._by_key = {key_of(row.record["id"]): row for row in self._rows}
        self._edge = self._rows[-1].order if count is not None and len(rows) == count else None

    def _apply(self, query: Query, rows: list[Row], changes: dict[str, Json | None]) -> None:
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
        """Returns the row as it was if its record is the same now."""
        before = self._by_key.get(key)
        return before if before is not None and json_equal(before.record, row.record) else row

    def _another(self, value: Results, rows: list[Row]) -> Results | None:
        """Returns the value if it is not the one that was shown last."""
        last = self._shown
        is_same = last is not None and last[1] == value.next and len(last[0]) == len(rows)
        if is_same and last is not None and all(one is other for one, other in zip(last[0], rows)):
            return None
        self._shown = list(rows), value.next
        return value
