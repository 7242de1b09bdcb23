"""Rows of a result, and the state of a running query."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..changes import Json
from ..editing import as_read
from ..ids import key_of
from ..model.reading import Reading
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
    """The records of a result in their order. `next` is the `after` of the next page, `None` on the last page.

    `followed` has a dictionary for each record: for each name of `follow`, the target record, or `None`.
    """

    next: str | None = None
    followed: Sequence[Mapping[str, Any]] = ()


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
        """Tests a record. Returns whether it is in the result."""
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
        """Sorts the rows, and drops the rows beyond the limit."""
        if self.count is None:
            self.rows.sort(key=by_order)
        else:
            self.rows = heapq.nsmallest(self.count, self.rows, key=by_order)


class Referred:
    """The records that rows refer to, each read once."""

    def __init__(self, model: Reading) -> None:
        self.model = model
        self.rows: dict[tuple[str, str], Row | None] = {}

    def beside(self, query: Query, record: Json) -> dict[str, Row | None]:
        """Returns the records that a record refers to, by the names of `follow`."""
        found: dict[str, Row | None] = {}
        for name, one in query.follow.items():
            record_id = one.id_in(record)
            found[name] = None if record_id is None else self._row(one.resource, self.model.resolve(record_id))
        return found

    def _row(self, resource: str, record_id: Any) -> Row | None:
        place = resource, key_of(record_id)
        if place not in self.rows:
            record = self.model.view(resource, record_id)
            self.rows[place] = None if record is None else Row((), record)
        return self.rows[place]


def results(query: Query, rows: list[Row], referred: Referred | None = None) -> Results:
    """Returns the result of rows. There may be one row more than the query's limit."""
    shown = rows if query.limit is None else rows[: query.limit]
    result = Results(row.read for row in shown)
    if referred is not None and query.follow:
        beside = [referred.beside(query, row.record) for row in shown]
        result.followed = [{name: row and row.read for name, row in one.items()} for one in beside]
    result.next = query.next_of(shown[-1].order) if len(rows) > len(shown) else None
    return result
