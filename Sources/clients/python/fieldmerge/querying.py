"""Queries and live queries of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from .errors import InvalidQuery, StoreClosed
from .model.reading import Reading
from .queries import LiveQuery, Results
from .queries.indexes import Declared, Indexer
from .queries.query import Options, Query
from .queries.rows import Referred, Row, results
from .queries.running import Runner, checked_names
from .queries.worker import Worker
from .reads import Reads


T = TypeVar("T")


class Querying(Reads):
    """Finds records by their values."""

    def _prepare_queries(self, indexes: Declared, search: Declared) -> None:
        """Begins to build the declared indexes."""
        declared = None if indexes is None else checked_names(indexes, "indexes")
        searched = checked_names(search, "search")
        self._indexer = Indexer(self._model, indexes=declared, search=None if search is None else searched)
        self._reader: Reading | None = None
        self._runner = Runner(searched, lambda: self._worker.fault())
        self._worker = Worker(self._reading, self._runner, self._indexer, self._clock)
        if self._indexer.has_work:
            self._worker.index()

    def _reading(self) -> Reading:
        """Returns the records as a connection reads them for which no edit waits."""
        with self._database.lock:
            if self._database.is_closed:
                raise StoreClosed("the store is closed")
            if self._reader is None:
                database = self._database.reader()
                is_own = database is not self._database
                resources = self._model.resources
                self._reader = Reading(database, resources=resources, clock=self._clock) if is_own else self._model
            return self._reader

    def _end_queries(self) -> None:
        database = None if self._reader in (None, self._model) else self._reader.database
        self._worker.close(lambda: None if database is None else database.interrupt())
        if database is not None:
            database.close()

    def query(
        self,
        resource: str,
        *,
        where: Mapping[str, Any] | None = None,
        search: str | None = None,
        sort: Sequence[str] = (),
        limit: int | None = None,
        after: str | None = None,
        follow: Mapping[str, str] | None = None,
    ) -> Results:
        """Returns the records that match, in order: `store.query("orders", where={"order.status": ["open"]},
        sort=["-order.due"], limit=50)`. The result includes unsent edits.

        - `where`: a value or `None` (equal), a list (one of), or a dictionary of `from`, `before`, `startsWith`, `not`.
        - `search`: words or their beginnings in the fields that `open` got as `search`.
        - `sort`: paths; `-` reverses. The id decides ties.
        - `after`: the `next` of the page before.
        - `follow`: paths of references by name, such as `{"customer": "order.customer"}`. `followed` of the result then has the
          referred records beside each record: `found.followed[0]["customer"]`.

        Throws `InvalidQuery`, `UnknownName` and `InvalidValue`.
        """
        options = Options(where, search, sort, limit, after, follow)
        return self._found(resource, options, has_next=True, use=results) or Results()

    def count(self, resource: str, *, where: Mapping[str, Any] | None = None, search: str | None = None) -> int:
        """Returns how many records match. Throws as `query` does."""
        return self._found(resource, Options(where, search), use=lambda _, rows, __: len(rows)) or 0

    def live(
        self,
        resource: str,
        *,
        where: Mapping[str, Any] | None = None,
        search: str | None = None,
        sort: Sequence[str] = (),
        limit: int | None = None,
        after: str | None = None,
        follow: Mapping[str, str] | None = None,
    ) -> LiveQuery:
        """Returns a query that follows the store: `value`, `subscribe(f)`, `for records in live`, `close()`. Throws as
        `query` does."""
        options = Options(where, search, sort, limit, after, follow)
        self._model.check_name(resource)
        if not self._model.keeps(resource):
            raise InvalidQuery(resource, "its records are not kept here: name it in “resources” at “open”")
        with self._database.lock:
            self._runner.compile(self._model, resource, options)
        live = LiveQuery(self._worker, resource, options)
        self._worker.add(live)
        return live

    def _found(
        self,
        resource: str,
        options: Options,
        *,
        use: Callable[[Query, list[Row], Referred], T],
        has_next: bool = False,
    ) -> T | None:
        """Runs a query and returns the result of `use` for its rows; `None` before the first sync."""
        self._model.check_name(resource)
        records = None if self._model.keeps(resource) else list(self._fetch_all(resource))
        model = self._model if self._database.is_writing else self._reading()
        with model.database.snapshot():
            query = self._runner.compile(model, resource, options)
            if query is None:
                return None
            count = query.limit + 1 if query.limit is not None and has_next else None
            return use(query, self._runner.run(model, query, options.names, count, records).rows, Referred(model))
