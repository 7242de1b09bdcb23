"""Runs the programs against the server and the gateway, and checks their results."""

import json
import subprocess
from pathlib import Path

from cases import SQLITE_TABLE, TABLES, Case
from processes import BenchmarkError, Gateway, MariaDB, run
from tables import Table, errands_rules, errands_sql, mariadb_sql, sqlite_sql, versions_sql

FLOOR_THREADS = (4, 8, 16)
JOURNAL = "fieldmerge_journal"


class Laboratory:
    """One server, its tables, and a gateway for each case, so that no case finds the memory of another."""

    def __init__(self, folder: Path, programs: Path, binary: Path, options: list, seconds: float, keeps_journal: bool,
                 server: type = MariaDB):
        self.folder = folder
        self.programs = programs
        self.binary = binary
        self.options = options
        self.keeps_journal = keeps_journal
        self.seconds = seconds
        # Long enough for prepared statements and the first pages to be in memory.
        self.warmup = max(0.5, min(2.0, seconds / 4))
        self.seed = 0
        self.tables = {}
        self.rules = folder / "rules"
        self.rules.mkdir()
        self.server = server(folder)
        if keeps_journal:
            self.server.make_journal(binary, JOURNAL)

    def close(self) -> None:
        self.server.stop()

    # Tables

    def make_table(self, name: str, with_errands: bool = False) -> None:
        table = Table(name, TABLES[name], self.folder)
        self.server.sql(mariadb_sql(table))
        self.server.grant(name)
        table.forget()
        table.rules(self.rules)
        if with_errands:
            self.server.sql(errands_sql(table))
            self.server.grant("errands")
            errands_rules(table, self.rules)
        self.tables[name] = table

    def make_sqlite(self) -> None:
        folder = self.folder / "sqlite"
        (folder / "rules").mkdir(parents=True)
        table = Table(SQLITE_TABLE, TABLES[SQLITE_TABLE], folder)
        run(["sqlite3", "-bail", folder / "db.sqlite"], sqlite_sql(table))
        table.forget()
        # Nothing there keeps the time of the last change by itself.
        table.rules(folder / "rules", read_only="read-only: {modified: modified_at}")
        self.sqlite = table

    # Runs

    def program(self, name: str, arguments: list) -> dict:
        self.seed += 1
        command = [self.programs / name, "--seconds", self.seconds, "--warmup", self.warmup, "--seed", self.seed]
        done = subprocess.run([str(a) for a in command + arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchmarkError(f"{name} ended with {done.returncode}: {done.stderr}{done.stdout}")
        return json.loads(done.stdout)

    def floor(self, table: str, threads: int) -> dict:
        known = self.tables[table]
        before = self.server.updates()
        result = self.program("floor", [
            "--socket", self.server.socket, "--user", MariaDB.USER, "--database", "bench", "--table", table,
            "--rows", known.rows, "--state", known.state, "--threads", threads, "--watch", f"server={self.server.pid}"])
        self.check(known, before, result["changed"], is_exact=True)
        return {"threads": threads, **result}

    def best_floor(self, table: str) -> tuple:
        """The floor with the number of connections that suits this machine best, and all that were tried."""
        tried = [self.floor(table, threads) for threads in FLOOR_THREADS]
        return max(tried, key=lambda result: result["merges"] / result["seconds"]), tried

    def load(self, case: Case, requests: int) -> dict:
        is_sqlite = case.engine == "sqlite"
        table = self.sqlite if is_sqlite else self.tables[case.table]
        url = (f"sqlite:{table.folder / 'db.sqlite'}" if is_sqlite
               else self.server.url(MariaDB.USER))
        rules = table.folder / "rules"
        # A SQLite database has a journal by default, a server only if the option names one.
        journal = [] if is_sqlite else ["--journal", f"same-server:{JOURNAL}"]
        if not self.keeps_journal:
            journal = ["--journal", "off"]
        gateway = Gateway(self.binary, self.folder, "gateway", url, rules, journal + self.options)
        try:
            if case.entries:
                self.fill_journal(table.name, case.entries)
            arguments = [
                "--kind", case.kind, "--port", gateway.port, "--clients", case.clients, "--batch", case.batch,
                "--items", case.items, "--rows", table.rows, "--resource", case.resource or table.name,
                "--token", gateway.token, "--state", table.state, "--watch", f"gateway={gateway.pid}"]
            if case.counts_requests:
                arguments += ["--requests", requests]
            if is_sqlite:
                result = self.program("load", arguments)
                self.check_versions(table, run(
                    ["sqlite3", "-bail", table.folder / "db.sqlite"], versions_sql(table, "INTEGER")))
                return result
            before = self.server.updates()
            result = self.program("load", arguments + ["--watch", f"server={self.server.pid}"])
            # The journal also writes rows.
            self.check(table, before, result["changed"], is_exact=not self.keeps_journal)
            return result
        finally:
            gateway.stop()

    def fill_journal(self, resource: str, entries: int) -> None:
        """Entries of other pushes, in steps with short transactions."""
        step = 500_000
        for start in range(1, entries, step):
            self.server.sql(
                f"INSERT INTO {JOURNAL}.entries (at, who, push_key, name, request, code, answer, resource, record,"
                " status, outcomes, rules, entry) SELECT '2026-01-01', 'before', seq, UNHEX(SHA2(seq, 256)),"
                f" UNHEX(SHA2(seq, 256)), 200, REPEAT('a', 200), '{resource}', 1 + seq MOD 99991, 'merged', ',applied,',"
                f" 'v', REPEAT('e', 100) FROM seq_{start}_to_{start + step - 1}")

    # Proof

    def check(self, table: Table, updates_before: int, claimed: int, is_exact: bool) -> None:
        """The server has counted as many changed rows as claimed, and each row has its last version."""
        counted = self.server.updates() - updates_before
        if counted != claimed if is_exact else counted < claimed:
            raise BenchmarkError(f"{claimed} rows are claimed to have changed, the server counted {counted}")
        self.check_versions(table, self.server.sql(versions_sql(table, "UNSIGNED")))

    @staticmethod
    def check_versions(table: Table, held: str) -> None:
        known = table.versions()
        if int(held) != known:
            raise BenchmarkError(f"the versions in {table.name} add up to {held.strip()}, not to {known}")
