"""Requests over HTTP: a connection for many requests, time limits, and answers that are read in parts."""

from __future__ import annotations

import email.utils
import http.client
import json
import re
import socket
import ssl
import threading
import time
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

TIMEOUT_SECONDS = 30.0
CHUNK = 64 * 1024
PIECE = 16 * 1024
"""The bytes of a body that are sent at once. The time limit counts anew for each piece."""
SEND_BUFFER = 64 * 1024
SLOWEST = 1_000
"""The bytes in a second of the slowest network that is waited for."""


@dataclass(frozen=True)
class Request:
    """A request to the gateway; `path` begins with a slash and contains the query."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout: float = TIMEOUT_SECONDS
    """The seconds without any progress after which the request is broken off."""
    check: Callable[[], None] = lambda: None
    """Called between the parts of a body that is sent. Throws if the request is to end."""


class Response(Protocol):
    """An answer with status and headers; its body arrives in parts."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by their names in lower case."""
        ...

    def parts(self) -> Iterator[bytes]:
        """Yields the uncompressed body; throws `OSError` if it is incomplete."""
        ...

    def close(self) -> None: ...


class Transport(Protocol):
    """Sends requests; throws `OSError` without an answer."""

    def send(self, request: Request) -> Response: ...

    def abort(self) -> None:
        """Breaks off the request under way, from another thread."""
        ...

    def close(self) -> None: ...


class BrokenOff(OSError):
    """An answer that ended before its end."""


class HTTPTransport:
    """The network, over `http.client`; obeys `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`."""

    def __init__(self, server: str, *, context: ssl.SSLContext | None = None) -> None:
        address = urllib.parse.urlsplit(server.rstrip("/"))
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"the server's address is http://HOST or https://HOST, not “{server}”")
        self._scheme = address.scheme
        self._host = address.hostname
        self._port = address.port or (443 if address.scheme == "https" else 80)
        self._prefix = address.path
        self._context = context
        self._connection: http.client.HTTPConnection | None = None
        self._lock = threading.Lock()
        self._was_aborted = False

    def send(self, request: Request) -> Response:
        self._was_aborted = False
        connection = self._connection
        is_used_again = connection is not None
        if connection is None:
            connection = self._connect(request.timeout)
        try:
            return self._exchange(connection, request)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.close()
            # The server may close an idle connection; every request may be sent again.
            if not is_used_again or self._was_aborted:
                raise
            return self._exchange(self._connect(request.timeout), request)
        except http.client.HTTPException as error:
            self.close()
            raise BrokenOff(f"this is no HTTP: {error!r}") from error
        except BaseException:
            self.close()
            raise

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        host, port = self._host, self._port
        proxy = self._proxy()
        if proxy is not None:
            host, port = proxy
        connection: http.client.HTTPConnection
        if self._scheme == "https":
            connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
            if proxy is not None:
                connection.set_tunnel(self._host, self._port)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=timeout)
        connection.connect()
        if connection.sock is not None:
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        with self._lock:
            self._connection = connection
        return connection

    def _proxy(self) -> tuple[str, int] | None:
        if self._host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(self._host):
            return None
        text = urllib.request.getproxies().get(self._scheme)
        if not text:
            return None
        address = urllib.parse.urlsplit(text if "//" in text else f"http://{text}")
        return (address.hostname, address.port or 3128) if address.hostname else None

    def _exchange(self, connection: http.client.HTTPConnection, request: Request) -> Response:
        if connection.sock is not None:
            connection.sock.settimeout(request.timeout)
        path = self._prefix + request.path
        if self._scheme == "http" and connection.host != self._host:
            path = f"http://{self._host}:{self._port}{path}"  # a proxy needs the complete address
        headers = {"Host": self._authority(), **request.headers}
        body = request.body
        if body is None:
            connection.request(request.method, path, headers=headers)
        else:
            headers["Content-Length"] = str(len(body))
            connection.request(request.method, path, body=_pieces(body, request.check), headers=headers)
        sock = connection.sock
        if sock is not None and body is not None:
            # What the system has taken may not be on its way yet.
            sock.settimeout(request.timeout + min(len(body), 2 * SEND_BUFFER) / SLOWEST)
        response = connection.getresponse()
        if connection.sock is not None:
            connection.sock.settimeout(request.timeout)
        return _HTTPResponse(response, self)

    def _authority(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        standard = 443 if self._scheme == "https" else 80
        return host if self._port == standard else f"{host}:{self._port}"

    def abort(self) -> None:
        self._was_aborted = True
        with self._lock:
            connection = self._connection
        sock = connection.sock if connection is not None else None
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _pieces(body: bytes, check: Callable[[], None]) -> Iterator[bytes]:
    for start in range(0, len(body), PIECE):
        check()
        yield body[start : start + PIECE]


class _HTTPResponse:
    def __init__(self, response: http.client.HTTPResponse, owner: HTTPTransport) -> None:
        self._response = response
        self._owner = owner
        self.status = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.getheaders()}

    def parts(self) -> Iterator[bytes]:
        try:
            packed = self.headers.get("content-encoding", "").lower() == "gzip"
            unpacker = zlib.decompressobj(wbits=31) if packed else None
            while True:
                part = self._response.read1(CHUNK)
                if not part:
                    break
                yield unpacker.decompress(part) if unpacker else part
            if self._response.length:
                raise BrokenOff(f"the answer broke off, {self._response.length} bytes before its end")
            if unpacker is not None:
                yield unpacker.flush()
                if not unpacker.eof:
                    raise BrokenOff("the answer broke off")
        except (http.client.HTTPException, zlib.error, ValueError) as error:
            raise BrokenOff(f"the answer broke off: {error!r}") from error
        finally:
            if not self._response.isclosed() or self.headers.get("connection", "").lower() == "close":
                self._owner.close()

    def close(self) -> None:
        if not self._response.isclosed():
            self._owner.close()


def clock_offset(headers: Mapping[str, str], *, now: float, known: float) -> float:
    """Returns the seconds from a clock to the gateway's by the headers of an answer; never less than they are.

    A `Date` is cut to seconds, so the gateway's time can be one second later. `known` is the offset that was known
    before. It stays if it agrees with the answer, if there is no `Date`, and if the answer is not JSON and so is not
    the gateway's.
    """
    moment = _moment(headers.get("date", "")) if "json" in headers.get("content-type", "") else None
    if moment is None:
        return known
    latest = moment + 1 - now
    return known if latest <= known <= latest + 1 else latest


_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT")


def _moment(text: str) -> float | None:
    # An answer may break off in this header, and the rest of a time is an earlier time (RFC 9110, section 5.6.7).
    if _DATE.fullmatch(text) is None:
        return None
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


@dataclass(frozen=True)
class Answer:
    """An answer that was read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON, or `None` if it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def problem(self) -> dict[str, Any] | None:
        """The problem document of the gateway's answer, or `None` if the answer is not the gateway's."""
        body = self.json
        if isinstance(body, dict) and isinstance(body.get("code"), str) and "title" in body:
            return body
        return None

    def retry_after(self, *, now: float | None = None) -> float | None:
        """The seconds of `Retry-After`."""
        text = self.headers.get("retry-after")
        if text is None:
            return None
        if text.strip().isdigit():
            return float(text)
        moment = _moment(text)
        return None if moment is None else max(0.0, moment - (time.time() if now is None else now))


def ask(transport: Transport, request: Request) -> Answer:
    """Sends a request and reads its complete answer. Throws `OSError` without an answer."""
    response = transport.send(request)
    try:
        body = b"".join(response.parts())
    finally:
        response.close()
    return Answer(response.status, response.headers, body)
