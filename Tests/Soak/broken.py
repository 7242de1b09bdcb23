"""Breaks connections around COMMIT while clients push; what was acknowledged must be what is stored."""

import http.client
import random
import socket
import threading
import time
from pathlib import Path

COMMIT = b"\x07\x00\x00\x00\x03COMMIT"


class CuttingProxy(threading.Thread):
    """Stands between a gateway and its server, and cuts connections before or after a COMMIT reaches the server."""

    def __init__(self, server: Path, path: Path, share: float, seed: int):
        super().__init__(daemon=True)
        self.server, self.path, self.share = server, path, share
        self.random = random.Random(seed)
        self.cuts = {"before": 0, "after": 0}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(200)

    def run(self) -> None:
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(self.server))
        except OSError:
            client.close()
            return
        lost = threading.Event()
        threading.Thread(target=self.answer, args=(server, client, lost), daemon=True).start()
        try:
            while data := client.recv(65_536):
                if COMMIT in data and self.random.random() < self.share:
                    kind = self.random.choice(["before", "after"])
                    self.cuts[kind] += 1
                    if kind == "before":
                        break
                    lost.set()
                server.sendall(data)
        except OSError:
            pass
        self.end(client, server)

    def answer(self, server: socket.socket, client: socket.socket, lost: threading.Event) -> None:
        try:
            while data := server.recv(65_536):
                if lost.is_set():
                    break
                client.sendall(data)
        except OSError:
            pass
        self.end(client, server)

    @staticmethod
    def end(*ends: socket.socket) -> None:
        for one in ends:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Killer(threading.Thread):
    """Kills the gateway's connections on the server at random moments."""

    def __init__(self, sql, user: str, pause: float, seed: int):
        super().__init__(daemon=True)
        self.sql, self.user, self.pause = sql, user, pause
        self.random = random.Random(seed)
        self.over = threading.Event()
        self.kills = 0

    def run(self) -> None:
        while not self.over.wait(self.random.uniform(0, 2 * self.pause)):
            try:
                self.sql(f"KILL USER {self.user}", "")
                self.kills += 1
            except Exception:  # none of its connections was there
                pass


def stubborn(client_class):
    """A client that sends each push until it is answered, for some seconds."""

    class Stubborn(client_class):
        seconds = 0.0

        def run(self) -> None:
            end, number = time.monotonic() + self.seconds, 0
            self.connection = None
            try:
                while time.monotonic() < end:
                    self.push(None, number)
                    number += 1
            except Exception as error:  # reported by the main thread
                self.fault = f"{type(error).__name__}: {error}"

        def send(self, _, body) -> tuple:
            for _ in range(100_000):
                try:
                    if self.connection is None:
                        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
                    answer, status = super().send(self.connection, body)
                except (OSError, http.client.HTTPException):
                    self.connection = None
                    continue
                if status in (503, 504) or answer.get("code") == "in-progress":
                    self.statuses[status] = self.statuses.get(status, 0) + 1
                    time.sleep(0.01)
                    continue
                return answer, status
            raise RuntimeError("a push was never answered")

    return Stubborn
