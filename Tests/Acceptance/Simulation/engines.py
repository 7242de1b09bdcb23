"""The database of a history, as programs other than the gateway use it."""

import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

from processes import BenchmarkError, MariaDB, run
from proxy import Cutter

DEADLOCK = "ERROR 1213"
ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "0": "\0"}


class SQLiteEngine:
    """A file with a journal file."""

    name = "sqlite"
    gateways = 1

    def __init__(self, folder: Path, binary: Path):
        self.file = folder / "world.db"
        self.url, self.journal_url = f"sqlite:{self.file}", f"sqlite:{self.file}.fieldmerge"
        with self.connect() as connection:
            connection.execute("PRAGMA journal_mode=WAL")

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.file, isolation_level=None, timeout=20)
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def grant(self, tables) -> None:
        """A file has no rights."""

    def changes(self, world: dict) -> list:
        """A file has no log."""
        return []

    def script(self, text: str) -> None:
        connection = self.connect()
        connection.executescript(text)
        connection.close()

    def fill(self, text: str) -> None:
        """Replaces rows in one transaction, without foreign keys."""
        self.script(f"PRAGMA foreign_keys=OFF; BEGIN IMMEDIATE;\n{text}\nCOMMIT;")

    def transaction(self, text: str) -> None:
        """Runs statements in one transaction."""
        self.script(f"BEGIN IMMEDIATE; {text} COMMIT;")

    def write(self, statement: str) -> tuple:
        """Runs one statement. Returns the number of changed rows and the key of a new one."""
        connection = self.connect()
        cursor = connection.execute(statement)
        found = cursor.rowcount, cursor.lastrowid
        connection.close()
        return found

    def read(self, tables: dict) -> dict:
        """The rows of these columns, all of one moment, as lists of dictionaries."""
        connection = self.connect()
        connection.execute("BEGIN")
        found = {}
        for table, columns in tables.items():
            rows = connection.execute(f"SELECT {', '.join(f'`{name}`' for name in columns)} FROM `{table}`")
            found[table] = [dict(zip(columns, row)) for row in rows.fetchall()]
        connection.close()
        return found

    def begin(self, statement: str):
        """Runs a statement in a separate transaction."""
        return SQLiteTransaction(self.connect(), statement)

    # MARK: Backups

    def dump(self) -> None:
        for file in (self.file, Path(f"{self.file}.fieldmerge")):
            self.copy(file, self.saved(file))

    def restore(self, has_data: bool, has_journal: bool) -> None:
        if has_data:
            self.copy(self.saved(self.file), self.file)
        if has_journal:
            file = Path(f"{self.file}.fieldmerge")
            self.copy(self.saved(file), file)

    @staticmethod
    def saved(file: Path) -> Path:
        return file.with_name("saved-" + file.name)

    @staticmethod
    def copy(source: Path, target: Path) -> None:
        one, other = sqlite3.connect(source), sqlite3.connect(target)
        one.backup(other)
        one.close()
        other.close()

    def journal_sql(self, text: str) -> str:
        with closing(sqlite3.connect(f"{self.file}.fieldmerge")) as connection, connection:
            return "\n".join(str(row[0]) for row in connection.execute(text).fetchall())

    # MARK: The end

    def journal_text(self) -> str:
        """Everything that the journal contains, as bytes read as Latin-1."""
        files = [path for path in self.file.parent.iterdir() if path.name.startswith("world.db.fieldmerge") and path.is_file()]
        text = ""
        for path in files:
            # SQLite deletes a rollback journal when its transaction ends.
            with suppress(FileNotFoundError):
                text += path.read_bytes().decode("latin-1")
        return text

    def drop(self) -> None:
        """The folder of the history is removed as a whole."""


class SQLiteTransaction:
    def __init__(self, connection: sqlite3.Connection, statement: str):
        self.connection = connection
        connection.execute("BEGIN IMMEDIATE")
        self.count = connection.execute(statement).rowcount

    def end(self, commits: bool) -> bool:
        """True if rows were changed."""
        self.connection.execute("COMMIT" if commits else "ROLLBACK")
        self.connection.close()
        return commits and self.count > 0


