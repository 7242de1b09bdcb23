"""Records of one resource as dataclasses, for `asyncio`.

orders = store.of(Orders)
async with orders.edit(7) as order:
    order.order.title = "Stools"
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic

from .typed import R, ResourceType, TypedEdit, TypedLive, TypedResults, _read_record, _results

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .aio import AsyncLive, AsyncStore, AsyncTicket
    from .queries.query import CountOptions, QueryOptions


class AsyncTypedLive(Generic[R]):
    """A live query with typed records. `async for records in live` yields the value and each later one."""

    def __init__(self, live: AsyncLive, record: type[R]) -> None:
        self._live = live
        self._record = record

    @property
    def value(self) -> TypedResults[R] | None:
        """The result; `None` until the first answer."""
        return TypedLive(self._live._live, self._record).value

    async def __aiter__(self) -> AsyncIterator[TypedResults[R]]:
        async for value in self._live:
            yield _results(self._record, value)

    def close(self) -> None:
        """Ends it, and loops over it."""
        self._live.close()

    async def __aenter__(self) -> AsyncTypedLive[R]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncTypedEdit(Generic[R]):
    """A context manager over one record. The edit is on disk when the block ends; after an exception, nothing is
    stored.
    """

    def __init__(self, owner: AsyncStore, edit: TypedEdit[R]) -> None:
        self._owner = owner
        self._edit = edit

    async def __aenter__(self) -> R:
        self._record = await self._owner._run(self._edit.__enter__)
        return self._record

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._owner._run(self._edit.__exit__, kind, error, trace)
        if kind is None:
            object.__setattr__(self._record, "ticket", self._owner._wrap(self._record.ticket))


class AsyncTypedRecords(Generic[R]):
    """The records of one resource, returned by `store.of`. Each method is a method of the store."""

    def __init__(self, owner: AsyncStore, kind: ResourceType[R]) -> None:
        self._owner = owner
        self._name = kind.name
        self._record = kind.record
        self._records = owner.blocking.of(kind)

    async def record(self, record_id: Any) -> R | None:
        """Returns a record, with unsent edits; `None` if there is none."""
        return await self._owner._run(self._records.record, record_id)

    async def records(self) -> list[R]:
        """Returns every record, in the order of keys."""
        return await self._owner._run(self._records.records)

    async def query(self, **options: Unpack[QueryOptions]) -> TypedResults[R]:
        """Returns the records that match, in order."""
        return await self._owner._run(self._records.query, **options)

    async def count(self, **options: Unpack[CountOptions]) -> int:
        """Returns how many records match."""
        return await self._owner._run(self._records.count, **options)

    async def live(self, **options: Unpack[QueryOptions]) -> AsyncTypedLive[R]:
        """Returns a query that follows the store."""
        live = await self._owner.live(self._name, **options)
        return AsyncTypedLive(live, self._record)

    async def observe(self, record_id: Any) -> AsyncIterator[R | None]:
        """Yields a record now and whenever it changes."""
        async for found in self._owner.observe(self._name, record_id):
            yield None if found is None else _read_record(self._record, found)

    def edit(self, record_id: Any, *, base: R | None = None) -> AsyncTypedEdit[R]:
        """Edits a record: `async with orders.edit(7) as order: order.order.title = "Stools"`."""
        return AsyncTypedEdit(self._owner, self._records.edit(record_id, base=base))

    async def create(self, record: R) -> AsyncTicket:
        """Creates a record. The database fills fields that are `None`."""
        ticket: AsyncTicket = self._owner._wrap(await self._owner._run(self._records.create, record))
        object.__setattr__(record, "ticket", ticket)
        return ticket

    async def delete(self, record_id: Any) -> AsyncTicket:
        """Deletes a record."""
        ticket: AsyncTicket = self._owner._wrap(await self._owner._run(self._records.delete, record_id))
        return ticket
