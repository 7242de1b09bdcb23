"""Requests to the gateway over one transport: headers, the app's token, packed bodies, and the answer's clock."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable

from ..clock import Clock
from ..model import Model
from ..tokens import TokenSource
from ..transport import TIMEOUT_SECONDS, Answer, Request, Response, Transport, clock_offset
from .report import DeadlinePassed

log = logging.getLogger("fieldmerge")

PACKED_FROM = 1_000
"""The bytes of a body from which on it is packed with gzip."""


class Requester:
    """Sends one request at a time."""

    def __init__(
        self, model: Model, transport: Transport, tokens: TokenSource, *, clock: Clock, client: str | None = None
    ) -> None:
        self.transport = transport
        self.used_token = 0
        """The generation of the token of the last request."""
        self.deadline: float | None = None
        self.check: Callable[[], None] = lambda: None
        """Throws if a request is to end: the store is closing, or the deadline has passed."""
        self.client = client
        self.tokens = tokens
        self._model = model
        self._clock = clock

    def send(self, method: str, path: str, *, body: bytes | None = None, accept: str = "application/json") -> Response:
        """Sends a request; throws `OSError` if no answer comes."""
        timeout = TIMEOUT_SECONDS
        if self.deadline is not None:
            left = self.deadline - self._clock.monotonic()
            if left <= 0:
                raise DeadlinePassed()
            timeout = min(timeout, left)
        headers = self.headers(accept, body)
        if body is not None and len(body) > PACKED_FROM:
            body = gzip.compress(body, 6, mtime=0)
            headers["Content-Encoding"] = "gzip"
        response = self.transport.send(Request(method, path, headers, body, timeout, self.check))
        self._model.note_offset(clock_offset(response.headers, now=self._clock.now(), known=self._model.offset()))
        self._model.note_who(response.headers.get("x-who"))
        return response

    def ask(self, method: str, path: str, *, body: bytes | None = None, accept: str = "application/json") -> Answer:
        """Sends a request and returns its answer; throws `OSError` if none comes."""
        return self.whole(self.send(method, path, body=body, accept=accept + ", application/problem+json"))

    def whole(self, response: Response) -> Answer:
        """Reads an answer to its end."""
        try:
            parts: list[bytes] = []
            for part in response.parts():
                if parts:
                    self.check()
                parts.append(part)
            return Answer(response.status, response.headers, b"".join(parts))
        finally:
            response.close()

    def renew(self) -> None:
        """Requests a new token from the app, and rethrows the errors of its function."""
        self.tokens.renew(refused=self.used_token, until=self.deadline)

    def headers(self, accept: str, body: bytes | None = None) -> dict[str, str]:
        """Returns the headers of a request; throws `OSError` if the app has no token now."""
        headers = {"Accept": accept, "Accept-Encoding": "gzip", "User-Agent": "fieldmerge-python/1.0"}
        try:
            token = self.tokens.get(until=self.deadline)
        except OSError:
            raise
        except Exception as error:
            log.warning("the token could not be asked for: %s", error)
            raise OSError(f"the token could not be asked for: {error}") from error
        self.used_token = self.tokens.generation
        optional = {
            "Authorization": None if token is None else f"Bearer {token}",
            "X-Client": self.client,
            "X-Device-ID": self._model.database.meta("device"),
            "X-Who": self._model.who(),
            "Content-Type": None if body is None else "application/json",
        }
        return {**headers, **{name: value for name, value in optional.items() if value is not None}}
