"""A machine in a temporary folder: database servers, the service, and replacements of an administrator's commands."""

import http.client
import os
import shlex
import signal
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path

from processes import BenchmarkError, Gateway, Process, run

ROWS = 400

TABLE = {
    "mariadb": "CREATE TABLE articles (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, "
    "note VARCHAR(60) NOT NULL DEFAULT '', stock INT NOT NULL DEFAULT 0);",
    "sqlite": "CREATE TABLE articles (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(60) NOT NULL, "
    "note VARCHAR(60) NOT NULL DEFAULT '', stock INT NOT NULL DEFAULT 0);",
}

RULES = """resource: articles
sections:
  article:
    table: articles
    groups:
      name: name
      note: note
      stock: {column: stock, merge: add}
"""


class Server(Process):
    """A MariaDB server with a binary log, so that another one can replicate it."""

    def __init__(self, folder: Path, number: int):
        self.folder = folder
        self.number = number
        self.client = ["mariadb", "--no-defaults", f"--socket={folder}/s", "-uroot"]
        self.user = run(["id", "-un"]).strip()
        (folder / "tmp").mkdir(parents=True, exist_ok=True)
        run(["mariadb-install-db", "--no-defaults", f"--user={self.user}", f"--datadir={folder}/data",
             "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=16M"])
        for attempt in range(5):
            self.port = Gateway.free_port()
            try:
                self.start()
                break
            except BenchmarkError as error:
                # Another program may use the port first.
                if attempt == 4 or "Address already in use" not in str(error):
                    raise
        # As on Debian, root needs no password, and the server ignores the text that a client sends as one.
        is_root = os.geteuid() == 0
        way = "mysql_native_password USING 'invalid' OR unix_socket" if is_root else "mysql_native_password USING PASSWORD('secret')"
        run([*self.client, "-e", f"ALTER USER root@localhost IDENTIFIED VIA {way}"])
        self.client.append("-psecret")

    def start(self) -> None:
        """Starts the server, also after it was killed."""
        folder = self.folder
        super().__init__(
            ["mariadbd", "--no-defaults", f"--user={self.user}", f"--datadir={folder}/data", f"--socket={folder}/s",
             f"--pid-file={folder}/pid", f"--tmpdir={folder}/tmp", f"--port={self.port}", "--bind-address=127.0.0.1",
             f"--server-id={self.number}", "--log-bin=bin", "--log-slave-updates", "--skip-name-resolve",
             "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=1",
             "--sync-binlog=1", "--character-set-server=utf8mb4"], folder.with_suffix(".log"))
        self.wait_until(self.answers)

    def kill(self) -> None:
        """Ends the server as a power cut would."""
        self.process.kill()
        self.process.wait()

    def answers(self) -> bool:
        ping = ["mariadb-admin", "--no-defaults", f"--socket={self.folder}/s", "-uroot", "ping"]
        return subprocess.run(ping, capture_output=True).returncode == 0

    def sql(self, text: str, database: str = "") -> str:
        return run([*self.client, "-N", "-B", database], text)


