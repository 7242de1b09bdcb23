"""The app's token: requested by one request at a time, and kept until the gateway refuses it."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable

from .clock import Clock

TOKEN_SECONDS = 30.0
"""How long a token function may take. After that it is abandoned, and called again at the next try."""


class NoToken(OSError):
    """The app's function returned no token in time."""


class _Call:
    """A call of the app's function, in a separate thread, so that it can be abandoned."""

    def __init__(self, function: Callable[[], str | None], changed: threading.Condition) -> None:
        self.is_done = False
        self.token: str | None = None
        self.error: Exception | None = None
        self._function = function
        self._changed = changed
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), name="fieldmerge-token", daemon=True).start()

    def _run(self) -> None:
        try:
            self.token = self._function()
        except Exception as error:
            self.error = error
        except BaseException as error:
            self.error = NoToken(f"the token function ended: {error!r}")
        with self._changed:
            self.is_done = True
            self._changed.notify_all()


class TokenSource:
    """Returns the token of the app. Threads may share it."""

    def __init__(self, given: str | Callable[[], str | None] | None, *, clock: Clock | None = None) -> None:
        self._given = given
        self._clock = clock or Clock()
        self._changed = threading.Condition()
        self._call: _Call | None = None
        self._token: str | None = given if isinstance(given, str) else None
        self._generation = 0
        self._is_closed = False

    @property
    def generation(self) -> int:
        """A number that grows with each token."""
        return self._generation

    def get(self, *, until: float | None = None) -> str | None:
        """Returns the current token, or calls the app's function; throws what it throws, and `NoToken` after 30 s or
        at `until`, a time of the monotonic clock."""
        with self._changed:
            if self._token is None and callable(self._given):
                self._ask(self._given, until)
            return self._token

    def renew(self, *, refused: int, until: float | None = None) -> None:
        """Calls the app's function for another token than the refused one, unless this has happened; throws as `get`
        does."""
        with self._changed:
            if self._generation != refused:
                return
            if callable(self._given):
                self._ask(self._given, until)
            else:
                self._generation += 1

    def replace(self, token: str | Callable[[], str | None] | None) -> None:
        """Takes another token, or another function. A call under way is abandoned."""
        with self._changed:
            self._given = token
            self._token = token if isinstance(token, str) else None
            self._call = None
            self._generation += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Ends every wait for a token."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _ask(self, function: Callable[[], str | None], until: float | None) -> None:
        """Waits for the running call, or a new one, while it has the lock."""
        generation = self._generation
        call = self._call = self._call or _Call(function, self._changed)
        end = self._clock.monotonic() + TOKEN_SECONDS
        while not call.is_done and self._generation == generation:
            left = min(end, end if until is None else until) - self._clock.monotonic()
            if self._is_closed or left <= 0:
                if self._call is call and self._clock.monotonic() >= end:
                    self._call = None
                raise NoToken("the token function has not returned a token")
            self._clock.wait(self._changed, left)
        if self._generation != generation:
            return  # another thread has taken this token, or the app has set one
        self._call = None
        if call.error is not None:
            raise call.error
        self._token = call.token
        self._generation += 1
        self._changed.notify_all()
