"""A database with a world in it, and the gateways that serve it."""

import json
import shutil
import signal
from pathlib import Path

from contract import schema, texts
from contract.database import Database
from engines import MariaDBEngine, SQLiteEngine
from gateway import Gateway
from processes import run
from world import CLIENTS, rules, tables

# The columns of each table, each with whether it contains numbers.
COLUMNS = {
    "goods": {"id": True, "n": True, "label": False, "note": False, "high": True, "tags": False, "status": False, "area": True,
              "mark": False, "secret": False, "pin": False, "code": False, "extra": False, "gone": True, "locked": True},
    "parts": {"id": True, "good": True, "n": True, "name": False},
}
CONTRACT = {table.name: {name: kind == "INTEGER" for name, kind in table.columns.items()} for table in schema.TABLES}


class Place:
    def __init__(self, engine: str, binary: Path, folder: Path, server, number: int, world: dict):
        self.binary, self.world = binary, world
        self.folder = folder / f"history-{number}"
        self.rules = self.folder / "rules"
        self.rules.mkdir(parents=True)
        self.resources = schema.resources(world["contract"])
        self.variant = 0
        self.write_rules()
        self.write_tokens()
        self.engine = MariaDBEngine(server, binary, number) if server else SQLiteEngine(self.folder, binary)
        self.engine.script(tables(world, engine) + texts.tables(engine))
        self.engine.grant([*COLUMNS, *CONTRACT])
        self.gateways = [None] * self.engine.gateways
        self.logs = []

    def write_rules(self) -> None:
        for name, text in {**rules(self.world, self.variant), **texts.rules(self.resources)}.items():
            path = self.rules / f"{name}.yaml"
            other = path.with_suffix(".new")
            other.write_text(text)
            other.replace(path)

    def write_tokens(self) -> None:
        self.tokens = {}
        self.tokens_file = self.folder / "tokens"
        for client in CLIENTS:
            options = ["--role", client["role"], "--claims", json.dumps({"areas": client["areas"]})]
            lines = run([self.binary, "token", "new", "--name", client["name"], *options,
                         *(["--operator"] if client["operator"] else []), "--append", self.tokens_file]).splitlines()
            self.tokens[client["name"]] = next(line.strip() for line in lines if line.strip().startswith("fm_"))

    # MARK: Gateways

    def start(self) -> None:
        for index in range(len(self.gateways)):
            self.start_gateway(index)

    def start_gateway(self, index: int, url: str = "", options=()) -> None:
        state = self.folder / f"state-{index}"
        state.mkdir(exist_ok=True)
        log = self.folder / f"gateway-{len(self.logs)}.log"
        self.logs.append(log)
        self.gateways[index] = Gateway(
            [self.binary, "serve", "--database", url or self.engine.url, *self.engine.journal_options, "--rules", self.rules,
             "--tokens", self.tokens_file, "--state", state, "--log-level", "debug", *options], log)

    def reload(self) -> None:
        for gateway in self.gateways:
            if gateway.is_running:
                gateway.process.send_signal(signal.SIGHUP)

    def port(self, index: int) -> int:
        return self.gateways[index % len(self.gateways)].port

    def stop(self) -> None:
        for gateway in self.gateways:
            if gateway:
                gateway.stop()
        self.engine.drop()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    # MARK: Rows

    def rows(self) -> dict:
        """All goods and parts, by table and key, of one moment."""
        return {table: {row["id"]: row for row in rows} for table, rows in self.engine.read(COLUMNS).items()}

    def contract_rows(self) -> dict:
        """The rows that the contract's model judges, by table and key."""
        found = self.engine.read(CONTRACT)
        return {table.name: {tuple(row[name] for name in table.key): row for row in found[table.name]}
                for table in schema.TABLES}

    def contract_database(self, rows: dict) -> Database:
        return Database(schema.TABLES, rows, refuses_own_reference=self.engine.name == "mariadb")

    def log_texts(self) -> list:
        return [(path.name, path.read_text(errors="replace")) for path in self.logs]
