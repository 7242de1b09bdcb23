"""The feed of changes and the scan, each compared with an alternative of a client, in turns within one run."""

import http.client
import json
import random
import re
import socket
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import many
from processes import BenchmarkError, Gateway, MariaDB

ROUNDS = 5
# Runs with a table of this size are started by hand, and take some minutes.
ROWS_BY_HAND = 25_000_000
UNTHROTTLED = ["--scan-rows-per-second", "100000000"]


@dataclass(frozen=True)
class FeedCase:
    """One comparison. It reads `table`, with a separate journal."""

    name: str
    measure: str
    table: str
    quick_table: str = ""
    bar: str = ""


CASES = [
    FeedCase("no-changes", "no_changes", "people", bar="at least 0.80 of the rate of /healthz"),
    FeedCase("changes-100", "changes", "people10k", bar="at least 0.80 of the rate of pages of 100 records"),
    FeedCase("changes-100-old", "changes", "people1m", "people", "none: what nobody else asks for is read alone"),
    FeedCase("snapshot", "snapshot", "people", bar="at least 0.80 of the rate of pages of 500 records"),
    FeedCase("snapshot-1m", "snapshot", "people1m", bar="the same, and memory that ends at notes of 300,000 records"),
    FeedCase("long-reader", "long_reader", "people", bar="at least 0.80 of the rate without"),
    FeedCase("streams-1000", "streams_1000", "people", bar="told to all within 1,000 ms"),
    FeedCase("streams-10000", "streams_10000", "people", bar="less than 300 MB above idle; told within 1,000 ms"),
    FeedCase("scan", "scan", "people1m", "people", "at most 1.50 of the processor time of a client in C"),
    FeedCase("scan-budget", "scan_budget", "people", bar="at 50,000 rows a second less than 5 % of a processor"),
    FeedCase("scan-lag", "scan_lag", "people", bar="half a cycle on average, a cycle at most"),
    FeedCase("scan-bulk", "scan_bulk", "people", bar="at least 0.80 of the rate of single edits before and after"),
    FeedCase("syncs-25m", "syncs_25m", "people", bar="none; 25 million rows, 4,000 clients, 20 syncs a second"),
    FeedCase("scan-bulk-1m", "scan_bulk", "people1m", bar="the same, and memory as with 100,000"),
]
BY_HAND = {"snapshot-1m", "scan-bulk-1m", "syncs-25m"}
NAMES = {case.name for case in CASES} | {"feed"}


def chosen(only: set) -> list:
    """The cases of these names. Without names all but the cases that are run by hand."""
    if only:
        return [case for case in CASES if case.name in only or ("feed" in only and case.name not in BY_HAND)]
    return [case for case in CASES if case.name not in BY_HAND]


def table_of(case: FeedCase, quick: bool) -> str:
    return case.quick_table if quick and case.quick_table else case.table


def heading() -> str:
    return f"\n{'the feed':<16}{'/s':>12}{'against /s':>13}{'ratio':>7}{'of rounds':>16}   "


def feed_line(figure: dict) -> str:
    """A figure with its bar and its parts."""
    def number(name: str, width: int, digits: int) -> str:
        return f"{figure[name]:>{width},.{digits}f}" if name in figure else " " * width
    rounds = figure.get("ratios", [])
    span = f"{min(rounds):.2f} to {max(rounds):.2f}" if rounds else ""
    return (f"{figure['name']:<16}" + number("per_second", 12, 0) + number("against", 13, 0) + number("ratio", 7, 2)
            + f"{span:>16}   {figure['note']} (bar: {figure['bar']})")


