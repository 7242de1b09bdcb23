"""The private server and the gateways that are measured."""

import http.client
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path


class BenchmarkError(Exception):
    """Something that ends the run."""


def run(arguments: list, text: str = "") -> str:
    """Runs a program to its end and returns its output."""
    done = subprocess.run([str(a) for a in arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchmarkError(f"{arguments[0]} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


class Process:
    """A process in the background that ends with the benchmark."""

    def __init__(self, arguments: list, log: Path, seconds_to_stop: int = 30):
        self.log = log
        self.seconds_to_stop = seconds_to_stop
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                [str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_until(self, is_ready, seconds: float = 60):
        """Repeats a check until it succeeds. If it fails, the process is ended."""
        try:
            for _ in range(int(10 * seconds)):
                if found := is_ready():
                    return found
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
            raise BenchmarkError(f"a process did not start; its log:\n{self.log.read_text()[-3000:]}")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(self.seconds_to_stop)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class MariaDB(Process):
    """A server in a temporary folder, on a socket only.

    Each commit is written to disk before its answer. There is no binary log, because it would cost both arms a second
    commit. The buffer pool contains all tables except the largest.
    """

    # The measured account of both arms. Root only sets up and counts.
    USER = "gateway"
    ACCOUNT = "'gateway'@'localhost'"

    SETTINGS = [
        "--innodb-buffer-pool-size=1G", "--innodb-log-file-size=1G", "--innodb-flush-log-at-trx-commit=1",
        "--skip-log-bin", "--max-connections=400", "--skip-networking", "--skip-name-resolve",
        "--performance-schema=OFF", "--character-set-server=utf8mb4",
    ]

    def __init__(self, folder: Path):
        self.socket = folder / "s"
        user = run(["id", "-un"]).strip()
        data = folder / "data"
        run(["mariadb-install-db", "--no-defaults", f"--user={user}", f"--datadir={data}",
             "--auth-root-authentication-method=normal", "--skip-test-db"])
        super().__init__(
            ["mariadbd", "--no-defaults", f"--user={user}", f"--datadir={data}", f"--socket={self.socket}",
             f"--pid-file={folder}/pid", f"--tmpdir={folder}", *self.SETTINGS], folder / "mariadb.log")
        self.wait_until(self.answers)
        self.sql(f"CREATE DATABASE bench CHARACTER SET utf8mb4; CREATE USER {self.ACCOUNT}", "")

    def grant(self, table: str) -> None:
        """Exactly the documented rights on one table."""
        self.sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {self.ACCOUNT}")

    def url(self, user: str) -> str:
        return f"mariadb://{user}@localhost/bench?socket={self.socket}"

    def make_journal(self, binary: Path, schema: str) -> None:
        """The journal's schema, with the rights on it that are printed."""
        self.sql(run([binary, "journal", "init", "--database", self.url("root"), "--journal", f"same-server:{schema}",
                      "--grant-to", self.ACCOUNT]))

    def answers(self) -> bool:
        ping = ["mariadb-admin", "--no-defaults", f"--socket={self.socket}", "-uroot", "ping"]
        return subprocess.run(ping, capture_output=True).returncode == 0

    def sql(self, text: str, database: str = "bench") -> str:
        return run(["mariadb", "--no-defaults", f"--socket={self.socket}", "-uroot", "-N", "-B", database], text)

    def version(self) -> str:
        return self.sql("SELECT VERSION()").strip()

    def updates(self) -> int:
        """The number of rows that were changed since the start of the server. An UPDATE with equal values does not
        count."""
        return int(self.sql("SHOW GLOBAL STATUS LIKE 'Handler_update'").split()[1])


class LoggedMariaDB(MariaDB):
    """A server that also writes the binary log, whose rows the gateway may read."""

    SETTINGS = [setting for setting in MariaDB.SETTINGS if setting != "--skip-log-bin"] + [
        "--log-bin", "--server-id=1", "--binlog-format=ROW", "--sync-binlog=1"]

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.sql(f"GRANT REPLICATION SLAVE ON *.* TO {self.ACCOUNT}", "")


class Gateway(Process):
    """The release build on a free port."""

    def __init__(self, binary: Path, folder: Path, name: str, database: str, rules: Path, options: list):
        tokens = folder / "tokens"
        self.token, line = self.make_token(binary)
        tokens.write_text(line + "\n")
        self.port = self.free_port()
        # Enough for 10,000 idle connections and the other clients. One token may write at any rate.
        arguments = [binary, "serve", "--database", database, "--rules", rules, "--tokens", tokens,
                     "--listen", f"127.0.0.1:{self.port}", "--max-clients", "12000",
                     "--max-journal-day", str(2 ** 40)]
        super().__init__(arguments + options, folder / (name + ".log"))
        self.wait_until(self.is_ready)

    @staticmethod
    def free_port() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    @staticmethod
    def make_token(binary: Path) -> tuple:
        """The secret and its line of the tokens file."""
        lines = run([binary, "token", "new", "--name", "bench"]).splitlines()
        return lines[1].strip(), lines[3].strip()


def allow_many_files(needed: int) -> None:
    """A connection is an open file on both sides. Programs started here inherit the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise BenchmarkError(f"10,000 connections need {needed} open files, and ulimit -Hn is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def stop_servers_on_sigterm() -> None:
    """SIGTERM ends the run like Ctrl-C, so that no server continues to run."""
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
