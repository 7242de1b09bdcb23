"""The real gateway, on a SQLite file, for as long as a test needs it."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from types import TracebackType

_START_SECONDS = 60.0


class RealGateway:
    """A running gateway: `url`, its `database`, and `stop`, `kill`, `restart`, `close`."""

    def __init__(self, program: str, rules: str, database: str, folder: str, options: Sequence[str]) -> None:
        self.database = database
        self.url = ""
        self._program = program
        self._rules = rules
        self._folder = folder
        self._options = list(options)
        self._process: subprocess.Popen[bytes] | None = None
        self._log = os.path.join(folder, "gateway.log")
        self._port = 0
        self.start()

    def start(self) -> None:
        """Starts the gateway, on the same port as before; throws `RuntimeError` with its log if it ends."""
        for _ in range(5):
            port = self._port or _free_port()
            if self._start_on(port):
                self._port = port
                self.url = f"http://127.0.0.1:{port}"
                return
        with open(self._log, encoding="utf-8", errors="replace") as file:
            raise RuntimeError(f"the gateway did not start:\n{file.read()}")

    def _start_on(self, port: int) -> bool:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FIELDMERGE_")}
        command = [self._program, "serve", "--rules", self._rules, "--database", f"sqlite:{self.database}"]
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [*command, "--listen", f"127.0.0.1:{port}", *self._options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
            )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        limit = time.monotonic() + _START_SECONDS
        while time.monotonic() < limit and self._process.poll() is None:
            try:
                with opener.open(f"http://127.0.0.1:{port}/readyz", timeout=5):
                    return True
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        self.kill()
        return False

    def stop(self) -> None:
        """Stops the gateway in order."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def kill(self) -> None:
        """Kills the gateway, as a power cut would."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def restart(self) -> None:
        """Stops and starts the gateway."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stops the gateway for good, and deletes its files."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def query(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Runs a statement on the gateway's database, like a program that bypasses the gateway."""
        connection = sqlite3.connect(self.database, timeout=30)
        try:
            with connection:
                return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def __enter__(self) -> RealGateway:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def start_gateway(
    *,
    rules: str,
    sql: str | None = None,
    database: str | None = None,
    program: str | None = None,
    options: Sequence[str] = (),
) -> RealGateway:
    """Starts the gateway on a SQLite file: `with start_gateway(rules="MergeRules", sql="shop.sql") as gateway:`.

    - `rules`: the folder of the rule files.
    - `sql`: a file of statements that makes the database; or `database`, a file that is copied.
    - `program`: the path of `fieldmerge` (default: `FIELDMERGE_PROGRAM`, or `fieldmerge` on the search path).
    """
    found = program or os.environ.get("FIELDMERGE_PROGRAM") or shutil.which("fieldmerge")
    if not found:
        raise FileNotFoundError("there is no fieldmerge: name its path in FIELDMERGE_PROGRAM")
    folder = tempfile.mkdtemp(prefix="fieldmerge-")
    path = os.path.join(folder, "database.sqlite")
    try:
        if database is not None:
            shutil.copyfile(database, path)
        elif sql is not None:
            with open(sql, encoding="utf-8") as file:
                connection = sqlite3.connect(path)
                connection.executescript(file.read())
                connection.close()
        return RealGateway(found, rules, path, folder, options)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