def cpu_seconds(pid: int) -> float:
    """Processor time of a process, to the nanosecond, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)


def rss_mb(pid: int, name: str = "VmRSS") -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(name + r":\s+(\d+)", text).group(1)) / 1024


class Follower(threading.Thread):
    """Follows the feed and stores the time of each reported phone number."""

    def __init__(self, gateway: Gateway, find=lambda line: [
            phone.decode() for phone in re.findall(rb'"phone":"([^"]*)"', line)]):
        super().__init__(daemon=True)
        self.told = {}
        self.find = find
        self.connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
        self.connection.request("GET", "/v1/changes", headers={
            "Accept": "text/event-stream", "Authorization": f"Bearer {gateway.token}"})
        self.answer = self.connection.getresponse()
        self.start()

    def run(self) -> None:
        try:
            while line := self.answer.readline():
                now = time.monotonic()
                for name in self.find(line):
                    self.told.setdefault(name, now)
        except (OSError, ValueError, http.client.HTTPException):
            return

    def stop(self) -> None:
        # Closing it here would wait for the thread that reads.
        self.connection.sock.shutdown(socket.SHUT_RDWR)


class Writer(threading.Thread):
    """A program that bypasses the gateway: it repeatedly writes a new phone number to random rows."""

    def __init__(self, server: MariaDB, table, pause: float):
        super().__init__(daemon=True)
        self.pause = pause
        self.table = table
        # When each number had been written, by this program's clock.
        self.written = {}
        self.ended = threading.Event()
        self.client = subprocess.Popen(
            ["mariadb", "--no-defaults", f"--socket={server.socket}", "-uroot", "-N", "-B", "--unbuffered", "bench"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.random = random.Random(1)
        self.start()

    def run(self) -> None:
        while not self.ended.wait(self.pause * self.random.uniform(0.5, 1.5)):
            phone = f"W{len(self.written)}-{time.monotonic_ns()}"[:20]
            row = self.random.randint(1, self.table.rows)
            self.client.stdin.write(
                f"UPDATE {self.table.name} SET phone = '{phone}' WHERE id = {row}; SELECT 'written';\n")
            self.client.stdin.flush()
            if self.client.stdout.readline() != "written\n":
                return
            self.written[phone] = time.monotonic()

    def stop(self) -> None:
        self.ended.set()
        self.join()
        self.client.stdin.close()
        self.client.wait()


class LongReader:
    """A dump: all rows are read in one snapshot, which remains open, so the server cannot purge old versions."""

    def __init__(self, server: MariaDB, table):
        self.client = subprocess.Popen(
            ["mariadb", "--no-defaults", f"--socket={server.socket}", "-uroot", "-N", "-B", "--unbuffered", "bench"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.client.stdin.write(
            "START TRANSACTION WITH CONSISTENT SNAPSHOT;\n"
            f"SELECT COUNT(*), SUM(CRC32(street)) FROM {table.name};\nSELECT 'read';\n")
        self.client.stdin.flush()
        while (line := self.client.stdout.readline()) != "read\n":
            if not line:
                raise BenchmarkError("a reader ended")

    def stop(self) -> None:
        self.client.stdin.close()
        self.client.wait()


class FeedLaboratory:
    """Gateways on one table, with a journal whose first pass has ended."""

    def __init__(self, laboratory, quick: bool):
        self.lab = laboratory
        self.server = laboratory.server
        self.quick = quick
        self.ready = {}

    def run(self, case: FeedCase) -> dict:
        table = self.lab.tables[table_of(case, self.quick)]
        figure = getattr(self, case.measure)(table)
        return {"name": case.name, "group": "feed", "bar": case.bar, "rows": table.rows, **figure}

    # Gateways

    def gateway(self, table, options: list = ()) -> Gateway:
        """A gateway with default settings after the first pass of the scan, which only stores digests."""
        if table.name not in self.ready:
            folder = self.lab.folder / ("feed-" + table.name)
            folder.mkdir()
            table.rules(folder)
            journal = "feed_" + table.name
            self.server.make_journal(self.lab.binary, journal)
            self.ready[table.name] = (folder, journal)
            first = self.gateway(table, UNTHROTTLED)
            first.stop()
        folder, journal = self.ready[table.name]
        gateway = Gateway(
            self.lab.binary, self.lab.folder, "gateway-feed", self.server.url(MariaDB.USER), folder,
            ["--journal", f"same-server:{journal}", *options, *self.lab.options])
        gateway.wait_until(lambda: "off" in [*options, *self.lab.options] or self.lag(gateway) is not None)
        return gateway

    @staticmethod
    def ask(gateway: Gateway, path: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {gateway.token}"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def lag(self, gateway: Gateway):
        return json.loads(self.ask(gateway, "/readyz")).get("feed", {}).get("lagSeconds")

    def cycles(self, gateway: Gateway) -> int:
        text = self.ask(gateway, "/metrics").decode()
        return int(float(re.search(r"^fieldmerge_scan_cycles_total ([0-9.e+]+)", text, re.M).group(1)))

    def load(self, gateway: Gateway, table, kind: str, seconds: float, batch: int = 1, more: list = ()) -> dict:
        return self.program("load", gateway, table, [
            "--kind", kind, "--clients", 32, "--batch", batch, "--seconds", seconds,
            "--warmup", max(0.3, seconds / 5), *more])

    def program(self, name: str, gateway: Gateway, table, more: list) -> dict:
        return self.lab.program(name, [
            "--port", gateway.port, "--rows", table.rows, "--resource", table.name, "--token", gateway.token,
            "--state", table.state, "--watch", f"gateway={gateway.pid}", "--watch", f"server={self.server.pid}", *more])

    def in_turns(self, arm, against) -> dict:
        """Both arms in turns, each a rate. The order changes in each round."""
        rates = []
        for number in range(ROUNDS):
            first, second = (arm, against) if number % 2 == 0 else (against, arm)
            one, other = first(), second()
            rates.append((one, other) if number % 2 == 0 else (other, one))
        ratios = [one / other for one, other in rates]
        return {"per_second": statistics.median(one for one, _ in rates),
                "against": statistics.median(other for _, other in rates),
                "ratio": statistics.median(ratios), "ratios": ratios}

    def notes(self, table) -> int:
        """The number of delivery records that a pass has not compared yet."""
        return int(self.server.sql(f"SELECT COUNT(*) FROM {self.ready[table.name][1]}.shown"))

    # Changes

    def no_changes(self, table) -> dict:
        gateway = self.gateway(table)
        try:
            page = json.loads(self.ask(gateway, "/v1/changes"))
            where = ["--feed", page["feed"], "--since", page["revision"]]
            seconds = self.lab.seconds / ROUNDS
            def rate(kind: str, more: list) -> float:
                result = self.load(gateway, table, kind, seconds, more=more)
                return result["answered"] / result["seconds"]
            figure = self.in_turns(lambda: rate("no-changes", where), lambda: rate("health", []))
            return {**figure, "note": "an empty GET /v1/changes, against GET /healthz; 32 clients"}
        finally:
            gateway.stop()

    def fill_changes(self, table) -> None:
        """Every row has changed once, in no order of the keys."""
        journal = self.ready[table.name][1]
        # An odd number that is not a multiple of five reaches each row of a table whose size is a power of ten.
        self.server.sql(
            f"SET @last = (SELECT last FROM {journal}.feed);\n"
            f"INSERT INTO {journal}.changes (name, resource, record, revision, at)"
            f" SELECT UNHEX(LEFT(SHA2(CONCAT('{table.name}', '/', id), 256), 32)), '{table.name}', id, revision, NOW(6)"
            f" FROM (SELECT 1 + seq * 7919 MOD {table.rows} AS id, @last + seq AS revision"
            f" FROM seq_1_to_{table.rows}) AS each_row"
            " ON DUPLICATE KEY UPDATE revision = VALUES(revision);\n"
            f"UPDATE {journal}.feed SET last = last + {table.rows}")

    def changes(self, table) -> dict:
        self.gateway(table).stop()
        self.fill_changes(table)
        gateway = self.gateway(table)
        try:
            page = json.loads(self.ask(gateway, "/v1/changes"))
            where = ["--feed", page["feed"], "--since", page["revision"] - table.rows]
            seconds = self.lab.seconds / ROUNDS
            cost = {}
            def rate(kind: str, more: list) -> float:
                result = self.load(gateway, table, kind, seconds, 100, more)
                cost[kind] = {name: 1e6 * entry["cpu"] / result["answered"]
                              for name, entry in result["processes"].items()}
                return result["answered"] / result["seconds"]
            figure = self.in_turns(lambda: rate("changes", where), lambda: rate("page", []))
            parts = "; ".join(
                f"{kind} {cpu['gateway']:.0f} + {cpu['server']:.0f} µs" for kind, cpu in sorted(cost.items()))
            return {**figure, "cpu_us": cost, "note": "pages of 100 changes, against pages of 100 records; 32 clients; "
                    f"gateway + server a page: {parts}"}
        finally:
            gateway.stop()

    def snapshot(self, table) -> dict:
        gateway = self.gateway(table)
        try:
            def rate(kind: str) -> float:
                result = self.program("download", gateway, table, ["--kind", kind])
                return result["records"] / result["seconds"]
            before = rss_mb(gateway.pid)
            figure = self.in_turns(lambda: rate("snapshot"), lambda: rate("pages"))
            # Passes compare the delivered records with the rows, also after the last one was read.
            for _ in range(6_000):
                if self.notes(table) == 0:
                    break
                time.sleep(0.1)
            peak = rss_mb(gateway.pid, "VmHWM")
            return {**figure, "peak_mb": peak,
                    "note": f"records of a snapshot, against pages of 500; 1 client; {table.rows:,} records; "
                            f"the gateway's memory {before:.0f} MB before, {peak:.0f} MB at most"}
        finally:
            gateway.stop()

    # A long reader

    def history(self) -> int:
        """Transactions whose undo the server keeps."""
        return int(self.server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_history_list_length'").split()[1])

    def purged(self) -> bool:
        return self.history() < 1_000

    def long_reader(self, table) -> dict:
        """Edits with and without an open transaction of another program that has read all rows."""
        gateway = self.gateway(table)
        histories = []
        try:
            seconds = max(4, self.lab.seconds)
            def rate() -> float:
                result = self.load(gateway, table, "edit", seconds)
                histories.append(self.history())
                return result["answered"] / result["seconds"]
            def without() -> float:
                gateway.wait_until(self.purged)
                return rate()
            def beside() -> float:
                gateway.wait_until(self.purged)
                reader = LongReader(self.server, table)
                try:
                    # Old row versions that have accumulated so far would affect the measurement.
                    rate()
                    return rate()
                finally:
                    reader.stop()
            figure = self.in_turns(beside, without)
            return {**figure, "history": max(histories),
                    "note": f"edits beside a transaction that has read all {table.rows:,} rows and stays open for "
                            f"{2 * seconds:g} s, against edits without; 32 clients; up to {max(histories):,} transactions "
                            "are not purged"}
        finally:
            gateway.stop()

    # Streams

    def streams(self, table, count: int) -> dict:
        gateway = self.gateway(table)
        try:
            # Memory of the first requests belongs to no stream.
            self.load(gateway, table, "get", 1)
            time.sleep(2)
            idle = rss_mb(gateway.pid)
            result = self.program("streams", gateway, table, ["--streams", count, "--changes", 10])
            watched = result["processes"]["gateway"]
            open_mb = watched["rss"][1] / 1024 - idle
            return {
                "p50_ms": result["p50"], "p99_ms": result["p99"], "max_ms": result["max"], "streams": count,
                "open_mb": open_mb, "peak_mb": watched["peak"] / 1024 - idle,
                "note": f"{count:,} event streams: an edit is told after {result['p50']:.0f} ms (p50), "
                        f"{result['p99']:.0f} ms (p99), {result['max']:.0f} ms (the last of 10 edits); {open_mb:.0f} MB "
                        f"above idle, {watched['peak'] / 1024 - idle:.0f} MB at most; opened in {result['opening']:.1f} s"}
        finally:
            gateway.stop()

    def streams_1000(self, table) -> dict:
        return self.streams(table, 1_000)

    def streams_10000(self, table) -> dict:
        return self.streams(table, 10_000)

    # The scan

    def scan(self, table) -> dict:
        """Processor time of gateway and server for each row, against that of a client in C and server."""
        self.gateway(table).stop()
        rounds = 3
        seconds = max(2, self.lab.seconds / rounds)
        parts = {}
        def gateway_cost() -> float:
            gateway = self.gateway(table, UNTHROTTLED)
            writer = Writer(self.server, table, pause=1)
            try:
                self.next_cycle(gateway)
                cycles = self.next_cycle(gateway)
                cpu = [cpu_seconds(gateway.pid), cpu_seconds(self.server.pid)]
                begin = time.monotonic()
                time.sleep(seconds)
                rows = (self.next_cycle(gateway) - cycles) * table.rows
                took = time.monotonic() - begin
                cpu = [cpu_seconds(gateway.pid) - cpu[0], cpu_seconds(self.server.pid) - cpu[1]]
                parts["gateway"] = [1e6 * spent / rows for spent in cpu] + [rows / took]
            finally:
                writer.stop()
                gateway.stop()
            return sum(parts["gateway"][:2])
        def client_cost() -> float:
            result = self.lab.program("scan", [
                "--socket", self.server.socket, "--user", MariaDB.USER, "--database", "bench", "--table", table.name,
                "--rows", table.rows, "--seconds", seconds, "--watch", f"server={self.server.pid}"])
            cpu = [result["cpu"], result["processes"]["server"]["cpu"]]
            parts["client"] = [1e6 * spent / result["rows"] for spent in cpu] + [result["rows"] / result["seconds"]]
            return sum(parts["client"][:2])
        costs = []
        for number in range(rounds):
            if number % 2 == 0:
                one = gateway_cost()
                costs.append((one, client_cost()))
            else:
                other = client_cost()
                costs.append((gateway_cost(), other))
        ratios = [one / other for one, other in costs]
        gateway, client = (parts["gateway"], parts["client"])
        return {"per_second": gateway[2], "against": client[2], "ratio": statistics.median(ratios), "ratios": ratios,
                "cpu_us": parts,
                "note": f"the scan of {table.rows:,} rows as fast as it can, against a client in C; the ratio is of "
                        f"processor time a row: gateway {gateway[0]:.2f} + server {gateway[1]:.2f} µs, "
                        f"client {client[0]:.2f} + server {client[1]:.2f} µs"}

    def next_cycle(self, gateway: Gateway) -> int:
        """Waits for the end of a cycle, and returns the number of ended cycles."""
        before = self.cycles(gateway)
        for _ in range(10_000):
            if (now := self.cycles(gateway)) > before:
                return now
            time.sleep(0.01)
        raise BenchmarkError("no cycle of the scan comes to an end")

    def scan_budget(self, table) -> dict:
        """The processor time of gateway and server with and without the scan, without requests."""
        seconds = max(4, self.lab.seconds / 2)
        def share(options: list) -> tuple:
            gateway = self.gateway(table, options)
            # Else the table would be passed over.
            writer = Writer(self.server, table, pause=0.5)
            try:
                time.sleep(1)
                processes = [gateway.pid, self.server.pid]
                begin, cpu = time.monotonic(), [cpu_seconds(pid) for pid in processes]
                time.sleep(seconds)
                passed = time.monotonic() - begin
                return tuple(100 * (cpu_seconds(pid) - before) / passed for pid, before in zip(processes, cpu))
            finally:
                writer.stop()
                gateway.stop()
        budget = ["--scan-rows-per-second", "50000"]
        rounds = [(share(budget), share(["--changes", "off"])) for _ in range(3)]
        scans, idle = ([statistics.median(column) for column in zip(*arm)] for arm in zip(*rounds))
        gateway, server = (with_scan - without for with_scan, without in zip(scans, idle))
        return {"percent": sum(scans), "percent_off": sum(idle), "percent_gateway": gateway, "percent_server": server,
                "note": f"gateway and server take {sum(scans):.1f} % of a processor, and {sum(idle):.1f} % with "
                        f"--changes off: the scan takes {gateway:.1f} % in the gateway, {server:.1f} % in the server"}

    def scan_lag(self, table) -> dict:
        """The time from a foreign write to its event."""
        gateway = self.gateway(table, ["--scan-rows-per-second", "50000"])
        follower = Follower(gateway)
        writer = Writer(self.server, table, pause=0.5)
        try:
            time.sleep(max(15, 2 * self.lab.seconds))
            writer.stop()
            gateway.wait_until(lambda: writer.written.keys() <= follower.told.keys())
            cycle = json.loads(self.ask(gateway, "/readyz"))["feed"]["cycleMilliseconds"] / 1000
        finally:
            writer.stop()
            follower.stop()
            gateway.stop()
        lags = sorted(follower.told[phone] - at for phone, at in writer.written.items())
        mean, most = statistics.mean(lags), lags[-1]
        return {"cycle_s": cycle, "lags_s": [round(lag, 3) for lag in lags], "mean_s": mean, "max_s": most, "writes": len(lags),
                "note": f"{len(lags)} writes are told after {mean:.2f} s on average, {most:.2f} s at most; a cycle over "
                        f"{table.rows:,} rows takes {cycle:.2f} s"}

    def scan_bulk(self, table) -> dict:
        """Single edits while the scan reports all rows, which another program has changed in one transaction."""
        gateway = self.gateway(table)
        seconds = max(2, self.lab.seconds / ROUNDS)
        try:
            def rate() -> float:
                result = self.load(gateway, table, "edit", seconds)
                return result["answered"] / result["seconds"]
            def found() -> int:
                text = self.ask(gateway, "/metrics").decode()
                return int(float(re.search(r"^fieldmerge_scan_changes_total ([0-9.e+]+)", text, re.M).group(1)))
            # As long as the scan needs to report all rows with the default budget. While the server's log is empty,
            # edits are faster than later.
            begin, before = time.monotonic(), []
            while time.monotonic() - begin < max(ROUNDS * seconds, table.rows / 10_000):
                before.append(rate())
            memory, told = rss_mb(gateway.pid), found()
            self.server.sql(f"UPDATE {table.name} SET phone = CONCAT('B', id MOD 997, '-', LEFT(UUID(), 8))")
            begin, during, peak, cycles = time.monotonic(), [], memory, self.cycles(gateway)
            # The second cycle to end began after the change. Rows that are edited meanwhile are reported as edits.
            while self.cycles(gateway) < cycles + 2:
                during.append(rate())
                peak = max(peak, rss_mb(gateway.pid))
            told = found() - told
            took = time.monotonic() - begin
            # The times before the change are compared with as many after it.
            around = before[-len(during):] + [rate() for _ in before[-len(during):]]
        finally:
            gateway.stop()
        ratio = statistics.median(during) / statistics.median(around)
        return {"per_second": statistics.median(during), "against": statistics.median(around), "ratio": ratio,
                "ratios": [one / statistics.median(around) for one in during], "peak_mb": peak, "seconds": took,
                "note": f"single edits of 32 clients while {table.rows:,} rows that another program has changed are told, "
                        f"against before and after; {told:,} are told as its changes, all after {took:.0f} s; the gateway's memory {memory:.0f} MB "
                        f"before, {peak:.0f} MB at most"}

    def syncs_25m(self, _) -> dict:
        """Syncs of 4,000 clients over 25 million rows with default settings, and the costs of the scan for them."""
        rows, seconds = ROWS_BY_HAND, max(30, 10 * self.lab.seconds)
        rules = many.make(self.server, self.lab.binary, self.lab.folder, rows)
        def started(options: list) -> Gateway:
            return Gateway(
                self.lab.binary, self.lab.folder, "gateway-parts", self.server.url(MariaDB.USER), rules,
                ["--journal", f"same-server:{many.JOURNAL}", *options])
        def size(schema: str) -> float:
            return float(self.server.sql(
                "SELECT SUM(data_length + index_length) / 1048576 FROM information_schema.tables"
                f" WHERE table_schema = '{schema}'" + (f" AND table_name = '{many.TABLE}'" if schema == "bench" else "")))
        first = started(UNTHROTTLED)
        begin = time.monotonic()
        first.wait_until(lambda: self.lag(first) is not None, 3_600)
        marking, marking_mb = time.monotonic() - begin, rss_mb(first.pid, "VmHWM")
        first.stop()
        marks_mb, table_mb = size(many.JOURNAL), size("bench")
        gateway = started([])
        follower = Follower(gateway, many.told)
        labels = many.Labels(self.server, rows, seconds / 60)
        labels.start()
        try:
            page = json.loads(self.ask(gateway, "/v1/changes"))
            clients = [many.Client(number, page["feed"], page["revision"]) for number in range(4_000)]
            idle = rss_mb(gateway.pid)
            processes = [gateway.pid, self.server.pid]
            cpu, begin = [cpu_seconds(pid) for pid in processes], time.monotonic()
            syncs = many.Syncs(gateway, clients, rows, 20, seconds)
            syncs.start()
            syncs.join()
            if syncs.fault:
                raise BenchmarkError(str(syncs.fault))
            took = time.monotonic() - begin
            shares = [100 * (cpu_seconds(pid) - before) / took for pid, before in zip(processes, cpu)]
            labels.stop()
            gateway.wait_until(lambda: labels.written.keys() <= follower.told.keys(), 3_600)
            feed_status = json.loads(self.ask(gateway, "/readyz"))["feed"]
            peak = rss_mb(gateway.pid, "VmHWM")
        finally:
            labels.ended.set()
            follower.stop()
            gateway.stop()
        lags = sorted(follower.told[label] - at for label, at in labels.written.items())
        figure = many.summary(syncs.times)
        cycle = feed_status["cycleMilliseconds"] / 1000
        return {**figure, "seconds": seconds, "changes": syncs.changes, "marking_s": marking, "marks_mb": marks_mb,
                "table_mb": table_mb, "cycle_s": cycle, "lags_s": lags, "idle_mb": idle, "peak_mb": peak,
                "note": f"{figure['syncs']:,} syncs of 4,000 clients, 20 a second: {figure['p50_ms']:.0f} ms (p50), "
                        f"{figure['p99_ms']:.0f} ms (p99), {figure['max_ms']:.0f} ms at most, {syncs.changes:,} changes told; "
                        f"gateway {shares[0]:.1f} + server {shares[1]:.1f} % of a processor; memory {idle:.0f} MB before, "
                        f"{peak:.0f} MB at most; the first pass took {marking:.0f} s and {marking_mb:.0f} MB, its marks "
                        f"{marks_mb:.0f} MB beside a table of {table_mb:.0f}; a cycle takes {cycle:.0f} s, and {len(lags)} "
                        f"foreign writes were told after {statistics.mean(lags):.0f} s on average, {lags[-1]:.0f} s at most"}