class Service:
    """The service that `systemctl` controls: one gateway, which a supervisor restarts if it was killed."""

    def __init__(self, scene: "Scene"):
        self.scene = scene
        self.process = None

    def command(self, arguments: list) -> int:
        if arguments == ["restart", "mariadb"]:
            self.scene.server.kill()
            self.scene.server.start()
            return 0
        verb = arguments[0]
        if verb in ("stop", "restart"):
            self.end(signal.SIGTERM)
        if verb in ("start", "restart"):
            if not self.is_running:
                self.start()
        elif verb == "kill":
            self.process.send_signal(getattr(signal, arguments[arguments.index("-s") + 1]))
        elif verb != "stop":
            return 1
        return 0

    def start(self) -> None:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("FIELDMERGE_")}
        environment |= {"STATE_DIRECTORY": str(self.scene.folder / "lib"),
                        "FIELDMERGE_DATABASE_PASSWORD_FILE": str(self.scene.etc / "database-password")}
        with open(self.scene.folder / "gateway.log", "ab") as log:
            self.process = subprocess.Popen(
                [str(self.scene.binary), "serve", "--config", str(self.scene.etc / "fieldmerge.yaml")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def end(self, number: int) -> None:
        if self.is_running:
            self.process.send_signal(number)
            self.process.wait(60)
        self.process = None

    def kill_and_start(self) -> None:
        """A crash, after which the supervisor starts the service again."""
        self.end(signal.SIGKILL)
        self.start()
        self.scene.wait_until("the gateway listens", lambda: self.scene.get("/healthz")[0] == 200)


class Scene:
    """Database, gateway, and the commands of the page."""

    def __init__(self, folder: Path, binary: Path, engine: str, is_small: bool = False):
        self.folder, self.binary, self.engine = folder, binary, engine
        self.is_small = is_small
        self.mounts = []
        self.servers = []
        self.kills = self.blocks = 0
        self.port = Gateway.free_port()
        self.etc = folder / "etc"
        for name in ("etc/rules", "lib", "backups", "bin", "db1", "db2"):
            (folder / name).mkdir(parents=True)
        self.database = folder / "lib" / "shop.sqlite"
        if is_small:
            self.mount(folder / ("lib" if engine == "sqlite" else "db1"), "16m" if engine == "sqlite" else "320m")
            (self.backups).mkdir()
        self.write_settings()
        self.write_programs()
        self.service = Service(self)
        self.listen()
        if engine == "mariadb":
            self.prepare_server()
        else:
            rows = ",".join(f"({n},'A{n}',100)" for n in range(1, ROWS + 1))
            run(["sqlite3", "-bail", self.database], f"{TABLE['sqlite']} INSERT INTO articles (id, name, stock) VALUES {rows};")
        self.service.start()
        self.wait_until("the gateway is ready", self.is_ready)

    @property
    def backups(self) -> Path:
        """On the small disk, so that old backups can be deleted there."""
        if not self.is_small:
            return self.folder / "backups"
        return self.folder / ("lib" if self.engine == "sqlite" else "db1") / "backups"

    def mount(self, place: Path, size: str) -> None:
        run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place])
        self.mounts.append(place)

    def write_settings(self) -> None:
        url = (f"sqlite:{self.database}" if self.engine == "sqlite"
               else f"mariadb://fieldmerge@localhost/shop?socket={self.folder}/db1/s")
        (self.etc / "rules" / "articles.yaml").write_text(RULES)
        (self.etc / "database-password").write_text("secret\n")
        lines = run([self.binary, "token", "new", "--name", "office", "--operator"]).splitlines()
        self.token = lines[1].strip()
        (self.etc / "tokens").write_text(lines[3].strip() + "\n")
        (self.etc / "fieldmerge.yaml").write_text(
            f"database: {url}\nrules: {self.etc}/rules\ntokens: {self.etc}/tokens\nlisten: 127.0.0.1:{self.port}\n"
            "schema-interval: 1\n")

    def write_programs(self) -> None:
        client = 'exec /usr/bin/{0} --no-defaults --socket="{1}/${{RECOVERY_HOST:-db1}}/s" -uroot -psecret "$@"'
        control = (
            "import socket, sys; s = socket.socket(socket.AF_UNIX); "
            f"s.connect('{self.folder}/control'); s.sendall('\\0'.join(sys.argv[1:]).encode() + b'\\n'); "
            "sys.exit(int(s.makefile().readline()))")
        programs = {
            "mariadb": client.format("mariadb", self.folder),
            "mariadb-dump": client.format("mariadb-dump", self.folder),
            "ssh": 'export RECOVERY_HOST=$1; shift; exec bash -c "$*"',
            "apt-get": "exit 0",
            "fieldmerge": f'exec {shlex.quote(str(self.binary))} "$@"',
            "systemctl": f'exec {sys.executable} -c {shlex.quote(control)} "$@"',
        }
        for name, text in programs.items():
            path = self.folder / "bin" / name
            path.write_text(f"#!/bin/bash\n{text}\n")
            path.chmod(0o755)

    def listen(self) -> None:
        service = self.service

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                arguments = self.rfile.readline().decode().rstrip("\n").split("\0")
                # The unit has one name.
                arguments = [text for text in arguments if text != "fieldmerge"]
                self.wfile.write(f"{service.command(arguments)}\n".encode())

        self.control = socketserver.ThreadingUnixStreamServer(str(self.folder / "control"), Handler)
        threading.Thread(target=self.control.serve_forever, daemon=True).start()

    # MARK: The database

    def prepare_server(self) -> None:
        server = Server(self.folder / "db1", 1)
        self.servers.append(server)
        os.environ["FIELDMERGE_DATABASE_PASSWORD"] = "secret"
        rows = ",".join(f"({n},'A{n}',100)" for n in range(1, ROWS + 1))
        server.sql("CREATE DATABASE shop CHARACTER SET utf8mb4; USE shop; " + TABLE["mariadb"]
                   + f"INSERT INTO articles (id, name, stock) VALUES {rows};"
                   "CREATE USER fieldmerge@localhost IDENTIFIED BY 'secret';"
                   "GRANT SELECT, INSERT, UPDATE, DELETE ON shop.articles TO fieldmerge@localhost;")
        server.sql(run([self.binary, "journal", "init", "--database",
                        f"mariadb://root@localhost/shop?socket={self.folder}/db1/s", "--grant-to",
                        "'fieldmerge'@'localhost'"]))

    def add_replica(self) -> None:
        """A second server that follows the first one from its first commit on."""
        primary = self.servers[0]
        replica = Server(self.folder / "db2", 2)
        self.servers.append(replica)
        primary.sql("CREATE USER replica@'127.0.0.1' IDENTIFIED BY 'r'; GRANT REPLICATION SLAVE ON *.* TO replica@'127.0.0.1';")
        dump = run(["mariadb-dump", "--no-defaults", f"--socket={primary.folder}/s", "-uroot", "-psecret", "--all-databases",
                    "--hex-blob", "--single-transaction", "--gtid", "--master-data=1"])
        replica.sql("RESET MASTER;")
        replica.sql(dump)
        replica.sql("FLUSH PRIVILEGES; CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_USER='replica', MASTER_PASSWORD='r', "
                    f"MASTER_PORT={primary.port}, MASTER_USE_GTID=slave_pos; SET GLOBAL read_only = ON; START SLAVE;")

    def caught_up(self) -> bool:
        first, second = (server.sql("SELECT @@gtid_current_pos") for server in self.servers)
        return first == second

    @property
    def server(self) -> Server:
        """The primary of now."""
        return self.servers[-1 if "db2" in (self.etc / "fieldmerge.yaml").read_text() else 0]

    def sql(self, text: str) -> str:
        if self.engine == "mariadb":
            return self.server.sql(text, "shop")
        return run(["sqlite3", "-bail", "-cmd", ".timeout 20000", "-separator", "\t", self.database], text)

    def journal_sql(self, text: str) -> str:
        if self.engine == "mariadb":
            return self.server.sql(text, "fieldmerge")
        return run(["sqlite3", "-bail", "-cmd", ".timeout 20000", "-separator", "\t", f"{self.database}.fieldmerge"], text)

    def rows(self) -> dict:
        """The articles as they are now."""
        lines = self.sql("SELECT id, name, note, stock FROM articles;").splitlines()
        cells = [line.split("\t") for line in lines]
        return {int(row[0]): (row[1], row[2], int(row[3])) for row in cells}

    # MARK: The gateway

    def request(self, method: str, path: str, body: bytes = None, timeout: float = 40) -> tuple:
        """Status and body; 0 if there was no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, {
                "Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def get(self, path: str) -> tuple:
        return self.request("GET", path)

    def is_ready(self) -> bool:
        return self.get("/readyz")[0] == 200

    def log(self) -> str:
        return (self.folder / "gateway.log").read_text(errors="replace")

    @staticmethod
    def wait_until(what: str, is_true, seconds: float = 60):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if found := is_true():
                return found
            time.sleep(0.1)
        raise BenchmarkError(f"not within {seconds:.0f} seconds: {what}")

    # MARK: The commands of the page

    def run_page(self, setup: list, blocks: list) -> str:
        """Runs blocks one after the other, and kills the gateway after each, if it runs."""
        output = ""
        for block in blocks:
            text = "set -euo pipefail\n" + "".join(setup) + block
            for place, path in {
                "/var/backups": self.backups, "/etc/fieldmerge": self.etc, "/var/lib/fieldmerge": self.folder / "lib",
                "/run/mysqld/mysqld.sock": self.folder / "db1/s", "127.0.0.1:8080": f"127.0.0.1:{self.port}",
            }.items():
                text = text.replace(place, str(path))
            environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
            done = subprocess.run(["bash"], input=text, capture_output=True, text=True, env=environment, timeout=300)
            self.blocks += 1
            output += done.stdout + done.stderr
            if done.returncode != 0:
                raise BenchmarkError(f"a command of the page ended with {done.returncode}:\n{block}\n{done.stdout}{done.stderr}")
            if self.service.is_running:
                self.service.kill_and_start()
                self.kills += 1
        return output

    def close(self) -> None:
        self.service.end(signal.SIGKILL)
        self.control.shutdown()
        for server in self.servers:
            server.kill()
        for place in self.mounts:
            run(["umount", "-l", place])
