"""A database with a world in it, and the gateways that serve it."""

import json
import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path

from neighbours import Served
from processes import MariaDB, run
from world import CLIENTS, rules, tables

COLUMNS = {
    "goods": ("id", "n", "label", "note", "high", "tags", "status", "area", "mark", "secret", "pin", "code", "extra", "gone",
              "locked"),
    "parts": ("id", "good", "n", "name"),
}
NUMBERS = {"id", "n", "high", "area", "gone", "locked", "good"}


class Place:
    """The name is one that `neighbours.Served` expects: it reads `binary`, `url`, `rules` and `folder`."""

    def __init__(self, engine: str, binary: Path, folder: Path, server: MariaDB, number: int, world: dict):
        self.engine, self.binary, self.server, self.number, self.world = engine, binary, server, number, world
        self.folder = folder / f"history-{number}"
        self.rules = self.folder / "rules"
        self.rules.mkdir(parents=True)
        self.variant = 0
        self.write_rules()
        self.write_tokens()
        self.lock = threading.Lock()
        if server:
            self.database, self.journal = f"world{number}", f"journal{number}"
            server.sql(f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "")
            server.sql(tables(world, engine), self.database)
            for table in COLUMNS:
                server.grant(f"{self.database}.{table}")
            self.url = f"mariadb://{MariaDB.USER}@localhost/{self.database}?socket={server.socket}"
            server.sql(run([binary, "journal", "init", "--database",
                            f"mariadb://root@localhost/{self.database}?socket={server.socket}", "--journal",
                            f"same-server:{self.journal}", "--grant-to", server.ACCOUNT]), "")
            self.journal_option = ["--journal", f"same-server:{self.journal}"]
        else:
            self.file = self.folder / "world.db"
            run(["sqlite3", self.file], "PRAGMA journal_mode=WAL;" + tables(world, engine))
            self.url, self.journal_option = f"sqlite:{self.file}", []
        self.gateways = [None] * (2 if server else 1)
        self.logs = []

    def write_rules(self) -> None:
        for name, text in rules(self.world, self.variant).items():
            path = self.rules / f"{name}.yaml"
            other = path.with_suffix(".new")
            other.write_text(text)
            other.replace(path)

    def write_tokens(self) -> None:
        self.tokens = {}
        file = self.folder / "tokens"
        for client in CLIENTS:
            options = ["--role", client["role"], "--claims", json.dumps({"areas": client["areas"]})]
            lines = run([self.binary, "token", "new", "--name", client["name"], *options,
                         *(["--operator"] if client["operator"] else []), "--append", file]).splitlines()
            self.tokens[client["name"]] = next(line.strip() for line in lines if line.strip().startswith("fm_"))
        self.tokens_file = file

    # MARK: Gateways

    def start(self) -> None:
        for index in range(len(self.gateways)):
            self.start_gateway(index)

    def start_gateway(self, index: int) -> None:
        state = self.folder / f"state-{index}"
        state.mkdir(exist_ok=True)
        gateway = Served(self, ["--tokens", self.tokens_file, "--state", state, "--log-level", "debug", *self.journal_option], [])
        self.logs.append(gateway.log)
        self.gateways[index] = gateway

    def kill_gateway(self, index: int) -> None:
        self.gateways[index].process.kill()
        self.gateways[index].process.wait()

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
        if self.server:
            self.server.sql(f"DROP DATABASE {self.database}; DROP DATABASE {self.journal}", "")

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    # MARK: The database

    def sql(self, text: str) -> list:
        """Runs statements as another program would, and returns the lines that they print."""
        if self.server:
            return self.server.sql(text, self.database).splitlines()
        return run(["sqlite3", "-bail", "-cmd", ".timeout 20000", "-cmd", "PRAGMA foreign_keys=ON", "-separator", "\t", self.file],
                   text).splitlines()

    def write(self, statement: str) -> int:
        """Runs one foreign write and returns the number of rows that it changed."""
        count = "ROW_COUNT()" if self.server else "changes()"
        return int(self.sql(f"{statement}; SELECT {count};")[-1])

    def rows(self) -> dict:
        """All rows, by table and key, of one moment."""
        text = "START TRANSACTION WITH CONSISTENT SNAPSHOT;" if self.server else "BEGIN;"
        null = "IFNULL(`{0}`, '\\\\N')" if self.server else "ifnull(`{0}`, '\\N')"
        for table, columns in COLUMNS.items():
            listed = ", ".join(null.format(name) for name in columns)
            text += f"SELECT '{table}', {listed} FROM {table};"
        found = {table: {} for table in COLUMNS}
        for line in self.sql(text + "COMMIT;"):
            table, *cells = line.split("\t")
            if self.server:
                cells = [cell.replace("\\\\", "\\") for cell in cells]
            row = {name: None if cell == "\\N" else int(cell) if name in NUMBERS else cell
                   for name, cell in zip(COLUMNS[table], cells)}
            found[table][row["id"]] = row
        return found

    def journal_text(self) -> str:
        """Everything that the journal contains, as bytes read as Latin-1."""
        if self.server:
            done = subprocess.run(
                ["mariadb-dump", "--no-defaults", f"--socket={self.server.socket}", "-uroot", "--skip-extended-insert",
                 self.journal], capture_output=True)
            return done.stdout.decode("latin-1")
        files = [path for path in self.folder.iterdir() if path.name.startswith("world.db.fieldmerge") and path.is_file()]
        return "".join(path.read_bytes().decode("latin-1") for path in files)

    def log_texts(self) -> list:
        return [(path.name, path.read_text(errors="replace")) for path in self.logs]
