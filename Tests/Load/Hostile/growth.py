"""The costs of a request as it grows: counted work, and seconds of processor, at one, two and four times a size."""

import http.client
import socket
import struct
import time
from pathlib import Path

import bodies
from place import RULES, Process, noise, run
from watch import processor
from wire import Sender, edit, fresh_key, packed, plain, push

SQL = """
CREATE TABLE things (id INT PRIMARY KEY, n BIGINT NOT NULL, label VARCHAR(200) NOT NULL);
INSERT INTO things VALUES (1, 0, 'x');
CREATE TABLE docs (id INTEGER PRIMARY KEY AUTOINCREMENT, txt TEXT, tree TEXT, secret VARCHAR(200), n INT NOT NULL DEFAULT 0);
WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 200) INSERT INTO docs SELECT i, 'a', '{}', 's', 0 FROM s;
CREATE TABLE large (id INT PRIMARY KEY, txt TEXT NOT NULL);
INSERT INTO large VALUES (1, printf('%.1000000c', 'z'));
CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(200) NOT NULL);
WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 40) INSERT INTO orders SELECT i, 'o' FROM s;
CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INT NOT NULL REFERENCES orders (id),
  a VARCHAR(40) NOT NULL DEFAULT '', b VARCHAR(40) NOT NULL DEFAULT '');
CREATE INDEX of_order ON items (order_id);
WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 9600)
  INSERT INTO items (order_id, a, b) SELECT 1 + (i > 2400) + (i > 2400 + 4800), 'a', 'b' FROM s;
"""
# An order of 2,400 items, and one of 4,800. The third has the rest and gets more items later.


class Counted(Process):
    """A gateway over SQLite whose work is counted."""

    def __init__(self, binary: Path, folder: Path):
        library, self.counter = folder / "counter.so", folder / "counter"
        run(["cc", "-O2", "-fno-builtin", "-shared", "-fPIC", "-o", library, Path(__file__).with_name("counter.c"), "-ldl"])
        self.counter.write_bytes(bytes(8))
        rules = folder / "rules"
        rules.mkdir()
        for name, text in RULES.items():
            (rules / f"{name}.yaml").write_text(text.lstrip())
        run(["sqlite3", folder / "db"], SQL)
        printed = run([binary, "token", "new", "--name", "sender"]).splitlines()
        (folder / "tokens").write_text(printed[3].strip() + "\n")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        super().__init__(
            ["env", f"LD_PRELOAD={library}", f"HOSTILE_COUNTER={self.counter}", binary, "serve", "--database",
             f"sqlite:{folder / 'db'}", "--rules", rules, "--tokens", folder / "tokens", "--listen",
             f"127.0.0.1:{self.port}", "--log-level", "warning"], folder / "gateway.log")
        self.sender = Sender(self.port, printed[1].strip())
        self.wait_until(self.is_ready)

    def is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    @property
    def work(self) -> int:
        return struct.unpack("Q", self.counter.read_bytes()[:8])[0]

    def rest(self) -> None:
        """Waits until all work is done, also work after the answer."""
        quiet, before = 0, self.work
        while quiet < 3:
            time.sleep(0.1)
            quiet = quiet + 1 if self.work - before < 300_000 else 0
            before = self.work

    def cost(self, request: bytes) -> tuple:
        """The status, the bytes of work, and the seconds of processor that a request costs."""
        self.rest()
        work, seconds = self.work, processor(self.pid)
        status, _ = self.sender.send(request)
        self.rest()
        return status, self.work - work, processor(self.pid) - seconds


ROWS = iter(range(10, 190))


def merging(group: str, sides, gateway: Counted) -> bytes:
    """Writes a value into a new row, and returns the request that merges against it."""
    base, edited, current = sides
    row = next(ROWS)
    start = {"tree": {}, "text": "a"}[group]
    sender = gateway.sender
    sender.send(sender.request("POST", "/v1/push", bodies.merging(group, row, start, current)))
    return sender.request("POST", "/v1/push", bodies.merging(group, row, base, edited))


def wide(count: int, value: int) -> dict:
    return {f"m{number}": value for number in range(count)}


def sided(make) -> list:
    return [make(side) for side in (1, 2, 3)]


def lines(count: int, side: int) -> str:
    return "".join(f"{side}{number * 7 % count} {side}{number}\n" for number in range(count))


def posted(gateway: Counted, body: bytes, path: str = "/v1/push") -> bytes:
    return gateway.sender.request("POST", path, body)


def conflicts(order: int, first: int, count: int) -> bytes:
    return plain(push(edit("orders", order, {"items": [
        {"id": number, "a": {"old": "never", "new": "w"}} for number in range(first, first + count)]})))


def returning(gateway: Counted, order: int, first: int, count: int) -> bytes:
    """Deletes rows of a list, and returns the request that brings them back."""
    sender = gateway.sender
    sender.send(sender.request("POST", "/v1/push", plain(push(edit("orders", order, {"items": [
        {"id": number, "old": {"a": "a", "b": "b"}, "new": None} for number in range(first, first + count)]})))))
    return posted(gateway, conflicts(order, first, count))


CREATED = iter(range(4, 40))
# The order and its first item, of which so many are used.
PLACES = {1_200: (1, 1), 2_400: (1, 1), 4_800: (2, 2_401)}

