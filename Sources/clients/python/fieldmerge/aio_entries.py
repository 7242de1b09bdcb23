"""Events, entries of lists, and forms for `asyncio`: their functions are coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import Any

from .editing import EditableRecord
from .forms import RecordDraft
from .tickets import Conflict, Overtaken, RefusedEdit, Ticket, UnsentEdit

Run = Callable[..., Awaitable[Any]]
"""Runs a function that blocks, in a thread."""

_CALLS = {"take_mine", "take_theirs", "keep_mine", "dismiss", "discard", "resend", "restore"}


class AsyncEntry:
    """An entry of a list, or an event: the same members, with coroutines as functions."""

    def __init__(self, entry: Conflict | Overtaken | UnsentEdit | RefusedEdit, wrap: Wrap) -> None:
        self._entry = entry
        self._wrap = wrap

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._entry, name)
        if name not in _CALLS:
            return self._wrap(value) if name == "draft" else value

        async def call(**named: Any) -> Any:
            return self._wrap(await self._wrap.run(value, **named))

        return call

    def __repr__(self) -> str:
        return repr(self._entry)


class AsyncDraft:
    """A form of a record; `record` is the working copy, which the app changes like the record of `edit`."""

    def __init__(self, form: RecordDraft, wrap: Wrap) -> None:
        self._form = form
        self._wrap = wrap

    @property
    def id(self) -> Any:
        """The id of the record."""
        return self._form.id

    @property
    def base(self) -> Any:
        """The record when the form was opened or last saved; `None` for a new record."""
        return self._form.base

    @property
    def record(self) -> EditableRecord:
        """The working copy."""
        return self._form.record

    async def save(self) -> Any:
        """Stores the changes as one edit; returns its ticket."""
        return self._wrap(await self._wrap.run(self._form.save))

    def close(self) -> None:
        """Ends the form, and drops unsaved changes."""
        self._form.close()

    async def __aenter__(self) -> AsyncDraft:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class Wrap:
    """Converts results of the blocking store for `asyncio`."""

    def __init__(self, run: Run, ticket: Callable[[Ticket], Any]) -> None:
        self.run = run
        self._ticket = ticket

    def __call__(self, value: Any) -> Any:
        if isinstance(value, (Conflict, Overtaken, UnsentEdit, RefusedEdit)):
            return AsyncEntry(value, self)
        if isinstance(value, RecordDraft):
            return AsyncDraft(value, self)
        if isinstance(value, Ticket):
            return self._ticket(value)
        return [self(one) for one in value] if isinstance(value, list) else value


class Events:
    """Events as an asynchronous iterator. An event is handled when the loop requests the next one; if the loop ends
    before, the event is delivered again."""

    def __init__(self, wrap: Wrap, subscribe: Callable[[Callable[[Any], Any]], Callable[[], None]]) -> None:
        self._wrap = wrap
        self._subscribe = subscribe

    async def __aiter__(self) -> AsyncIterator[Any]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[Any, Future[None]]] = asyncio.Queue()
        open_ones: set[Future[None]] = set()

        def tell(event: Any) -> Future[None]:
            handled: Future[None] = Future()
            open_ones.add(handled)
            loop.call_soon_threadsafe(queue.put_nowait, (event, handled))
            return handled

        end = await self._wrap.run(self._subscribe, tell)
        try:
            while True:
                event, handled = await queue.get()
                yield self._wrap(event)
                open_ones.discard(handled)
                await self._wrap.run(handled.set_result, None)
        finally:
            end()
            if open_ones:
                await self._wrap.run(lambda: [handled.cancel() for handled in open_ones])


class Listed(Events):
    """A list if it is awaited, and events as an asynchronous iterator."""

    def __init__(self, wrap: Wrap, subscribe: Callable[..., Any], entries: Callable[[], list[Any]]) -> None:
        super().__init__(wrap, subscribe)
        self._entries = entries

    def __await__(self) -> Generator[Any, None, list[AsyncEntry]]:
        return self._list().__await__()

    async def _list(self) -> list[AsyncEntry]:
        found: list[AsyncEntry] = self._wrap(await self._wrap.run(self._entries))
        return found
