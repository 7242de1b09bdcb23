"""Reads and observation of records; records of resources that are not kept come from the gateway."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Iterable
from typing import Any

from .changes import Json
from .clock import Clock
from .delivery import Observer
from .described import described
from .editing import as_read
from .errors import Offline, RequestRefused
from .ids import in_url, key_of, plain
from .lists import Lists
from .syncing import Requester, Synchronizer
from .transport import Transport


class Reads(Lists):
    """Reads records."""

    _clock: Clock
    _synchronizer: Synchronizer
    _listener: Callable[[], Transport] | None

    def record(self, resource: str, record_id: Any) -> Any:
        """Returns a record of the store, with unsent edits; `None` if there is none.

        A record of a resource that is not kept is requested from the gateway; throws `Offline` without an answer,
        and `UnknownName` for a resource that the rules do not have.
        """
        self._model.check_name(resource)
        if self._model.keeps(resource):
            return as_read(self._model.view(resource, plain(record_id)))
        return as_read(self._fetched(resource, plain(record_id)))

    def rules(self, resource: str) -> Any:
        """Returns this client's rights on a resource, and the types of its fields: `mayCreate`, `mayDelete` and, in
        `sections.NAME.fields.NAME`, `type`, `nullable`, limits, `members`, `group`, `policy`, `merge`, `mayWrite`, `mayCreate`.

        Throws `UnknownName`, and `RulesUnknown` before the first sync.
        """
        with self._database.lock:
            self._model.resource(resource)
            return as_read(described(self._model.description(resource)))

    def records(self, resource: str) -> list[Any]:
        """Returns every record of a resource, in the order of keys; throws `UnknownName`."""
        self._model.check_name(resource)
        if self._model.keeps(resource):
            return [as_read(record) for record in self._model.all(resource)]
        return [as_read(record) for record in self._fetch_all(resource)]

    def _fetched(self, resource: str, record_id: Any) -> Json | None:
        """Reads a record from the gateway, with the edits of it that were not sent yet."""
        model = self._model
        resolved = model.resolve(record_id)
        pending = model.pending(resource, key_of(resolved))
        if pending and model.view(resource, resolved) is not None:
            return model.view(resource, resolved)
        answer = self._ask(f"/v1/records/{urllib.parse.quote(resource)}/{in_url(resolved)}")
        record = None if answer is None else dict(answer)
        return model._over(resource, record, resolved, pending)

    def _fetch_all(self, resource: str) -> Iterable[Json]:
        after = ""
        while True:
            page = self._ask(f"/v1/records/{urllib.parse.quote(resource)}?limit=500{after}")
            if page is None:
                return
            for record in page["records"]:
                view = self._model.view(resource, record["id"])
                yield record if view is None else view
            if page.get("next") is None:
                return
            after = f"&after={page['next']}"

    def _ask(self, path: str) -> Any:
        """Requests records that are not kept from the gateway; `None` if they do not exist."""
        synchronizer = self._synchronizer
        transport = self._listener() if self._listener is not None else synchronizer.transport
        client = synchronizer.requests.client
        own = Requester(self._model, transport, synchronizer.tokens, clock=self._clock, client=client)
        try:
            answer = own.ask("GET", path)
            if answer.status == 401:
                own.renew()
                answer = own.ask("GET", path)
        except OSError as error:
            raise Offline(f"there is no answer: {error}") from error
        finally:
            if transport is not synchronizer.transport:
                transport.close()
        if answer.status == 200 and answer.json is not None:
            return answer.json
        problem = answer.problem
        if answer.status == 404 and problem is not None and problem["code"] == "no-such-record":
            return None
        if problem is None or answer.status in (429, 503, 504):
            raise Offline(f"there is no answer: {answer.status}")
        raise RequestRefused(answer.status, problem)

    def observe(
        self, resource: str, record_id: Any = None, callback: Callable[[Any], Any] | None = None
    ) -> Callable[[], None]:
        """Calls back with a record now and after each change, or without an id with all records of a resource:
        `store.observe("shoppers", 123, f)`, `store.observe("shoppers", f)`. Returns a function that ends it.
        """
        if callback is None:
            if not callable(record_id):
                raise TypeError("observe needs a function to call back")
            record_id, callback = None, record_id
        self._model.check_name(resource)
        observer = Observer(resource, plain(record_id), callback)
        observer.last = self._observed(observer)
        self._observers.append(observer)
        self._call(callback, observer.last)

        def end() -> None:
            if observer in self._observers:
                self._observers.remove(observer)

        return end

    def _observed(self, observer: Observer) -> Any:
        if observer.record_id is None:
            return [as_read(record) for record in self._model.all(observer.resource)]
        return as_read(self._model.view(observer.resource, observer.record_id))
