"""The behaviour of a gateway if files, memory or time are short, or other programs lock the database."""

import argparse
import http.client
import json
import os
import resource
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Benchmarks"))
from processes import BenchmarkError, MariaDB, Process, allow_many_files, run, stop_servers_on_sigterm  # noqa: E402

ROWS = 64
COLUMNS = "id INT PRIMARY KEY, n BIGINT NOT NULL, label VARCHAR(200) NOT NULL"
SQL = {
    "mariadb": f"CREATE TABLE things ({COLUMNS}) ENGINE=InnoDB;"
    f"INSERT INTO things SELECT seq, 0, REPEAT('x', 200) FROM seq_1_to_{ROWS};"
    "CREATE TABLE many (id INT PRIMARY KEY, label VARCHAR(2000) NOT NULL) ENGINE=InnoDB;"
    "INSERT INTO many SELECT seq, REPEAT('y', 2000) FROM seq_1_to_6000;",
    "sqlite": f"CREATE TABLE things ({COLUMNS});"
    f"WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {ROWS}) "
    "INSERT INTO things SELECT i, 0, 'x' FROM s;"
    "CREATE TABLE many (id INT PRIMARY KEY, label TEXT NOT NULL);"
    "WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 6000) "
    "INSERT INTO many SELECT i, printf('%.2000c', 'y') FROM s;"
    "CREATE TABLE legacy (id INTEGER PRIMARY KEY, at TEXT); INSERT INTO legacy VALUES (1, '');",
}
RULES = {
    "things": "resource: things\nsections:\n  thing: {table: things, groups: {n: {column: n, merge: add}, label: label}}\n",
    "many": "resource: many\nsections:\n  row: {table: many, groups: {label: label}}\n",
}


class Place:
    """A database with a schema, its rules, and its gateways."""

    def __init__(self, engine: str, binary: Path, folder: Path):
        self.engine, self.binary, self.folder = engine, binary, folder
        self.rules = folder / "rules"
        self.rules.mkdir()
        for name, text in RULES.items():
            (self.rules / f"{name}.yaml").write_text(text)
        self.server = None
        if engine == "mariadb":
            self.server = MariaDB(folder)
            self.server.sql(SQL[engine])
            for table in ("things", "many"):
                self.server.grant(f"bench.{table}")
            self.server.make_journal(binary, "fieldmerge")
            self.url = self.server.url(MariaDB.USER)
        else:
            self.file = folder / "db.sqlite"
            run(["sqlite3", self.file], SQL[engine])
            self.url = f"sqlite:{self.file}"
        self.gateways = []

    def gateway(self, *options, wrapper=()) -> "Served":
        served = Served(self, list(options), list(wrapper))
        self.gateways.append(served)
        return served

    def numbers(self) -> dict:
        text = "SELECT id, n FROM things"
        lines = self.server.sql(text) if self.server else run(["sqlite3", "-separator", "\t", self.file], ".timeout 20000\n" + text)
        return {int(key): int(value) for key, value in (line.split("\t") for line in lines.splitlines())}

    def stop(self) -> None:
        for gateway in self.gateways:
            gateway.stop()
        if self.server:
            self.server.process.send_signal(signal.SIGCONT)
            self.server.stop()


class Served(Process):
    """One gateway on a free port, without tokens."""

    count = 0

    def __init__(self, place: Place, options: list, wrapper: list):
        Served.count += 1
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        arguments = [*wrapper, place.binary, "serve", "--database", place.url, "--rules", place.rules,
                     "--listen", f"127.0.0.1:{self.port}", "--log-level", "warning", *options]
        super().__init__(arguments, place.folder / f"gateway-{Served.count}.log")
        self.wait_until(self.is_ready)

    def is_ready(self) -> bool:
        try:
            return get(self.port, "/readyz", 5)[0] == 200
        except OSError:
            return False

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


