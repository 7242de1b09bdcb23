"""Clients with copies of a table of many small rows: syncs of thousands of clients while the gateway scans."""

import asyncio
import json
import random
import re
import statistics
import threading
import time
from pathlib import Path

from processes import BenchmarkError, Gateway, MariaDB

TABLE = "parts"
JOURNAL = "feed_parts"
RULES = """
resource: parts
sections:
  part:
    table: parts
    groups:
      label: label
      stock: stock
"""
STEP = 1_000_000


def make(server: MariaDB, binary: Path, folder: Path, rows: int) -> Path:
    """Makes the table and a journal, and returns the folder of the rules."""
    server.sql(f"CREATE TABLE {TABLE} (id INTEGER NOT NULL PRIMARY KEY, label VARCHAR(24) NOT NULL,"
               " stock INTEGER NOT NULL) ENGINE=InnoDB")
    for first in range(1, rows, STEP):
        server.sql(f"INSERT INTO {TABLE} SELECT seq, CONCAT('part ', seq), 0"
                   f" FROM seq_{first}_to_{min(first + STEP - 1, rows)}")
    server.grant(TABLE)
    server.make_journal(binary, JOURNAL)
    rules = folder / "rules-parts"
    rules.mkdir()
    (rules / "parts.yaml").write_text(RULES)
    return rules


class Client:
    """A client with a copy of the table: its edited rows, and its last revision."""

    def __init__(self, number: int, feed: str, revision: int):
        self.number = number
        self.feed = feed
        self.revision = revision
        self.syncs = 0
        self.stock = {}

    def body(self, row: int) -> bytes:
        old = self.stock.get(row, 0)
        return json.dumps({
            "feed": self.feed, "since": self.revision, "limit": 1000,
            "pushes": [{"key": f"c{self.number}-{self.syncs}-{time.monotonic_ns()}", "edits": [
                {"resource": "parts", "id": row, "changeset": {"part": {"stock": {"old": old, "new": old + 1}}}}]}],
        }).encode()

    def take(self, row: int, answer: dict) -> int:
        """Reads an answer, and returns the number of its changes.

        The edit is done if the changes contain the client's row with its values.
        """
        wanted = self.stock.get(row, 0) + 1
        if [push["status"] for push in answer["results"]] != ["merged"]:
            raise BenchmarkError(f"a push was answered {json.dumps(answer)[:500]}")
        told = [change for change in answer["changes"] if change["id"] == row]
        if not answer["more"] and [change["record"]["part"]["stock"] for change in told] != [wanted]:
            raise BenchmarkError(f"row {row} was told as {told}, and is {wanted}")
        self.stock[row] = wanted
        self.feed, self.revision = answer["feed"], answer["revision"]
        self.syncs += 1
        return len(answer["changes"])


class Syncs(threading.Thread):
    """Syncs of clients in turn, so many a second, each on a new connection. Each begins on time, whether or not earlier
    ones have ended."""

    def __init__(self, gateway: Gateway, clients: list, rows: int, per_second: float, seconds: float):
        super().__init__(daemon=True)
        self.gateway, self.clients, self.rows = gateway, clients, rows
        self.per_second, self.seconds = per_second, seconds
        self.times, self.changes, self.fault = [], 0, None
        self.random = random.Random(7)

    def run(self) -> None:
        try:
            asyncio.run(self.all())
        except (BenchmarkError, OSError, ValueError, KeyError) as fault:
            self.fault = fault

    async def all(self) -> None:
        begin, number, running = time.monotonic(), 0, set()
        async with asyncio.TaskGroup() as group:
            while (due := number / self.per_second) < self.seconds:
                await asyncio.sleep(max(0, begin + due - time.monotonic()))
                group.create_task(self.sync(number, begin + due))
                number += 1

    async def sync(self, number: int, due: float) -> None:
        client = self.clients[number % len(self.clients)]
        # The clients have different rows, so each client knows the values of its rows.
        row = 1 + client.number + len(self.clients) * self.random.randrange(self.rows // len(self.clients) - 1)
        body = client.body(row)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.gateway.port)
        writer.write(b"POST /v1/sync HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     b"Content-Type: application/json\r\nAuthorization: Bearer " + self.gateway.token.encode()
                     + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        answer = await reader.read()
        self.times.append(time.monotonic() - due)
        writer.close()
        head, _, text = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise BenchmarkError(f"a sync was answered {answer[:500]}")
        self.changes += client.take(row, json.loads(text))


class Labels(threading.Thread):
    """A program that bypasses the gateway: labels random rows, and notes when each label had been written."""

    def __init__(self, server: MariaDB, rows: int, pause: float):
        super().__init__(daemon=True)
        self.server, self.rows, self.pause = server, rows, pause
        self.written, self.ended, self.random = {}, threading.Event(), random.Random(3)

    def run(self) -> None:
        while not self.ended.wait(self.pause):
            label = f"W{len(self.written)}-{time.monotonic_ns()}"[:24]
            self.server.sql(f"UPDATE {TABLE} SET label = '{label}' WHERE id = {self.random.randint(1, self.rows)}")
            self.written[label] = time.monotonic()

    def stop(self) -> None:
        self.ended.set()
        self.join()


def told(text: bytes) -> list:
    """The labels of that program in a line of the event stream."""
    return [label.decode() for label in re.findall(rb'"label":"(W[^"]*)"', text)]


def summary(times: list) -> dict:
    times = sorted(times)
    return {"syncs": len(times), "p50_ms": 1000 * statistics.median(times),
            "p99_ms": 1000 * times[int(len(times) * 0.99)], "max_ms": 1000 * times[-1]}
