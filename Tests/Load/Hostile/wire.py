"""HTTP of a hostile client."""

import gzip
import json
import socket
import time


class Sender:
    """The sender: the gateway's port and a token."""

    def __init__(self, port: int, token: str, version: str = ""):
        self.port, self.token, self.version = port, token, version

    def connect(self, receive: int = 0) -> socket.socket:
        connection = socket.socket()
        if receive:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        connection.settimeout(90)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def head(self, method: str, path: str, length: int = -1, packed: bool = False, more: bytes = b"") -> bytes:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.token}"]
        if length >= 0:
            lines += ["Content-Type: application/json", f"Content-Length: {length}"]
        if packed:
            lines.append("Content-Encoding: gzip")
        return "\r\n".join(lines).encode() + b"\r\n" + more + b"\r\n"

    def request(self, method: str, path: str, body: bytes = None, more: bytes = b"") -> bytes:
        """The bytes of one request. A body that begins like gzip has the header for it."""
        if body is None:
            return self.head(method, path, more=more)
        return self.head(method, path, len(body), body[:2] == b"\x1f\x8b", more) + body

    def send(self, request: bytes, answers: int = 1):
        """Sends bytes on a new connection, and returns the last status and the length of the answers."""
        with self.connect() as connection:
            received, status, size = Answers(connection), None, 0
            try:
                connection.sendall(request)
            except OSError:
                pass  # refused before the rest was read; the answer can still be read
            for _ in range(answers):
                status, count = received.next()
                size += count
                if status is None:
                    break
            return status, size


class Answers:
    """Answers as they come out of a connection."""

    def __init__(self, connection: socket.socket):
        self.file = connection.makefile("rb")

    def next(self):
        """The status and length of the next answer; None if there is none."""
        try:
            first = self.file.readline()
            if not first.startswith(b"HTTP/1.1 "):
                return None, 0
            status, length, chunked = int(first[9:12]), 0, False
            while (line := self.file.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                elif name.lower() == b"transfer-encoding":
                    chunked = True
            if not chunked:
                return status, len(self.file.read(length))
            total = 0
            while size := int(self.file.readline() or b"0", 16):
                total += len(self.file.read(size))
                self.file.readline()
            self.file.readline()
            return status, total
        except OSError:
            return None, 0


def packed(document) -> bytes:
    """JSON, or text, in gzip."""
    text = document if isinstance(document, (str, bytes)) else json.dumps(document, ensure_ascii=False)
    return gzip.compress(text if isinstance(text, bytes) else text.encode(), 6)


def plain(document) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def push(*edits, **more) -> dict:
    return {**more, "edits": list(edits)}


def edit(resource: str, key, changeset: dict) -> dict:
    return {"resource": resource, "id": key, "changeset": changeset}


def fresh_key() -> str:
    return f"sender-{time.monotonic_ns()}"
