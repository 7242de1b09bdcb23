"""The gateway with the console on a new database: SQLite, or a private MariaDB server on a socket."""

import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FIELDMERGE_PROGRAM", str(ROOT / ".build/debug/fieldmerge"))
PEOPLE = {"ops": ["--operator"], "ann": [], "ben": [], "carla": []}
DEVICES = {"ann": "tablet-7", "ben": "phone-2", "carla": "office", "ops": None}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**more):
    """Variables of the tests are no settings of a gateway."""
    return {name: value for name, value in os.environ.items() if not name.startswith("FIELDMERGE_")} | more


def run(command, text=None):
    done = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True, env=environment())
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def wait_until(body, seconds=60):
    for _ in range(10 * seconds):
        if body():
            return
        time.sleep(0.1)
    raise AssertionError("the time is over")


class MariaDB:
    """A server in a folder, on a socket only."""

    def __init__(self, folder):
        self.folder, self.socket = folder, folder / "s"
        self.user = run(["id", "-un"]).strip()
        run(["mariadb-install-db", "--no-defaults", f"--user={self.user}", f"--datadir={folder}/data",
             "--auth-root-authentication-method=normal", "--skip-test-db"])
        self.start()
        try:
            self.fill()
        except BaseException:
            self.stop()
            raise

    def fill(self):
        self.sql("CREATE DATABASE shop CHARACTER SET utf8mb4; CREATE USER 'gateway'@'localhost'")
        self.sql((ROOT / "Samples/shop/mariadb.sql").read_text(), "shop")
        self.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO 'gateway'@'localhost';"
                 "GRANT REPLICATION SLAVE ON *.* TO 'gateway'@'localhost'")
        self.sql(run([PROGRAM, "journal", "init", "--database", self.url("root"), "--grant-to", "'gateway'@'localhost'"]))

    def url(self, user="gateway"):
        return f"mariadb://{user}@localhost/shop?socket={self.socket}"

    def start(self):
        with open(self.folder / "mariadb.log", "ab") as log:
            self.process = subprocess.Popen(
                ["mariadbd", "--no-defaults", f"--user={self.user}", f"--datadir={self.folder}/data", f"--socket={self.socket}",
                 f"--tmpdir={self.folder}", "--skip-networking", "--skip-name-resolve",
                 "--log-bin=log", "--binlog-format=ROW", "--server-id=7",
                 "--character-set-server=utf8mb4"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        ping = ["mariadb-admin", "--no-defaults", f"--socket={self.socket}", "-uroot", "ping"]
        wait_until(lambda: subprocess.run(ping, capture_output=True).returncode == 0)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def sql(self, text, database="mysql"):
        return run(["mariadb", "--no-defaults", f"--socket={self.socket}", "-uroot", "-N", "-B", database], text)


class Gateway:
    """The tested program, with tokens for an operator and three clients."""

    def __init__(self, folder, engine, mode="full"):
        self.folder, self.engine, self.port = pathlib.Path(folder), engine, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = MariaDB(self.folder) if engine == "mariadb" else None
        if engine == "sqlite":
            self.file = self.folder / "shop.sqlite"
            with sqlite3.connect(self.file) as database:
                database.executescript((ROOT / "Samples/shop/sqlite.sql").read_text())
        self.tokens = {}
        lines = []
        for name, options in PEOPLE.items():
            printed = run([PROGRAM, "token", "new", "--name", name, *options]).splitlines()
            self.tokens[name] = printed[1].strip()
            lines.append(printed[3].strip())
        (self.folder / "tokens").write_text("\n".join(lines) + "\n")
        self.start(mode)

    def start(self, mode="full"):
        database = self.server.url() if self.server else f"sqlite:{self.file}"
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--database", database, "--rules", str(ROOT / "MergeRules"), "--listen", f"127.0.0.1:{self.port}",
             "--tokens", str(self.folder / "tokens"), "--console", mode, *(["--keep-foreign"] if self.server else [])], stdout=self.log, stderr=self.log,
            env=environment(XDG_STATE_HOME=str(self.folder / "state")))
        wait_until(self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text()[-3000:])
        try:
            return urllib.request.urlopen(self.url + "/readyz", timeout=2).status == 200
        except OSError:
            return False

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def close(self):
        self.stop()
        if self.server:
            self.server.stop()

    def call(self, method, path, body=None, who="ops", headers=None):
        """Returns the status and the JSON of an answer."""
        head = {"Authorization": f"Bearer {self.tokens[who]}", "Content-Type": "application/json", "X-Client": "shop/2.1", **(headers or {})}
        if DEVICES[who]:
            head["X-Device-ID"] = DEVICES[who]
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(), head, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def get(self, path):
        status, answer = self.call("GET", path)
        assert status == 200, (path, status, answer)
        return answer

    def merge(self, who, resource, identity, changeset):
        return self.call("POST", f"/v1/merge/{resource}", {"id": identity, "changeset": changeset}, who)[1]

    def sql(self, text):
        """Changes the data without the gateway."""
        if self.server:
            return self.server.sql(text, "shop")
        with sqlite3.connect(self.file) as database:
            return database.executescript(text)

    def multiply_journal(self, number):
        """Copies the entries of the journal until it has at least a number of them."""
        columns = "at, who, device, code, address, body, reason, resource, record, status, outcomes, rules, entry"
        copy = f"INSERT INTO entries ({columns}) SELECT {columns} FROM entries"
        if self.server:
            rows = lambda: int(self.server.sql("SELECT COUNT(*) FROM entries", "fieldmerge"))
            execute = lambda sql: self.server.sql(sql, "fieldmerge")
        else:
            journal = sqlite3.connect(f"{self.file}.fieldmerge", isolation_level=None, timeout=30)
            rows = lambda: journal.execute("SELECT COUNT(*) FROM entries").fetchone()[0]
            execute = journal.execute
        while (found := rows()) < number:
            execute(f"{copy} ORDER BY n LIMIT {min(found, number - found)}")
        return rows()

    def server_times(self):
        """The slowest request of each route since the last call, in milliseconds."""
        text = (self.folder / "log").read_text()
        lines = text[getattr(self, "read", 0):].splitlines()
        self.read = len(text)
        times = {}
        for line in lines:
            if " ms=" in line and " path=" in line:
                path = line.split(' path="')[1].split('"')[0]
                times[path] = max(times.get(path, 0), float(line.split(" ms=")[1].split()[0]))
        return times


