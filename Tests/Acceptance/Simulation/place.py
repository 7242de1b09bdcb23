"""A database with a world in it, and the gateways that serve it."""

import json
import shutil
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from contract import schema, texts
from contract.database import Database
from engines import MariaDBEngine, SQLiteEngine
from gateway import Gateway
from processes import run
from tokens import Tokens
from world import rules, tables

# The columns of each table, each with whether it contains numbers.
COLUMNS = {
    "goods": {"id": True, "n": True, "label": False, "note": False, "high": True, "tags": False, "status": False, "area": True,
              "mark": False, "secret": False, "pin": False, "code": False, "extra": False,
              "gone": True, "locked": True},
    "parts": {"id": True, "good": True, "n": True, "name": False, "copy": False},
}
CONTRACT = {table.name: {name: kind in ("INTEGER", "BIGINT") for name, kind in table.columns.items()} for table in schema.TABLES}
CLOCK = Path(__file__).with_name("clock.c")


class Place:
    def __init__(self, engine: str, binary: Path, folder: Path, server, number: int, world: dict):
        self.binary, self.world, self.name = binary, world, engine
        self.folder = folder / f"h{number}"
        self.rules = self.folder / "rules"
        self.rules.mkdir(parents=True)
        self.resources = schema.resources(world["contract"])
        self.variant = 0
        self.write_rules()
        self.tokens = Tokens(binary, self.folder / "tokens", world["roles"])
        self.set_clock(0)
        self.engine = MariaDBEngine(server, self.folder, binary, number) if server else SQLiteEngine(self.folder, binary)
        self.engine.script(tables(world, engine) + texts.tables(engine))
        self.engine.grant([*COLUMNS, *CONTRACT, *(["seen"] if server else [])])
        self.gateways = [None] * self.engine.gateways
        self.logs = []
        self.is_occupied = self.is_altered = False

    def write_rules(self) -> None:
        for name, text in {**rules(self.world, self.name, self.variant), **texts.rules(self.resources)}.items():
            path = self.rules / f"{name}.yaml"
            other = path.with_suffix(".new")
            other.write_text(text)
            other.replace(path)

    # MARK: Gateways

    def start(self) -> None:
        for index in range(len(self.gateways)):
            self.start_gateway(index)

    def start_gateway(self, index: int, url: str = "", options=()) -> None:
        self.gateways[index] = self.new_gateway(str(index), url, options)

    def new_gateway(self, name: str, url: str = "", options=()) -> Gateway:
        state = self.folder / f"state-{name}"
        state.mkdir(exist_ok=True)
        log = self.folder / f"gateway-{len(self.logs)}.log"
        self.logs.append(log)
        arguments = [self.binary, "serve", "--database", url or self.engine.url, "--journal", self.engine.journal_url, "--rules", self.rules,
                     "--tokens", self.tokens.file, "--state", state, "--log-level", "debug", *self.world["options"], *(() if "--changes" in options else self.engine.changes(self.world)), *options]
        return Gateway(["env", *self.clock_settings(), *arguments], log)

    def stop_gateways(self) -> None:
        for gateway in self.gateways:
            if gateway:
                gateway.stop()

    def clock_settings(self) -> list:
        """A library that is loaded before the system's makes the clock jump."""
        if not self.world["clock"]:
            return []
        library = self.folder / "clock.so"
        if not library.exists():
            run(["clang", "-shared", "-fPIC", "-O1", "-o", library, CLOCK])
        return [f"LD_PRELOAD={library}", f"SIMULATION_CLOCK={self.folder / 'clock'}"]

    def set_clock(self, seconds: int) -> None:
        """How far the clock of the gateways is ahead."""
        other = self.folder / "clock.new"
        other.write_text(f"{seconds:+d}")
        other.replace(self.folder / "clock")

    def reload(self) -> None:
        for gateway in self.gateways:
            if gateway.is_running:
                gateway.process.send_signal(signal.SIGHUP)

    def port(self, index: int) -> int:
        return self.gateways[index % len(self.gateways)].port

    def stop(self) -> None:
        self.stop_gateways()
        self.engine.drop()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def last_entry(self) -> int:
        return int(self.engine.journal_sql("SELECT COALESCE(MAX(n), 0) FROM entries"))

    def restore(self, has_data: bool, has_journal: bool, last: int) -> None:
        """The steps of the guide to recovery, without a newer journal.

        `last` is the last entry of the backup. A time would be wrong, because the clocks of histories jump.
        """
        self.stop_gateways()
        self.engine.restore(has_data, has_journal)
        if not has_journal:
            self.engine.journal_sql(f"DELETE FROM entries WHERE n > {last}")
        run([self.binary, "journal", "restored", "--database", self.engine.url, "--journal", self.engine.journal_url,
             "--rules", self.rules])
        self.start()

    def trace(self, client: str, gateway: int, method: str, path: str, body, status: int, text: str) -> None:
        """Writes a request and its answer into a file of the history's folder."""
        with open(self.folder / "trace", "a") as file:
            file.write(f"{time.monotonic():.3f} {client} {gateway} {method} {path} {json.dumps(body)}\n  {status} {text}\n")

    # MARK: Mutual exclusion

    @contextmanager
    def occupied(self):
        """While the database does not respond or is locked, no other event that waits for it begins."""
        self.is_occupied = True
        try:
            yield
        finally:
            self.is_occupied = False

    def without_occupation(self):
        while self.is_occupied:
            yield None

    def with_whole_schema(self):
        """A gateway does not start if its rules do not fit the schema."""
        while self.is_occupied or self.is_altered:
            yield None

    # MARK: Rows

    def rows(self) -> dict:
        """All goods and parts, by table and key, of one moment."""
        return {table: {row["id"]: row for row in rows} for table, rows in self.engine.read(COLUMNS).items()}

    def contract_rows(self) -> dict:
        """The rows that the contract's model judges, by table and key."""
        found = self.engine.read(CONTRACT)
        for row in found["pages"]:
            row["doc"] = row["doc"] and json.loads(row["doc"])
        return {table.name: {tuple(row[name] for name in table.key): row for row in found[table.name]}
                for table in schema.TABLES}

    def contract_database(self, rows: dict) -> Database:
        return Database(schema.TABLES, rows, refuses_own_reference=self.engine.name == "mariadb")

    def log_texts(self) -> list:
        return [(path.name, path.read_text(errors="replace")) for path in self.logs]