class MariaDBEngine:
    """Two schemas, data and journal, on a server that all histories share."""

    name = "mariadb"
    gateways = 2

    def __init__(self, server, folder: Path, binary: Path, number: int):
        self.server, self.database, self.journal = server, f"world{number}", f"journal{number}"
        self.proxy = Cutter(folder / "proxy", self)
        self.dumped = folder / "dump.sql"
        # A statement before each transaction, which decides how it is logged.
        self.form = ""
        server.sql(f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "")
        self.url, self.journal_url = self.proxy.url, f"same-server:{self.journal}"
        server.sql(run([binary, "journal", "init", "--database", self.address("root", server.socket), "--journal",
                        self.journal_url, "--grant-to", server.ACCOUNT]), "")

    def address(self, user: str, socket: Path) -> str:
        return f"mariadb://{user}@localhost/{self.database}?socket={socket}"

    def grant(self, tables) -> None:
        for table in tables:
            self.server.grant(f"{self.database}.`{table}`")
        self.server.sql(f"GRANT REPLICATION SLAVE ON *.* TO {self.server.ACCOUNT}", "")

    def changes(self, world: dict) -> list:
        found = world.get("changes", "scan")
        return ["--changes", found] + (["--keep-foreign"] if found == "binlog" else [])

    def script(self, text: str) -> None:
        self.server.sql(text, self.database)

    def fill(self, text: str) -> None:
        """Replaces rows in one transaction, without foreign keys."""
        self.transaction(f"SET FOREIGN_KEY_CHECKS=0;\n{text}\n")

    def transaction(self, text: str) -> str:
        """Runs statements in one transaction, and returns what they print.

        Of two transactions that wait for each other, the server may end this one. Then it runs again.
        """
        while True:
            try:
                return self.server.sql(f"{self.form} BEGIN; {text} COMMIT;", self.database)
            except BenchmarkError as error:
                if DEADLOCK not in str(error):
                    raise

    def write(self, statement: str) -> tuple:
        """Runs one statement. Returns the number of changed rows and the key of a new one."""
        line = self.transaction(f"{statement}; SELECT ROW_COUNT(), LAST_INSERT_ID();")
        return tuple(int(cell) for cell in line.split("\t"))

    def read(self, tables: dict) -> dict:
        """The rows of these columns, all of one moment, as lists of dictionaries."""
        text = "START TRANSACTION WITH CONSISTENT SNAPSHOT;"
        for table, columns in tables.items():
            cells = ", ".join(f"IFNULL(`{name}`, '\\\\N')" for name in columns)
            text += f"SELECT '{table}', {cells} FROM `{table}`;"
        found = {table: [] for table in tables}
        for line in self.server.sql(text + "COMMIT;", self.database).split("\n")[:-1]:
            table, *cells = line.split("\t")
            values = [None if cell == "\\\\N" else unescaped(cell) for cell in cells]
            found[table].append({name: int(value) if is_number and value is not None else value
                                 for (name, is_number), value in zip(tables[table].items(), values)})
        return found

    def begin(self, statement: str):
        """Runs a statement in a separate transaction."""
        return MariaDBTransaction(self.server, self.database, statement)

    def prepare(self, statement: str, name: str):
        """Runs a statement in a distributed transaction, and prepares it."""
        return PreparedTransaction(self.server, self.database, statement, name)

    def disconnect(self) -> None:
        """Ends the connections of all gateways."""
        self.server.sql(f"KILL USER {self.server.ACCOUNT}", "")

    # MARK: Backups

    def dump(self) -> None:
        with open(self.dumped, "wb") as file:
            subprocess.run(["mariadb-dump", "--no-defaults", f"--socket={self.server.socket}", "-uroot", "--single-transaction",
                            "--routines", "--triggers", "--databases", self.database, self.journal], stdout=file, check=True)

    def restore(self, has_data: bool, has_journal: bool) -> None:
        only = [] if has_data and has_journal else ["--one-database", self.database if has_data else self.journal]
        with open(self.dumped, "rb") as file:
            subprocess.run(["mariadb", "--no-defaults", f"--socket={self.server.socket}", "-uroot", *only], stdin=file, check=True)

    def journal_sql(self, text: str) -> str:
        return self.server.sql(text, self.journal)

    # MARK: The end

    def journal_text(self) -> str:
        """Everything that the journal contains, as bytes read as Latin-1."""
        done = subprocess.run(["mariadb-dump", "--no-defaults", f"--socket={self.server.socket}", "-uroot",
                               "--skip-extended-insert", self.journal], capture_output=True)
        return done.stdout.decode("latin-1")

    def drop(self) -> None:
        self.proxy.close()
        self.server.recover()
        self.server.sql(f"DROP DATABASE {self.database}; DROP DATABASE {self.journal}", "")


class MariaDBTransaction:
    """A transaction of a client program that waits for its end."""

    def __init__(self, server, database: str, statement: str):
        self.shell = subprocess.Popen(
            ["mariadb", "--no-defaults", f"--socket={server.socket}", "-uroot", "-N", "-B", "-n", database],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.count = int(self.ask(f"{self.opening()}; {statement}; SELECT ROW_COUNT();") or 0)

    def opening(self) -> str:
        return "BEGIN"

    def closing(self, commits: bool) -> str:
        return "COMMIT" if commits else "ROLLBACK"

    def ask(self, text: str) -> str:
        """Empty if the statement failed."""
        try:
            self.shell.stdin.write(text + "\n")
            self.shell.stdin.flush()
        except BrokenPipeError:
            return ""
        return self.shell.stdout.readline().strip()

    def end(self, commits: bool) -> bool:
        """True if rows were changed."""
        is_done = self.ask(self.closing(commits) + "; SELECT 'done';") == "done"
        self.shell.communicate()
        return is_done and commits and self.count > 0


class PreparedTransaction(MariaDBTransaction):
    """A distributed transaction. The server logs its rows when it is prepared, before they are visible."""

    def __init__(self, server, database: str, statement: str, name: str):
        self.name = name
        super().__init__(server, database, statement)
        self.ask(f"XA END '{name}'; XA PREPARE '{name}'; SELECT 'done';")

    def opening(self) -> str:
        return f"XA START '{self.name}'"

    def closing(self, commits: bool) -> str:
        return f"XA {'COMMIT' if commits else 'ROLLBACK'} '{self.name}'"


def unescaped(cell: str) -> str:
    """A cell as the client program of MariaDB prints it."""
    parts = cell.split("\\")
    text, index = parts[0], 1
    while index < len(parts):
        part = parts[index]
        if part == "":
            # Two backslashes are one.
            text += "\\" + (parts[index + 1] if index + 1 < len(parts) else "")
            index += 2
            continue
        text += ESCAPES.get(part[0], part[0]) + part[1:]
        index += 1
    return text
