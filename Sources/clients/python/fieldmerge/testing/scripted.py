"""A server with scripted answers, errors, delays, broken connections and held requests."""

from __future__ import annotations

import gzip
import json
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..clock import Clock
from ..transport import BrokenOff, Request

Handler = Callable[[Request], "Reply"]


@dataclass(frozen=True)
class Reply:
    """An answer, which may break after a number of bytes, or no answer."""

    status: int | None = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    breaks_at: int | None = None

    @staticmethod
    def of(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
        """Returns an answer that is JSON."""
        kind = "application/problem+json" if status >= 400 else "application/json"
        return Reply(status, json.dumps(value).encode(), {"content-type": kind, **(headers or {})})

    @staticmethod
    def problem(status: int, code: str, headers: Mapping[str, str] | None = None, **more: Any) -> Reply:
        """Returns a problem document as the gateway answers."""
        retry = status in (429, 503, 504) or code == "in-progress"
        told = {"type": f"urn:fieldmerge:problem:{code}", "title": code, "status": status, "detail": code}
        return Reply.of({**told, "code": code, "retry": retry, **more}, status, headers)


class _Response:
    def __init__(self, reply: Reply) -> None:
        assert reply.status is not None
        self.status: int = reply.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in reply.headers.items()}
        self._reply = reply

    def parts(self) -> Iterator[bytes]:
        body = self._reply.body
        end = len(body) if self._reply.breaks_at is None else min(self._reply.breaks_at, len(body))
        for start in range(0, end, 4096):
            yield body[start : min(start + 4096, end)]
        if self._reply.breaks_at is not None:
            raise BrokenOff("the answer broke off")

    def close(self) -> None:
        pass


def _unpacked(request: Request) -> Request:
    """A request for a test: its headers report that the body was compressed."""
    if request.body is None or request.headers.get("Content-Encoding") != "gzip":
        return request
    return replace(request, body=gzip.decompress(request.body))


class Held:
    """A request that waits for its answer."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._reply: Reply | None = None
        self._answered = threading.Event()

    @property
    def json(self) -> Any:
        """The request's body."""
        return json.loads(self.request.body or b"null")

    def answer(self, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Answers with JSON."""
        self.reply(Reply.of(value, status, headers))

    def reply(self, reply: Reply) -> None:
        """Answers."""
        self._reply = reply
        self._answered.set()

    def break_off(self) -> None:
        """Breaks the connection."""
        self.reply(Reply(None))

    def wait(self) -> Reply:
        self._answered.wait()
        assert self._reply is not None
        return self._reply


class ScriptedServer:
    """A transport without a network. First it uses the test's script, one entry a request; then `handler`. Without
    a handler there is no network."""

    def __init__(self, handler: Handler | None = None, *, clock: Clock | None = None) -> None:
        self.requests: list[Request] = []
        """Every request that came, in order."""
        self._handler = handler
        self._clock = clock or Clock()
        self._script: deque[Handler] = deque()
        self._held: queue.Queue[Held] = queue.Queue()
        self._holds: Callable[[Request], bool] = lambda request: False
        self._open: list[Held] = []
        self._lock = threading.Lock()

    # The script

    def answer(self, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """The next request gets this answer."""
        self.reply(Reply.of(value, status, headers))

    def error(self, status: int, code: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        """The next request gets this problem."""
        self.reply(Reply.problem(status, code, headers, **more))

    def reply(self, reply: Reply) -> None:
        """The next request gets this."""
        self._script.append(lambda request: reply)

    def no_network(self) -> None:
        """The next request finds no network: nothing of it arrives."""
        self.reply(Reply(None))

    def lose_answer(self) -> None:
        """The next request arrives, and its answer gets lost."""
        self._script.append(lambda request: self._after(request, lambda reply: Reply(None)))

    def break_at(self, byte: int) -> None:
        """The next request arrives, and its answer breaks off after so many bytes."""
        self._script.append(
            lambda request: self._after(
                request, lambda reply: Reply(reply.status, reply.body, reply.headers, breaks_at=byte)
            )
        )

    def delay(self, seconds: float) -> None:
        """The next request is answered so much later, by the server's clock."""

        def late(request: Request) -> Reply:
            end = self._clock.monotonic() + seconds
            condition = threading.Condition()
            with condition:
                while (left := end - self._clock.monotonic()) > 0:
                    self._clock.wait(condition, left)
            return self._handled(request)

        self._script.append(late)

    def _after(self, request: Request, change: Callable[[Reply], Reply]) -> Reply:
        return change(self._handled(request))

    def hold(self, which: Callable[[Request], bool] = lambda request: True) -> None:
        """Makes later requests wait until a test answers them; `next_held` returns them."""
        self._holds = which

    def next_held(self, timeout: float = 10) -> Held:
        """Returns the next held request; throws `queue.Empty` if there is none."""
        return self._held.get(timeout=timeout)

    # Transport

    def send(self, request: Request) -> _Response:
        with self._lock:
            request = _unpacked(request)
            self.requests.append(request)
            holds = self._holds(request)
            scripted = self._script.popleft() if self._script and not holds else None
        if holds:
            held = Held(request)
            self._open.append(held)
            self._held.put(held)
            reply = held.wait()
        elif scripted is not None:
            reply = scripted(request)
        else:
            reply = self._handled(request)
        if reply.status is None:
            raise BrokenOff("there is no network")
        return _Response(reply)

    def _handled(self, request: Request) -> Reply:
        return Reply(None) if self._handler is None else self._handler(request)

    def abort(self) -> None:
        for held in self._open:
            if not held._answered.is_set():
                held.break_off()

    def close(self) -> None:
        pass
