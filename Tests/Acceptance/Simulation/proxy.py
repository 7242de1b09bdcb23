"""A proxy between gateways and MariaDB that recognizes COMMITs."""

import socket
import threading
from pathlib import Path

from processes import MariaDB

COMMIT = b"\x03COMMIT"


class Connection:
    def __init__(self, client: socket.socket, server: socket.socket):
        self.client, self.server = client, server
        # The answers of the server are not forwarded any more.
        self.is_broken = False

    def close(self) -> None:
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Proxy:
    """Subclasses override `requests` for all data of a gateway, and `commits` for each COMMIT before the server receives it."""

    def __init__(self, address: Path, engine):
        self.server, self.url = str(engine.server.socket), engine.address(MariaDB.USER, address)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(address))
        self.listener.listen(200)
        threading.Thread(target=self.accept, daemon=True).start()

    def requests(self, connection: Connection, data: bytes) -> None:
        pass

    def commits(self, connection: Connection) -> None:
        pass

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.server)
            except OSError:
                client.close()
                continue
            connection = Connection(client, server)
            for forward in (self.forward_requests, self.forward_answers):
                threading.Thread(target=forward, args=(connection,), daemon=True).start()

    def forward_requests(self, connection: Connection) -> None:
        try:
            while data := connection.client.recv(65536):
                self.requests(connection, data)
                if data[4:] == COMMIT:
                    self.commits(connection)
                connection.server.sendall(data)
        except OSError:
            pass
        connection.close()

    def forward_answers(self, connection: Connection) -> None:
        try:
            while (data := connection.server.recv(65536)) and not connection.is_broken:
                connection.client.sendall(data)
        except OSError:
            pass
        connection.close()

    def close(self) -> None:
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


class Cutter(Proxy):
    """Cuts the connection of the next COMMIT, if `cut` is "before" it or "after" it, so that its answer is lost."""

    cut = None

    def commits(self, connection: Connection) -> None:
        cut, self.cut = self.cut, None
        if cut == "before":
            connection.close()
        connection.is_broken = cut == "after"
