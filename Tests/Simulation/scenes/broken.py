"""Connections to the database break during COMMIT. A push without a key runs at most once, one with a key exactly once."""

import socket
import threading

PUSHES = 16


class Breaker:
    """Forwards between a gateway and MariaDB. It drops some connections after their COMMIT, before the answer."""

    def __init__(self, path: str, server: str):
        self.server, self.commits, self.broken = server, 0, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            drops = threading.Event()
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self.forward, args=(source, target, source is client, drops), daemon=True).start()

    def forward(self, source, target, is_client: bool, drops: threading.Event) -> None:
        try:
            while data := source.recv(65536):
                if is_client and data[4:] == b"\x03COMMIT":
                    self.commits += 1
                    if self.commits % 3 == 0:
                        drops.set()
                if not is_client and drops.is_set():
                    self.broken += 1
                    break
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        self.listener.close()


def run(stage) -> None:
    name = stage.open(2)
    place, engine = stage.place, stage.engine
    path = place.folder / f"breaker{stage.serial}"
    breaker = Breaker(str(path), str(engine.server.socket))
    index = len(place.gateways)
    place.gateways.append(None)
    stage.faults.is_injected = True
    try:
        place.start_gateway(index, url=engine.url.replace(str(engine.server.socket), str(path)))
        check(stage, name, index)
    finally:
        if gateway := place.gateways.pop():
            gateway.stop()
        breaker.close()
    stage.faults.is_injected = False
    if not breaker.broken:
        stage.add("no COMMIT was broken")


def check(stage, name: str, index: int) -> None:
    merged = unknown = 0
    for number in range(PUSHES):
        status, _ = stage.push(index, [stage.addition(name, 1)])
        merged += status == 200
        unknown += status not in (200, 503)
        key, answers = f"broken-{stage.serial}-{number}", []
        stage.wait(lambda: answers.append(stage.push(index, [stage.addition(name, 2)], key)[0]) or answers[-1] == 200, f"answering {key}")
    rows = stage.rows(name)
    if not merged <= rows[1]["n"] <= merged + unknown:
        stage.add(f"{merged} pushes without a key were merged, {unknown} are unknown, and n is {rows[1]['n']}")
    if rows[2]["n"] != PUSHES:
        stage.add(f"{PUSHES} pushes with a key were merged, and n is {rows[2]['n']}")