def get(port: int, path: str, timeout: float = 60) -> tuple:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Adder(threading.Thread):
    """Adds to rows over one connection, and repeats each push with its key until it is answered. Stores the
    acknowledged additions."""

    def __init__(self, ports: list, seed: int, rows, name: str):
        super().__init__(daemon=True)
        self.name_of_load = name
        self.ports, self.seed, self.rows = ports, seed, list(rows)
        self.sums, self.statuses, self.times, self.faults = {}, {}, [], []
        self.slowest = 0.0
        self.is_over = threading.Event()

    def run(self) -> None:
        number = failures = 0
        connection = None
        while not self.is_over.is_set():
            number += 1
            row = self.rows[(self.seed * 7 + number * 13) % len(self.rows)]
            body = json.dumps({"key": f"{self.name_of_load}-{self.seed}-{number}", "edits": [
                {"resource": "things", "id": row, "changeset": {"thing": {"n": {"old": -1, "new": 0}}}}]})
            while True:
                begun = time.monotonic()
                try:
                    if connection is None:
                        connection = http.client.HTTPConnection(
                            "127.0.0.1", self.ports[self.seed % len(self.ports)], timeout=120)
                    connection.request("POST", "/v1/push", body, {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    text, status = answer.read(), answer.status
                except (OSError, http.client.HTTPException) as fault:
                    connection, text, status = None, b"", type(fault).__name__
                taken = time.monotonic() - begun
                self.statuses[status] = self.statuses.get(status, 0) + 1
                self.times.append(taken)
                self.slowest = max(self.slowest, taken)
                if status == 200:
                    self.sums[row] = self.sums.get(row, 0) + 1
                    break
                if status not in (503, 504, 409) and not isinstance(status, str):
                    self.faults.append(f"{status} {text[:300]!r}")
                    break
                # Also after the end, each sent push is repeated until it has an answer, unless all gateways are gone.
                failures = failures + 1 if isinstance(status, str) else 0
                if failures > 1_000:
                    self.faults.append(f"no gateway answers: {status}")
                    return
                time.sleep(0.05)


class Load:
    """Several adders at once."""

    count = 0

    def __init__(self, ports: list, clients: int, rows=range(1, ROWS + 1)):
        Load.count += 1
        self.adders = [Adder(ports, seed, rows, f"load{Load.count}") for seed in range(clients)]
        for adder in self.adders:
            adder.start()

    def end(self) -> None:
        for adder in self.adders:
            adder.is_over.set()
        for adder in self.adders:
            adder.join(200)
        if any(adder.is_alive() for adder in self.adders):
            raise BenchmarkError("a client was not answered")

    @property
    def slowest(self) -> float:
        return max(adder.slowest for adder in self.adders)

    @property
    def statuses(self) -> dict:
        total = {}
        for adder in self.adders:
            for status, count in adder.statuses.items():
                total[status] = total.get(status, 0) + count
        return total

    def p99(self) -> float:
        times = sorted(t for adder in self.adders for t in adder.times)
        return times[len(times) * 99 // 100] if times else 0

    def check(self, place: Place, others=None) -> None:
        """Every addition that was acknowledged is stored, and nothing else is."""
        faults = [fault for adder in self.adders for fault in adder.faults]
        expect(not faults, f"no other answers than those that may be: {faults[:3]}")
        sums = dict(others or {})
        for adder in self.adders:
            for row, count in adder.sums.items():
                sums[row] = sums.get(row, 0) + count
        found = {row: n for row, n in place.numbers().items() if n}
        expect(found == sums, f"the sums are those that were acknowledged ({sum(found.values())}, {sum(sums.values())})")


FAILED = []


def expect(condition: bool, what: str) -> None:
    print(("  ok    " if condition else "  FAILED ") + what, flush=True)
    if not condition:
        FAILED.append(what)


def files(place: Place, seconds: int) -> None:
    """Few open files, and more clients than there are."""
    for limit, idle in ((128, 200), (1024, 1100)):
        gateway = place.gateway(wrapper=["prlimit", f"--nofile={limit}"])
        sockets = []
        load = Load([gateway.port], 16)
        for _ in range(idle):
            sockets.append(socket.create_connection(("127.0.0.1", gateway.port), 5))
        time.sleep(seconds)
        held, most = 0, gateway.open_files()
        for connection in sockets:
            events = select.poll()
            events.register(connection, select.POLLIN)
            held += not events.poll(0)
        expect(gateway.is_running, f"ulimit -n {limit}: the gateway lives with {idle} idle connections")
        expect(held >= limit // 4, f"{held} of them are held, {most} files are open")
        load.end()
        for connection in sockets:
            connection.close()
        time.sleep(0.5)
        expect(get(gateway.port, "/v1/records/things/1")[0] == 200, "it serves everyone once they have gone")
        print("       ", load.statuses, flush=True)
        expect(load.statuses.get(200, 0) > 0, "clients that fit were served meanwhile")
        gateway.stop()
        expect(gateway.process.returncode == 0, "and ends with 0")


def slow(place: Place, seconds: int) -> None:
    """Five hundred slow clients of four kinds."""
    gateway = place.gateway("--page-size", "6000", "--head-time", "5", "--body-time", "5", "--answer-time", "5")
    load = Load([gateway.port], 8)
    time.sleep(seconds)
    load.end()
    alone, base = load.p99(), gateway.open_files()
    crowd = []
    for number in range(500):
        kind = ("idle", "head", "body", "unread")[number % 4]
        connection = socket.socket()
        if kind == "unread":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", gateway.port))
        connection.setblocking(False)
        if kind == "body":
            connection.send(b"POST /v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            b"Content-Length: 100000\r\n\r\n{")
        if kind == "unread":
            connection.send(b"GET /v1/records/many?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        crowd.append([kind, connection, time.monotonic(), None])
    begun = time.monotonic()
    beside = Load([gateway.port], 8)
    drips = {"head": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Filler: " + b"a" * 10_000, "body": b" " * 10_000}
    tick = 0
    while time.monotonic() - begun < 20:
        for entry in crowd:
            kind, connection, start, end = entry
            if end is not None or kind in ("idle",):
                continue
            events = select.poll()
            events.register(connection, select.POLLERR | select.POLLHUP | select.POLLRDHUP)
            if events.poll(0):
                entry[3] = time.monotonic() - start
                continue
            if kind in drips:
                try:
                    connection.send(drips[kind][tick:tick + 1])
                except OSError:
                    entry[3] = time.monotonic() - start
        tick += 1
        time.sleep(1)
    beside.end()
    # The system ends a connection without a message if its client reads nothing.
    left = gateway.open_files() - base
    expect(left <= 125 + 24, f"unread: {left} files are open for 125 connections that idle, and for no others")
    for kind in ("head", "body"):
        ends = [end for name, _, _, end in crowd if name == kind]
        closed = [end for end in ends if end is not None]
        expect(len(closed) == len(ends),
               f"{kind}: {len(closed)} of {len(ends)} are closed after 5 s, the last after {max(closed, default=0):.1f} s")
    print(f"        p99 alone {alone * 1000:.1f} ms, beside them {beside.p99() * 1000:.1f} ms, {beside.statuses}", flush=True)
    expect(beside.p99() <= 2 * alone + 0.01, "p99 at most doubles")
    expect(gateway.is_running, "the gateway lives")
    gateway.stop()


def memory(place: Place, seconds: int) -> None:
    """Little more memory than the gateway needs at its start."""
    gateway = place.gateway()
    size = int(Path(f"/proc/{gateway.pid}/statm").read_text().split()[0]) * resource.getpagesize()
    run(["prlimit", f"--pid={gateway.pid}", f"--as={size + (256 << 20)}"])
    load = Load([gateway.port], 16)
    bodies = []

    def large() -> None:
        text = "z" * 4_000_000
        body = json.dumps({"edits": [{"resource": "many", "id": 1, "changeset": {"row": {"label": {"old": text, "new": text}}}}]})
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
                connection.request("POST", "/v1/push", body, {"Content-Type": "application/json"})
                bodies.append(connection.getresponse().status)
                connection.close()
                get(gateway.port, "/v1/records/many?limit=500")
            except (OSError, http.client.HTTPException) as fault:
                bodies.append(type(fault).__name__)

    crowd = [threading.Thread(target=large) for _ in range(8)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    load.end()
    print("       ", load.statuses, {status: bodies.count(status) for status in set(bodies)}, flush=True)
    expect(gateway.is_running, "256 MB beyond the start: the gateway lives")
    gateway.stop()


def stall(place: Place, seconds: int) -> None:
    """A database that does not respond."""
    for limit, pause in ((4, 12), (30, 48)):
        gateway = place.gateway("--request-time", str(limit))
        before = place.numbers()
        load = Load([gateway.port], 8)
        time.sleep(2)
        place.server.process.send_signal(signal.SIGSTOP)
        time.sleep(pause)
        place.server.process.send_signal(signal.SIGCONT)
        resumed = time.monotonic()
        while get(gateway.port, "/v1/records/things/1")[0] != 200:
            time.sleep(0.05)
        back = time.monotonic() - resumed
        time.sleep(2)
        load.end()
        print("       ", load.statuses, flush=True)
        expect(load.slowest <= limit + 1, f"--request-time {limit}, stalled for {pause} s: the slowest answer took {load.slowest:.1f} s")
        expect(back < 5, f"it serves again after {back:.1f} s")
        load.check(place, before)
        gateway.stop()


def held(place: Place, seconds: int) -> None:
    """Rows that another program locks for two minutes."""
    first, second = place.gateway(), place.gateway()
    before = place.numbers()
    holder = subprocess.Popen(
        ["mariadb", "--no-defaults", f"--socket={place.server.socket}", "-uroot", "bench"], stdin=subprocess.PIPE, text=True)
    holder.stdin.write("BEGIN; SELECT n FROM things WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8) FOR UPDATE;\n")
    holder.stdin.flush()
    time.sleep(1)
    held_rows, free_rows = Load([first.port, second.port], 8, range(1, 9)), Load([first.port, second.port], 8, range(9, ROWS))
    time.sleep(seconds)
    expect(held_rows.slowest < 6.5, f"held rows are answered after {held_rows.slowest:.1f} s")
    expect(free_rows.slowest < 2, f"others after {free_rows.slowest:.2f} s at most, {free_rows.statuses}")
    holder.stdin.close()
    holder.wait()
    time.sleep(2)
    held_rows.end()
    free_rows.end()
    sums = dict(before)
    for adder in free_rows.adders:
        for row, count in adder.sums.items():
            sums[row] = sums.get(row, 0) + count
    held_rows.check(place, {row: n for row, n in sums.items() if n})
    first.stop()
    second.stop()


def file(place: Place, seconds: int) -> None:
    """SQLite: a legacy program that writes under load, and gateways that start meanwhile."""
    for gateways in (1, 2):
        served = [place.gateway() for _ in range(gateways)]
        before = place.numbers()
        quiet = Load([one.port for one in served], 8)
        time.sleep(4)
        quiet.end()
        rate = quiet.statuses.get(200, 0) / 4
        load = Load([one.port for one in served], 8)
        time.sleep(1)
        done, refused, end = 0, 0, time.monotonic() + seconds
        legacy = sqlite3.connect(place.file, timeout=5, isolation_level=None)
        while time.monotonic() < end:
            try:
                legacy.execute("UPDATE legacy SET at = ? WHERE id = 1", (str(time.time()),))
                done += 1
            except sqlite3.OperationalError:
                refused += 1
        legacy.close()
        expect(done / seconds >= 10 and refused == 0, f"beside {gateways}: {done} statements in {seconds} s, {refused} refused")
        starts = 0
        for _ in range(8):
            another = place.gateway()
            starts += another.is_running
            another.process.kill()
            another.process.wait()
        expect(starts == 8, f"{starts} of 8 gateways start beside")
        load.end()
        print(f"        {rate:.0f} pushes a second alone;", load.statuses, f"slowest {load.slowest:.1f} s", flush=True)
        sums = {row: n for row, n in before.items() if n}
        for adder in quiet.adders:
            for row, count in adder.sums.items():
                sums[row] = sums.get(row, 0) + count
        load.check(place, sums)
        for one in served:
            one.stop()


SCENARIOS = {
    "files": (files, ("mariadb", "sqlite"), 3), "slow": (slow, ("mariadb",), 4), "memory": (memory, ("mariadb", "sqlite"), 8),
    "stall": (stall, ("mariadb",), 0), "held": (held, ("mariadb",), 120),
    "file": (file, ("sqlite",), 20),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True, help="the gateway's program")
    parser.add_argument("--only", nargs="*", choices=SCENARIOS, help="scenarios to run")
    parser.add_argument("--seconds", type=int, help="how long each goes on, instead of its own time")
    options = parser.parse_args()
    stop_servers_on_sigterm()
    allow_many_files(4_000)
    for name in options.only or SCENARIOS:
        scenario, engines, seconds = SCENARIOS[name]
        for engine in engines:
            with tempfile.TemporaryDirectory(prefix="fm") as folder:
                print(f"{name}, {engine}: {scenario.__doc__}", flush=True)
                place = Place(engine, options.binary.resolve(), Path(folder))
                try:
                    scenario(place, options.seconds or seconds)
                except (BenchmarkError, OSError) as fault:
                    expect(False, str(fault))
                finally:
                    place.stop()
    print(f"{len(FAILED)} failed" if FAILED else "all passed")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
