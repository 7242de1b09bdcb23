"""The two engines: how a database is made, filled and read beside the gateway."""

import sqlite3
import subprocess
from pathlib import Path

import texts
from processes import MariaDB
from schema import TABLES


class Lite:
    """A database in a file."""

    name = "sqlite"

    def __init__(self, folder: Path, binary: Path):
        self.path = folder / "oracle.db"
        self.connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        self.connection.executescript(texts.tables(self.name))
        self.url = f"sqlite:{self.path}"
        self.folder, self.journals = folder, 0

    def new_journal(self) -> list:
        """The options of a gateway that knows nothing of what was."""
        self.journals += 1
        return ["--journal", f"sqlite:{self.folder}/journal-{self.journals}.db"]

    def read(self) -> dict:
        """All rows, by table and key."""
        found = {}
        for table in TABLES:
            columns = list(table.columns)
            rows = self.connection.execute(f"SELECT {texts.listed(columns)} FROM {texts.quoted(table.name)}").fetchall()
            found[table.name] = by_key(table, [dict(zip(columns, row)) for row in rows])
        return found

    def fill(self, rows: dict) -> None:
        """Replaces everything."""
        self.connection.executescript("BEGIN IMMEDIATE;\n" + filling(rows) + "\nCOMMIT;")

    def stop(self) -> None:
        self.connection.close()


class Maria:
    """A server of its own, which the gateway uses as a user with exactly the documented rights."""

    name = "mariadb"

    def __init__(self, folder: Path, binary: Path):
        self.server = MariaDB(folder)
        try:
            self.server.sql("ALTER DATABASE bench COLLATE utf8mb4_bin", "")
            self.server.sql(texts.tables(self.name))
            for table in TABLES:
                self.server.grant(f"bench.`{table.name}`")
            self.shell = subprocess.Popen(
                ["mariadb", "--no-defaults", f"--socket={self.server.socket}", "-uroot", "-N", "-B", "-n", "bench"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        except BaseException:
            self.server.stop()
            raise
        self.url = self.server.url(MariaDB.USER)
        self.binary, self.journals = binary, 0

    def new_journal(self) -> list:
        """The options of a gateway that knows nothing of what was."""
        self.journals += 1
        name = f"oracle_journal_{self.journals}"
        self.server.make_journal(self.binary, name)
        return ["--journal", f"same-server:{name}"]

    def ask(self, sql: str) -> list:
        """Sends statements to the waiting client program; the lines that they print."""
        self.shell.stdin.write(sql + "\nSELECT '-- end --';\n")
        self.shell.stdin.flush()
        lines = []
        for line in self.shell.stdout:
            if line == "-- end --\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise RuntimeError("the client program of MariaDB has ended")

    def read(self) -> dict:
        """All rows, by table and key."""
        sql = "\n".join(
            f"SELECT '{t.name}', {texts.listed(t.columns)} FROM {texts.quoted(t.name)};" for t in TABLES)
        rows = {t.name: [] for t in TABLES}
        for line in self.ask(sql):
            name, *cells = line.split("\t")
            rows[name].append(cells)
        return {t.name: by_key(t, [self.row(t, cells) for cells in rows[t.name]]) for t in TABLES}

    @staticmethod
    def row(table, cells) -> dict:
        return {
            name: None if cell == "NULL" else int(cell) if kind == "INTEGER" else cell
            for (name, kind), cell in zip(table.columns.items(), cells)}

    def fill(self, rows: dict) -> None:
        """Replaces everything."""
        self.ask("SET FOREIGN_KEY_CHECKS=0; BEGIN;\n" + filling(rows) + "\nCOMMIT; SET FOREIGN_KEY_CHECKS=1;")

    def stop(self) -> None:
        self.shell.stdin.close()
        self.shell.wait()
        self.server.stop()


ENGINES = {"sqlite": Lite, "mariadb": Maria}


def by_key(table, rows) -> dict:
    return {tuple(row[c] for c in table.key): row for row in rows}


def filling(rows: dict) -> str:
    """The statements that empty all tables and fill them again, in one go."""
    statements = [f"DELETE FROM {texts.quoted(t.name)};" for t in TABLES]
    for table in TABLES:
        for row in rows[table.name].values():
            values = ", ".join(texts.literal(v) for v in row.values())
            statements.append(f"INSERT INTO {texts.quoted(table.name)} ({texts.listed(row)}) VALUES ({values});")
    return "\n".join(statements)