def fill(gateway):
    """Pushes that meet: the data of the tests and of the pictures."""
    address = {"street": "1 High St", "county": "Kent", "postCode": "CT1 1AA"}
    notes = "Ring twice.\nThe bell is weak."
    settings = {"delivery": {"door": "front", "call": True}, "substitutes": ["Beans", "Tea"]}
    gateway.merge("ann", "shoppers", 123, {"customer": {
        "address": {"old": address, "new": {"street": "7 Mill Lane", "county": "Kent", "postCode": "CT2 8QP"}},
        "notes": {"old": notes, "new": "Ring twice, then wait.\nThe bell is weak.\nLeave parcels with the neighbour."}}})
    gateway.merge("ben", "shoppers", 123, {"customer": {
        "address": {"old": address, "new": {"street": "12 Station Road", "county": "Kent", "postCode": "CT1 4ZZ"}},
        "notes": {"old": notes, "new": "Knock.\nThe bell is weak and the light is broken."},
        "settings": {"old": settings, "new": {"delivery": {"door": "back", "call": True}, "substitutes": ["Tea", "Coffee"], "slot": "evening"}}}})
    gateway.merge("carla", "shoppers", 123, {"customer": {
        "creditLimit": {"old": "50.00", "new": "80.00"}, "balance": {"old": "-12.50", "new": "-20.00"},
        "settings": {"old": settings, "new": {"delivery": {"door": "side", "call": False}, "substitutes": ["Beans", "Tea"]}}}})
    gateway.merge("ann", "shoppers", 123, {"customer": {
        "creditLimit": {"old": "50.00", "new": "65.00"}, "balance": {"old": "-12.50", "new": "-2.50"}}})
    gateway.merge("ann", "articles", 1, {"article": {"stock": {"old": 48, "new": 45}}})
    for who, name in (("ann", "Seeds"), ("carla", "Bulbs")):
        gateway.merge(who, "shoppers", 124, {"groceries": [{"id": "tmp:new", "old": None, "new": {"name": name, "quantity": "1 bag", "aisle": 99}}]})
    gateway.merge("ben", "shoppers", 125, {"customer": {"email": {"old": "x@example.com", "new": "joe.shaw@example.com"}}})
    gateway.merge("carla", "orders", "A-1001", {"delivery": {"old": None, "new": {
        "from": "2026-11-30T10:00:00", "until": "2026-11-30T08:00:00", "place": "Garage <b>left</b>"}}})
    gateway.merge("ben", "orders", "A-1001", {"order": {"colour": {"old": "red", "new": "blue"}}})
    for number in range(126, 146):
        who = ("ann", "ben", "carla")[number % 3]
        gateway.merge(who, "shoppers", number, {"customer": {"firstName": {"old": "Alex", "new": ("Ada", "Bea", "Cleo")[number % 3]}}})
    for who in ("ann", "ben"):
        feed = gateway.call("GET", "/v1/changes", who=who)[1]
        gateway.call("GET", f"/v1/changes?since={feed['revision']}&feed={feed['feed']}", who=who)
