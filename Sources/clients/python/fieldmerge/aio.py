"""The same store for `asyncio`: nothing here blocks the loop.

async with await fieldmerge.aio.open("shop.db", server=…, user="anna", token=get_token) as store:
    await store.sync()
    async with store.edit("shoppers", 123) as s:
        s.customer.street = "2 High St"
    async for conflict in store.conflicts():
        …
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from . import store as blocking
from .aio_entries import AsyncDraft, Events, Listed, Wrap
from .aio_typed import AsyncTypedRecords
from .changes import Json
from .keeping import Keep
from .queries import LiveQuery, Results
from .queries.indexes import Declared
from .syncing import Report
from .tickets import Outcome, Ticket
from .transaction import RecordEdit, SingleEdit, Transaction
from .typed import R, ResourceType

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .queries.query import CountOptions, QueryOptions

T = TypeVar("T")


class AsyncTicket:
    """A handle on an edit."""

    def __init__(self, ticket: Ticket, owner: AsyncStore) -> None:
        self._ticket = ticket
        self._owner = owner

    @property
    def id(self) -> Any:
        """The id of the record, temporary until the gateway has assigned one."""
        return self._ticket.id

    @property
    def token(self) -> str:
        """The name by which `store.ticket(…)` finds the ticket."""
        return self._ticket.token

    async def outcome(self, timeout: float | None = None) -> Outcome:
        """Waits for the outcome of the edit; throws `TimeoutError` if there is none within this number of seconds."""
        return await self._owner._wait_for(self._ticket, timeout)


class _AsyncEdit:
    def __init__(self, owner: AsyncStore, edit: SingleEdit) -> None:
        self._owner = owner
        self._edit = edit
        self._record: RecordEdit | None = None

    async def __aenter__(self) -> RecordEdit:
        self._record = await self._owner._run(self._edit.__enter__)
        return self._record

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._owner._run(self._edit.__exit__, kind, error, trace)
        if self._record is not None and self._record.ticket is not None:
            object.__setattr__(self._record, "ticket", AsyncTicket(self._record.ticket, self._owner))


class AsyncTransaction:
    """Edits of several records that become one push; `edit` and `create` return records to change."""

    def __init__(self, owner: AsyncStore, transaction: Transaction) -> None:
        self._owner = owner
        self._transaction = transaction
        self.ticket: AsyncTicket | None = None

    async def edit(self, resource: str, record_id: Any, *, base: Any = None) -> RecordEdit:
        """Returns a record to be changed."""
        return await self._owner._run(self._transaction.edit, resource, record_id, base=base)

    async def create(self, resource: str, record_id: Any = None) -> RecordEdit:
        """Returns a new record to be filled in."""
        return await self._owner._run(self._transaction.create, resource, record_id)

    async def delete(self, resource: str, record_id: Any) -> None:
        """Deletes a record."""
        await self._owner._run(self._transaction.delete, resource, record_id)

    async def record(self, resource: str, record_id: Any) -> Any:
        """Returns a record as it is with the edits of this transaction."""
        return await self._owner._run(self._transaction.record, resource, record_id)

    async def __aenter__(self) -> AsyncTransaction:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.ticket = AsyncTicket(await self._owner._run(self._transaction._commit), self._owner)


class AsyncLive:
    """A live query. `async for records in live` yields the value and each later one; a slow loop gets the newest one."""

    def __init__(self, live: LiveQuery) -> None:
        self._live = live

    @property
    def value(self) -> Results | None:
        """The records of the result; `None` until the first answer."""
        return self._live.value

    async def __aiter__(self) -> AsyncIterator[Results]:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        end = self._live._watch(lambda: loop.call_soon_threadsafe(changed.set))
        last: Results | None = None
        try:
            while not self._live.is_closed:
                changed.clear()
                value = self._live.value
                if value is last or value is None:
                    await changed.wait()
                else:
                    last = value
                    yield value
        finally:
            end()

    def close(self) -> None:
        """Ends it, and loops over it."""
        self._live.close()

    async def __aenter__(self) -> AsyncLive:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncStore:
    """A store whose functions are coroutines, and whose events are asynchronous iterators."""

    def __init__(self, store: blocking.Store, pool: ThreadPoolExecutor) -> None:
        self.blocking = store
        """The store behind it, for what blocks anyway."""
        self._pool = pool
        self._wrap = Wrap(self._run, lambda ticket: AsyncTicket(ticket, self))

    async def _run(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        context = contextvars.copy_context()
        call = functools.partial(context.run, functools.partial(function, *arguments, **named))
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    async def record(self, resource: str, record_id: Any) -> Any:
        """Returns a record, or `None`."""
        return await self._run(self.blocking.record, resource, record_id)

    async def rules(self, resource: str) -> Any:
        """Returns the types of a resource's fields, and this client's rights."""
        return await self._run(self.blocking.rules, resource)

    async def records(self, resource: str) -> list[Any]:
        """Returns every record of a resource."""
        return await self._run(self.blocking.records, resource)

    async def query(self, resource: str, **options: Unpack[QueryOptions]) -> Results:
        """Returns the records that match; see the blocking method for `where`, `search`, `sort`, `limit` and
        `after`.
        """
        return await self._run(self.blocking.query, resource, **options)

    async def count(self, resource: str, **options: Unpack[CountOptions]) -> int:
        """Returns how many records match."""
        return await self._run(self.blocking.count, resource, **options)

    async def live(self, resource: str, **options: Unpack[QueryOptions]) -> AsyncLive:
        """Returns a query that follows the store."""
        return AsyncLive(await self._run(self.blocking.live, resource, **options))

    def of(self, kind: ResourceType[R]) -> AsyncTypedRecords[R]:
        """The records of a resource as dataclasses that `fieldmerge types` writes."""
        return AsyncTypedRecords(self, kind)

    def edit(self, resource: str, record_id: Any, *, base: Any = None) -> _AsyncEdit:
        """Edits a record: `async with store.edit("shoppers", 123) as s:`. See the blocking method for `base`."""
        return _AsyncEdit(self, self.blocking.edit(resource, record_id, base=base))

    def create(self, resource: str, record_id: Any = None) -> _AsyncEdit:
        """Creates a record."""
        return _AsyncEdit(self, self.blocking.create(resource, record_id))

    async def delete(self, resource: str, record_id: Any) -> AsyncTicket:
        """Deletes a record."""
        return AsyncTicket(await self._run(self.blocking.delete, resource, record_id), self)

    def transaction(self, *, atomic: str | None = None) -> AsyncTransaction:
        """Edits several records as one: `async with store.transaction() as t:`."""
        return AsyncTransaction(self, self.blocking.transaction(atomic=atomic))

    async def ticket(self, ticket_id: Any, *, resource: str | None = None) -> AsyncTicket | None:
        """Returns the ticket of an earlier edit."""
        found = await self._run(self.blocking.ticket, ticket_id, resource=resource)
        return None if found is None else AsyncTicket(found, self)

    async def state(self, resource: str, record_id: Any, *path: Any) -> str:
        """Returns `clean`, `draft`, `sending` or `refused`."""
        return await self._run(self.blocking.state, resource, record_id, *path)

    async def sync(self, *, deadline: float | None = None) -> Report:
        """Sends unsent edits and reads changes."""
        return await self._run(self.blocking.sync, deadline=deadline)

    async def start(self) -> AsyncStore:
        """Begins automatic syncs."""
        await self._run(self.blocking.start)
        return self

    @property
    def status(self) -> blocking.Status:
        """The status of the store."""
        return self.blocking.status

    async def refused_edits(self) -> list[Any]:
        """Returns the edits that were refused for good."""
        return list(self._wrap(await self._run(self.blocking.refused_edits)))

    async def resync(self) -> Report:
        """Reads everything again."""
        return await self._run(self.blocking.resync)

    async def sign_out(self, unsent: str = "refuse") -> None:
        """Deletes the local store; see the blocking method."""
        await self._run(self.blocking.sign_out, unsent)

    async def diagnose(self) -> Json:
        """Returns a report for support."""
        return await self._run(self.blocking.diagnose)

    async def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the complete content of the store into a file."""
        await self._run(self.blocking.export, path)

    def conflicts(self) -> Listed:
        """`await store.conflicts()` is the list of conflicts that the app has not decided; `async for` yields them as
        they come."""
        return Listed(self._wrap, self.blocking.on_conflict, self.blocking.conflicts)

    async def unsent(self) -> list[Any]:
        """Returns the pushes without an answer."""
        return list(self._wrap(await self._run(self.blocking.unsent)))

    async def draft(self, resource: str, record_id: Any) -> AsyncDraft:
        """Opens a form of a record."""
        return AsyncDraft(await self._run(self.blocking.draft, resource, record_id), self._wrap)

    def overtaken(self) -> AsyncIterator[Any]:
        """Yields edits that another client has overtaken."""
        return Events(self._wrap, self.blocking.on_overtaken).__aiter__()

    def refused(self) -> AsyncIterator[Any]:
        """Yields edits that were refused."""
        return Events(self._wrap, self.blocking.on_refused).__aiter__()

    def gone(self) -> AsyncIterator[Any]:
        """Yields records that were deleted for this client."""
        return Events(self._wrap, self.blocking.on_gone).__aiter__()

    def lost(self) -> AsyncIterator[Any]:
        """Yields the loss of the store's file."""
        return Events(self._wrap, self.blocking.on_lost).__aiter__()

    def statuses(self) -> AsyncIterator[Any]:
        """Yields the status whenever it has changed."""
        return Events(self._wrap, self.blocking.on_status).__aiter__()

    def observe(self, resource: str, record_id: Any = None) -> AsyncIterator[Any]:
        """Yields a record (or all of a resource) now and whenever it changes. Throws `UnknownName`."""
        self.blocking._model.check_name(resource)
        if record_id is None:
            return Events(self._wrap, functools.partial(self.blocking.observe, resource)).__aiter__()
        return Events(self._wrap, functools.partial(self.blocking.observe, resource, record_id)).__aiter__()

    async def _wait_for(self, ticket: Ticket, timeout: float | None) -> Outcome:
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def tell() -> None:
            loop.call_soon_threadsafe(changed.set)

        async def wait() -> Outcome:
            while (outcome := await self._run(ticket._read)) is None:
                await changed.wait()
                changed.clear()
            return outcome

        self.blocking._outcome_listeners.append(tell)
        try:
            return await asyncio.wait_for(wait(), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError("the edit has no answer yet") from None
        finally:
            self.blocking._outcome_listeners.remove(tell)

    async def close(self) -> None:
        """Ends syncing and closes the file."""
        await self._run(self.blocking.close)
        self._pool.shutdown(wait=False)

    async def __aenter__(self) -> AsyncStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open(
    path: str | os.PathLike[str],
    *,
    server: str,
    user: str,
    token: str | Callable[[], str | None] | Callable[[], Awaitable[str | None]] | None = None,
    resources: Iterable[str] | None = None,
    client: str | None = None,
    snapshot: str | os.PathLike[str] | None = None,
    indexes: Declared = None,
    search: Declared = None,
    keep: Keep = None,
    **testing: Any,
) -> AsyncStore:
    """Opens a store; `token` may be a coroutine function. See `fieldmerge.open`."""
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="fieldmerge")
    given: Any = token
    if callable(token):
        given = functools.partial(_ask, token, loop)
    opened = await loop.run_in_executor(
        pool,
        functools.partial(
            blocking.open_store,
            path,
            server=server,
            user=user,
            token=given,
            resources=resources,
            client=client,
            snapshot=snapshot,
            indexes=indexes,
            search=search,
            keep=keep,
            **testing,
        ),
    )
    return AsyncStore(opened, pool)


def _ask(token: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> Any:
    """Calls the app's function for a token; a coroutine runs on the app's loop."""
    answer = token()
    if inspect.isawaitable(answer):

        async def wait() -> Any:
            return await answer

        return asyncio.run_coroutine_threadsafe(wait(), loop).result()
    return answer
