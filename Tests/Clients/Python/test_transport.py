"""HTTP as the library speaks it: answers that break off, gzip, captive portals, connections that rest."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import unittest
from collections.abc import Callable

import support

from fieldmerge.testing import ManualClock, memory_store
from fieldmerge.transport import HTTPTransport, Request, ask, clock_offset


class RawServer:
    """A server that writes the given bytes to any client, one answer for each request."""

    def __init__(self, *answers: bytes, closes: bool = False) -> None:
        self._answers = list(answers)
        self._closes = closes
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while self._answers:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        rest = b""
        while self._answers:
            while b"\r\n\r\n" not in rest:
                part = connection.recv(65536)
                if not part:
                    return
                rest += part
            head, rest = rest.split(b"\r\n\r\n", 1)
            self.requests.append(head)
            length = next(
                (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
            )
            while len(rest) < length:
                rest += connection.recv(65536)
            rest = rest[length:]
            answer = self._answers.pop(0)
            connection.sendall(answer)
            if self._closes or answer.startswith(b"CUT") or b"X-Cut" in answer:
                return

    def close(self) -> None:
        self._listener.close()


class SlowServer:
    """A server that reads a request slowly, and then answers."""

    def __init__(self, *, bytes_per_second: int) -> None:
        self._rate = bytes_per_second
        self.received = 0
        self._over = threading.Event()
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                if self._rate:
                    self._read(connection)
                else:
                    self._over.wait(2)

    def _read(self, connection: socket.socket) -> None:
        head, began = b"", time.monotonic()
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
        head, _, rest = head.partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        self.received = len(rest)
        while self.received < length:
            self._over.wait(max(0.0, self.received / self._rate - (time.monotonic() - began)))
            part = connection.recv(16_384)
            if not part:
                return
            self.received += len(part)
        connection.sendall(answer(b"ok"))

    def close(self) -> None:
        self._over.set()
        self._listener.close()


def answer(body: bytes, *, status: str = "200 OK", length: int | None = None, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body) if length is None else length}\r\n{more}\r\n"
    return head.encode() + body


class TransportTests(unittest.TestCase):
    def serve(self, *answers: bytes, closes: bool = False) -> HTTPTransport:
        server = RawServer(*answers, closes=closes)
        transport = HTTPTransport(server.url)
        self.addCleanup(server.close)
        self.addCleanup(transport.close)
        self.server = server
        return transport

    def get(self, transport: HTTPTransport) -> bytes:
        return ask(transport, Request("GET", "/v1/rules", timeout=5)).body

    def test_a_connection_is_used_again(self) -> None:
        transport = self.serve(answer(b"one"), answer(b"two"))
        self.assertEqual([self.get(transport), self.get(transport)], [b"one", b"two"])

    def test_a_connection_that_the_server_closed_meanwhile_is_made_anew(self) -> None:
        transport = self.serve(answer(b"one"), answer(b"two"), closes=True)
        self.assertEqual([self.get(transport), self.get(transport)], [b"one", b"two"])

    def test_answers_that_break_off(self) -> None:
        packed = gzip.compress(b"x" * 1000)
        for text in (
            answer(b"half", length=8, more="X-Cut: 1\r\n"),
            b"HTTP/1.1 200 OK\r\nX-Cut: 1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nhalf",
            b"HTTP/1.1 200 OK\r\nX-Cut: 1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            answer(packed[:-10], more="Content-Encoding: gzip\r\n"),
            b"CUT\r\n\r\n",
            b"",
        ):
            with self.subTest(text=text), self.assertRaises(OSError):
                self.get(self.serve(text, closes=True))

    def test_answers_that_are_packed_or_chunked(self) -> None:
        packed = gzip.compress(b"x" * 100_000)
        transport = self.serve(
            answer(packed, more="Content-Encoding: gzip\r\n"),
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n2\r\nof\r\n0\r\n\r\n",
        )
        self.assertEqual(self.get(transport), b"x" * 100_000)
        self.assertEqual(self.get(transport), b"halfof")

    def test_no_server(self) -> None:
        transport = self.serve()
        self.server.close()
        with self.assertRaises(OSError):
            self.get(transport)

    def test_a_wait_is_broken_off_from_another_thread(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        transport = HTTPTransport(f"http://127.0.0.1:{listener.getsockname()[1]}")
        timer = threading.Timer(0.1, transport.abort)
        timer.start()
        with self.assertRaises(OSError):
            self.get(transport)

    def test_an_upload_that_makes_progress_is_not_broken_off(self) -> None:
        """A body of 1.2 MB at 400 kB/s needs ten times the time limit without progress."""
        server = SlowServer(bytes_per_second=400_000)
        self.addCleanup(server.close)
        transport = HTTPTransport(server.url)
        self.addCleanup(transport.close)
        began = time.monotonic()
        body = bytes(1_200_000)
        found = ask(transport, Request("POST", "/v1/sync", {"Content-Type": "application/json"}, body, timeout=0.3))
        self.assertEqual((found.body, server.received), (b"ok", len(body)))
        self.assertGreater(time.monotonic() - began, 0.9)

    def test_an_upload_without_progress_is_broken_off_and_one_that_is_to_end_ends(self) -> None:
        server = SlowServer(bytes_per_second=0)
        self.addCleanup(server.close)
        transport = HTTPTransport(server.url)
        self.addCleanup(transport.close)
        with self.assertRaises(OSError):
            transport.send(Request("POST", "/v1/sync", {}, bytes(20_000_000), timeout=0.3))
        left = [3]

        def check() -> None:
            left[0] -= 1
            if not left[0]:
                raise KeyError("the store is closing")

        with self.assertRaises(KeyError):
            transport.send(Request("POST", "/v1/sync", {}, bytes(1_000_000), timeout=5, check=check))

    def test_an_address_with_a_path(self) -> None:
        server = RawServer(answer(b"{}"))
        self.addCleanup(server.close)
        transport = HTTPTransport(server.url + "/shop/")
        self.addCleanup(transport.close)
        self.get(transport)
        self.assertTrue(server.requests[0].startswith(b"GET /shop/v1/rules HTTP/1.1"))
        for address in ("shop.example", "ftp://shop.example", "http://"):
            with self.assertRaises(ValueError):
                HTTPTransport(address)

    def test_captive_portals_are_no_network(self) -> None:
        rules = json.dumps(support.cases("model.json")["rules"]).encode()
        page = b"<html>Please log in</html>"
        kinds: list[Callable[[], bytes]] = [
            lambda: answer(page, more="Content-Type: text/html\r\n"),
            lambda: answer(page, status="302 Found", more="Location: http://login.example/\r\n"),
            lambda: answer(page, status="404 Not Found"),
            lambda: answer(page, status="511 Network Authentication Required"),
            lambda: answer(b'"hello"'),
            lambda: b"HTTP/1.1 200\r\nX-Cut: 1",
        ]
        for kind in kinds:
            for before in ((), (answer(rules),)):
                with self.subTest(kind=kind(), before=len(before)):
                    transport = self.serve(*before, kind())
                    store = memory_store(transport, clock=ManualClock())  # type: ignore[arg-type]
                    self.assertEqual(store.sync().phase, "waiting")
                    self.assertEqual(store.records("shoppers"), [])
                    store.close()


class ClockTests(unittest.TestCase):
    def test_a_date_that_breaks_off_is_no_date(self) -> None:
        whole = "Fri, 27 Nov 2026 02:47:56 GMT"
        now = 1795747676.0 - 100
        for end in range(len(whole) + 1):
            headers = {"content-type": "application/json", "date": whole[:end]}
            expected = 5.0 if end < len(whole) else 101.0
            self.assertEqual(clock_offset(headers, now=now, known=5.0), expected, whole[:end])

if __name__ == "__main__":
    unittest.main()