# Name, the unit of the size, the size that is doubled twice, and the request for a size.
CASES = [
    ("a name of marks", "bytes", 500_000, lambda g, n: posted(g, plain(push(edit(bodies.marks(n), 1, {}))))),
    ("a temporary id of marks", "bytes", 500_000, lambda g, n: posted(
        g, plain(push(edit("docs", "tmp:" + bodies.marks(n), {"doc": {"old": None, "new": {}}}))))),
    ("rules of marks", "bytes", 500_000, lambda g, n: posted(g, plain(push(rules=bodies.marks(n))))),
    ("a header of marks", "bytes", 15_000, lambda g, n: g.sender.request(
        "GET", "/v1/records/things/1", more=b"X-Device-ID: " + bodies.marks(n).encode() + b"\r\n")),
    ("a word of marks, merged", "bytes", 250_000, lambda g, n: merging(
        "text", ["abc"[side - 1] + bodies.marks(n) for side in (1, 2, 3)], g)),
    ("long numbers", "bytes", 1_900_000, lambda g, n: posted(g, bodies.numbers(n))),
    ("long numbers, refused", "bytes", 1_900_000, lambda g, n: posted(
        g, packed("[" + ",".join(["1" + "0" * 29] * (n // 31)) + "]"))),
    ("rows created", "rows", 2_400, lambda g, n: posted(g, plain(push(edit("orders", next(CREATED), {
        "items": [{"old": None, "new": {"a": "x", "b": "y"}} for _ in range(n)]}))))),
    ("rows in conflict", "rows", 1_200, lambda g, n: posted(g, conflicts(*PLACES[n], n))),
    ("rows in conflict, with authors", "rows", 1_200, lambda g, n: posted(
        g, conflicts(*PLACES[n], n), "/v1/push?by=true")),
    ("rows that come back", "rows", 1_200, lambda g, n: returning(g, *PLACES[n], n)),
    ("edits of one row", "edits", 250, lambda g, n: posted(g, plain(push(
        *[edit("docs", 1, {"doc": {"n": {"old": number % 2, "new": (number + 1) % 2}}}) for number in range(n)])))),
    ("edits that are refused one by one", "edits", 250, lambda g, n: posted(g, plain(push(
        *[edit("docs", 191 + number % 9, {"doc": {"n": {"old": 0, "new": 5000}}}) for number in range(n)], atomic="edit")))),
    ("JSON, wide", "members", 15_000, lambda g, n: merging("tree", sided(lambda side: wide(n, side)), g)),
    ("JSON, wide, both kept", "members", 15_000, lambda g, n: merging("tree", [
        wide(n, 1), {**wide(n, 1), "own": 1}, {**wide(n, 1), "other": 2}], g)),
    ("JSON, long paths", "members", 800, lambda g, n: merging("tree", sided(
        lambda side: bodies.nested(20, "p" * 255, wide(n, side))), g)),
    ("JSON, lists", "elements", 75_000, lambda g, n: merging("tree", sided(lambda side: {"l": [side] * n}), g)),
    ("text, by lines", "lines", 10_000, lambda g, n: merging("text", sided(lambda side: lines(n, side)), g)),
    ("small values", "bytes", 250_000, lambda g, n: posted(g, packed(push(edit("docs", next(ROWS), {"doc": {
        "tree": {"old": {}, "new": {"n": [{}] * (n // 3)}}}}))))),
    ("nesting, refused", "bytes", 1_900_000, lambda g, n: posted(g, packed("[" * n))),
    ("a long text, refused and kept", "bytes", 1_900_000, lambda g, n: posted(g, bodies.refused("y" * n))),
    ("noise, refused and kept", "bytes", 1_800_000, lambda g, n: posted(g, bodies.refused(noise(n, 3)))),
    ("edits that name one record of 1 MB", "edits", 7, lambda g, n: posted(g, plain(push(
        *[edit("large", 1, {}) for _ in range(n)])))),
    ("pushes of a sync", "pushes", 250, lambda g, n: posted(g, plain({"pushes": [
        {"key": f"{fresh_key()}-{number}", "edits": [edit("docs", 5, {"doc": {"n": {"old": 0, "new": 5000}}})]}
        for number in range(n)]}), "/v1/sync")),
]


def table(binary: Path, folder: Path) -> int:
    """Prints the costs of each request, and returns the number of those that grow faster than their length."""
    widths = (36, 9, 22, 26, 8, 21, 0)
    def row(*cells) -> str:
        return " ".join(str(cell).ljust(width) for cell, width in zip(cells, widths)).rstrip()
    gateway = Counted(binary, folder)
    failed = 0
    try:
        print(row("request", "size in", "sizes", "work in MB", "growth", "seconds", "status"), flush=True)
        # Work that is done once is done before.
        gateway.cost(posted(gateway, plain(push(edit("docs", 3, {"doc": {"n": {"old": 0, "new": 1}}})))))
        for name, unit, size, make in CASES:
            sizes = [size, 2 * size, 4 * size]
            costs = [gateway.cost(make(gateway, each)) for each in sizes]
            work = [cost[1] for cost in costs]
            # A constant part makes it less than four. Memory that doubles when it is full makes it vary.
            growth = work[2] / work[0]
            print(row(name, unit, " ".join(f"{each:,}" for each in sizes), " ".join(f"{each / 1e6:.2f}" for each in work),
                      f"{growth:.1f}", " ".join(f"{cost[2]:.2f}" for cost in costs),
                      " ".join(str(cost[0]) for cost in costs)), flush=True)
            if growth > 5.5 or work[2] > 3 * work[1]:
                print("  FAILED: it grows faster than it is long", flush=True)
                failed += 1
    finally:
        gateway.stop()
    return failed
