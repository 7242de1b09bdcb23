"""Rows of a result, and what a query finds."""

from __future__ import annotations

import heapq
from operator import attrgetter
from typing import Any

from ..changes import Json
from ..editing import as_read
from .query import Query

by_order = attrgetter("order")


class Row:
    """A record of a result with its place in the order."""

    __slots__ = ("order", "record", "_read")

    def __init__(self, order: tuple[Any, ...], record: Json) -> None:
        self.order = order
        self.record = record
        self._read: Any = None

    @property
    def read(self) -> Any:
        """The record as an app reads it."""
        if self._read is None:
            self._read = as_read(self.record)
        return self._read


class Results(list[Any]):
    """The records of a result in their order. `next` is the `after` of the page behind them, `None` if nothing follows."""

    next: str | None = None


class Found:
    """The first rows of a query, or all of them."""

    def __init__(self, query: Query, count: int | None) -> None:
        self.query = query
        self.count = count
        self.rows: list[Row] = []
        self.read = 0

    def clear(self) -> None:
        self.rows = []

    def consider(self, record: Json) -> bool:
        """Tests a record; returns whether it is in the result."""
        self.read += 1
        if not self.query.matches(record):
            return False
        order = self.query.order_of(record)
        if not self.query.is_behind(order):
            return False
        self.rows.append(Row(order, record))
        if self.count is not None and len(self.rows) >= 4 * self.count + 1_000:
            self.sort()
        return True

    def sort(self) -> None:
        """Sorts the rows, and leaves out those that are too many."""
        if self.count is None:
            self.rows.sort(key=by_order)
        else:
            self.rows = heapq.nsmallest(self.count, self.rows, key=by_order)


def results(query: Query, rows: list[Row]) -> Results:
    """Returns the result of rows, of which there may be one more than the query's limit."""
    shown = rows if query.limit is None else rows[: query.limit]
    result = Results(row.read for row in shown)
    result.next = query.next_of(shown[-1].order) if len(rows) > len(shown) else None
    return result
