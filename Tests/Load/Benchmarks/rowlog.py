"""Pushes beside another program that changes many rows: the cost of the reader of MariaDB's binary log."""

import random
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from feed import FeedCase, FeedLaboratory, cpu_seconds, rss_mb
from laboratory import Laboratory
from processes import LoggedMariaDB

CASE = FeedCase(
    "row-log", "row_log", "people",
    bar="at least 0.90 of the rate with --changes off; the lag ends within seconds after the load")
NAMES = {CASE.name}
CHANGES_PER_SECOND = 10_000
ROWS_EACH = 100


class Bulk(threading.Thread):
    """A program that bypasses the gateway: it changes runs of rows, at a constant rate if the server is fast enough."""

    def __init__(self, server: LoggedMariaDB, table):
        super().__init__(daemon=True)
        self.table = table
        self.changed = 0
        self.ended = threading.Event()
        self.client = subprocess.Popen(
            ["mariadb", "--no-defaults", f"--socket={server.socket}", "-uroot", "-N", "-B", "--unbuffered", "bench"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.random = random.Random(1)
        self.start()

    def run(self) -> None:
        due = time.monotonic()
        while not self.ended.wait(max(0, due - time.monotonic())):
            due += ROWS_EACH / CHANGES_PER_SECOND
            first = self.random.randint(1, self.table.rows - ROWS_EACH)
            self.client.stdin.write(
                f"UPDATE {self.table.name} SET phone = '{self.changed}' WHERE id BETWEEN {first}"
                f" AND {first + ROWS_EACH - 1}; SELECT 'written';\n")
            self.client.stdin.flush()
            if self.client.stdout.readline() != "written\n":
                return
            self.changed += ROWS_EACH

    def stop(self) -> None:
        self.ended.set()
        self.join()
        self.client.stdin.close()
        self.client.wait()


class RowLogLaboratory(FeedLaboratory):
    """A server that writes the binary log, and a gateway that reads it or does not."""

    def seconds_behind(self, gateway) -> float:
        """Returns how long the gateway still finds changes after the last one, to a tenth of a second."""
        ended, last, before = time.monotonic(), 0.0, None
        while time.monotonic() - ended < last + 2:
            text = self.ask(gateway, "/metrics").decode()
            found = re.search(r"^fieldmerge_binlog_changes_total ([0-9.e+]+)", text, re.M).group(1)
            if before not in (None, found):
                last = time.monotonic() - ended
            before = found
            time.sleep(0.1)
        return last

    def row_log(self, table) -> dict:
        lags, memory, costs = [], [], {"off": [], "binlog": []}

        def rate(source: str) -> float:
            gateway = self.gateway(table, ["--changes", source])
            bulk = Bulk(self.server, table)
            try:
                start, before = time.monotonic(), cpu_seconds(gateway.pid)
                result = self.load(gateway, table, "edit", self.lab.seconds)
                costs[source].append((cpu_seconds(gateway.pid) - before) / (time.monotonic() - start))
            finally:
                bulk.stop()
            try:
                if source == "binlog":
                    lags.append(self.seconds_behind(gateway))
                    memory.append(rss_mb(gateway.pid, "VmHWM"))
                return result["answered"] / result["seconds"]
            finally:
                gateway.stop()

        figure = self.in_turns(lambda: rate("binlog"), lambda: rate("off"))
        shares = {source: sum(all) / len(all) for source, all in costs.items()}
        return {**figure, "processor": shares, "lag_seconds": max(lags), "peak_mb": max(memory),
                "note": f"edits of 32 clients beside {CHANGES_PER_SECOND:,} foreign changes a second; the gateway used "
                        f"{shares['binlog']:.2f} of a processor, without the log {shares['off']:.2f}; caught up at most "
                        f"{max(lags):.1f} s after the load; memory {max(memory):.0f} MB at most"}


def measure(options, programs: list, quick: bool, seconds: float) -> dict:
    """Runs the case on a server of its own; `programs` are the load generators' folder and the gateway's binary."""
    with tempfile.TemporaryDirectory(prefix="fieldmerge-benchmark-") as folder:
        laboratory = Laboratory(Path(folder), *programs, options, seconds, True, server=LoggedMariaDB)
        try:
            laboratory.make_table(CASE.table)
            return RowLogLaboratory(laboratory, quick).run(CASE)
        finally:
            laboratory.close()
