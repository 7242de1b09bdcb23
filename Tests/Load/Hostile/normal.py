"""Eight normal clients. Each pushes and reads its rows, forty times a second."""

import http.client
import json
import multiprocessing
import threading
import time

PAUSE = 0.025


class Normal(threading.Thread):
    """One client with one connection. The time of a request counts from its planned moment."""

    def __init__(self, port: int, token: str, number: int, end: threading.Event):
        super().__init__(daemon=True)
        self.port, self.token, self.number, self.end = port, token, number, end
        self.times, self.statuses, self.sum = [], {}, 0

    def run(self) -> None:
        due = time.monotonic() + PAUSE * self.number / 8
        connection, count = None, 0
        while not self.end.is_set():
            time.sleep(max(0, due - time.monotonic()))
            count += 1
            row = 1 + self.number * 8 + count % 8
            try:
                if connection is None:
                    connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                headers = {"Authorization": "Bearer " + self.token}
                if count % 2:
                    body = json.dumps({"key": f"{self.number}-{time.monotonic_ns()}", "edits": [
                        {"resource": "things", "id": row, "changeset": {"thing": {"n": {"old": -1, "new": 0}}}}]})
                    connection.request("POST", "/v1/push", body, {**headers, "Content-Type": "application/json"})
                else:
                    connection.request("GET", f"/v1/records/things/{row}", headers=headers)
                answer = connection.getresponse()
                answer.read()
                status = answer.status
            except (OSError, http.client.HTTPException) as fault:
                connection, status = None, type(fault).__name__
            now = time.monotonic()
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status == 200 and count % 2:
                self.sum += 1
            self.times.append((now, now - due))
            due += PAUSE
        if connection:
            connection.close()


class Health(threading.Thread):
    """Requests /healthz ten times a second, each time over a new connection."""

    def __init__(self, port: int, end: threading.Event):
        super().__init__(daemon=True)
        self.port, self.end, self.times, self.failed = port, end, [], 0

    def run(self) -> None:
        while not self.end.wait(0.1):
            begun = time.monotonic()
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                connection.request("GET", "/healthz")
                if connection.getresponse().status != 200:
                    self.failed += 1
                connection.close()
            except (OSError, http.client.HTTPException):
                self.failed += 1
            now = time.monotonic()
            self.times.append((now, now - begun))


def work(port: int, tokens: list, end, out) -> None:
    over = threading.Event()
    clients = [Normal(port, token, number, over) for number, token in enumerate(tokens)]
    health = Health(port, over)
    for thread in [*clients, health]:
        thread.start()
    end.wait()
    over.set()
    for thread in [*clients, health]:
        thread.join(70)
    statuses = {}
    for client in clients:
        for status, count in client.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    out.put({"times": [entry for client in clients for entry in client.times], "statuses": statuses,
             "sum": sum(client.sum for client in clients), "health": health.times, "failed": health.failed,
             "stuck": any(client.is_alive() for client in clients)})


class Crowd:
    """The normal clients in a separate process, so that this one does not delay them."""

    def __init__(self, port: int, tokens: list):
        self.end, self.out = multiprocessing.Event(), multiprocessing.Queue()
        self.process = multiprocessing.Process(target=work, args=(port, tokens, self.end, self.out), daemon=True)
        self.process.start()

    def stop(self) -> dict:
        self.end.set()
        found = self.out.get(timeout=100)
        self.process.join()
        return found

    def drop(self) -> None:
        """Ends the clients if their results are not needed."""
        self.process.kill()
        self.process.join()


def p99(times: list, begin: float, end: float) -> float:
    """The 99th percentile of the answers between two moments."""
    chosen = sorted(taken for at, taken in times if begin <= at < end)
    return chosen[len(chosen) * 99 // 100] if chosen else float("inf")


def slowest(times: list, begin: float, end: float) -> float:
    return max((taken for at, taken in times if begin <= at < end), default=float("inf"))
