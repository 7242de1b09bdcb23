"""Runs queries over the stored records: base, sent and draft."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..changes import Json
from ..model.reading import Reading
from .indexes import IndexFault, propose
from .query import Options, Query
from .rows import Found

log = logging.getLogger("fieldmerge")

SLOW_SECONDS = 0.1
"""From here on `diagnose()` lists a query."""

SLOW_KEPT = 20


class Runner:
    """Compiles and runs queries. `reports` has the slow ones, without values."""

    def __init__(self, searched: Mapping[str, Sequence[str]], on_fault: Callable[[], None]) -> None:
        self.reports: list[Json] = []
        self._searched = searched
        self._on_fault = on_fault

    def compile(self, model: Reading, resource: str, options: Options) -> Query | None:
        """Returns a query by the current rules; `None` before the first sync."""
        rules = model.rules
        if rules is None:
            return None
        searched = self._searched.get(resource, ())
        return Query(rules.resource(resource), options, searched=searched, resolve=model.resolve)

    def run(
        self, model: Reading, query: Query, names: Json, count: int | None, records: Iterable[Json] | None = None
    ) -> Found:
        """Returns the first rows of a query, or all of them. `records` replace the stored records."""
        began = time.monotonic()
        found = Found(query, count)
        index: str | None = None
        if records is not None:
            for record in records:
                found.consider(record)
        else:
            index = self._read(model, query, found)
        found.sort()
        seconds = time.monotonic() - began
        if seconds >= SLOW_SECONDS:
            report = {
                "resource": query.resource,
                **names,
                "seconds": round(seconds, 3),
                "read": found.read,
                "index": index,
            }
            self.reports = [*self.reports[1 - SLOW_KEPT :], report]
        return found

    def _read(self, model: Reading, query: Query, found: Found) -> str | None:
        edited = model.edited(query.resource)
        try:
            index = propose(model, query, found, edited)
        except (sqlite3.DatabaseError, IndexFault) as error:
            log.warning("an index is built again: %s", error)
            self._on_fault()
            index = None
        if index is None:
            found.clear()
            statement = "SELECT key, record FROM base WHERE resource = ?"
            for key, text in model.database.each(statement, query.resource):
                if key not in edited:
                    found.consider(json.loads(text))
        for record in edited.values():
            if record is not None:
                found.consider(record)
        return index


def checked_names(declared: Any, name: str) -> dict[str, tuple[str, ...]]:
    """Returns fields by resource as `open` gets them; throws `TypeError`."""
    found: dict[str, tuple[str, ...]] = {}
    for resource, paths in (declared or {}).items():
        if isinstance(paths, str):
            raise TypeError(f"{name} has a list of paths for each resource")
        found[resource] = tuple(paths)
    return found
