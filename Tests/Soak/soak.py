"""Many clients add to the same numbers in every way that the rules open; the sums must be right."""

import argparse
import http.client
import json
import multiprocessing
import random
import sys
import tempfile
import threading
from pathlib import Path

from broken import CuttingProxy, Killer, stubborn
from processes import BenchmarkError, Gateway, MariaDB

ROWS = 24
HOMES = ROWS // 2

SQL = f"""
CREATE TABLE homes (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB;
CREATE TABLE things (id INT PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE, home INT NOT NULL, n BIGINT NOT NULL,
  gone INT NOT NULL DEFAULT 0, label VARCHAR(40) NOT NULL DEFAULT '', KEY (home)) ENGINE=InnoDB;
CREATE TABLE lamps (home INT PRIMARY KEY, n BIGINT NOT NULL) ENGINE=InnoDB;
CREATE VIEW seen AS SELECT id, n FROM things WHERE gone = 0;
INSERT INTO homes SELECT seq, 'x' FROM seq_1_to_{HOMES};
INSERT INTO things (id, code, home, n) SELECT seq, CONCAT('c', seq), (seq + 1) DIV 2, 0 FROM seq_1_to_{ROWS};
INSERT INTO lamps SELECT seq, 0 FROM seq_1_to_{HOMES};
"""

RULES = {
    "homes": """
        resource: homes
        sections:
          home: {table: homes, groups: {name: {column: name, on-conflict: reject}}}
          things: {list: true, table: things, parent: home, groups: {n: {column: n, merge: add}}}
          lamp: {table: lamps, parent: home, groups: {n: {column: n, merge: add}}}
        """,
    "things": """
        resource: things
        sections:
          thing:
            table: things
            where: gone = 0
            delete: {set: {gone: 1}}
            groups: {n: {column: n, merge: add}, label: label}
            checks: [{name: small, sql: n < 1000000000000, fields: [n]}]
        """,
    "goods": """
        resource: goods
        sections:
          good: {table: things, groups: {n: {column: n, merge: add}, code: code}}
        """,
    "lamps": """
        resource: lamps
        sections:
          lamp: {table: lamps, groups: {n: {column: n, merge: add}}}
        """,
    "seen": """
        resource: seen
        sections:
          row: {table: seen, key: id, groups: {n: {column: n, merge: add}}}
        """,
    # Another key of the same table, so that no two pushes to it can be told apart by key.
    "codes": """
        resource: codes
        sections:
          row: {table: things, key: code, groups: {n: {column: n, merge: add}}}
        """,
}


def edit(resource: str, key, section: str, change) -> dict:
    return {"resource": resource, "id": key, "changeset": {section: change}}


def ways(has_codes: bool) -> list:
    """What adds to a row, each with the counter that it changes."""

    def amount(delta: int) -> dict:
        # Nobody ever holds this base, so that every addition meets another value.
        return {"n": {"old": -1, "new": delta - 1}}

    found = [
        lambda row, delta: (("thing", row), edit("things", row, "thing", amount(delta))),
        lambda row, delta: (("thing", row), edit("goods", row, "good", amount(delta))),
        lambda row, delta: (
            ("thing", row), edit("homes", (row + 1) // 2, "things", [{"id": row, **amount(delta)}])),
        lambda row, delta: (("thing", row), edit("seen", row, "row", amount(delta))),
        lambda row, delta: (("lamp", 1 + row % HOMES), edit("homes", 1 + row % HOMES, "lamp", amount(delta))),
        lambda row, delta: (("lamp", 1 + row % HOMES), edit("lamps", 1 + row % HOMES, "lamp", amount(delta))),
    ]
    if has_codes:
        found.append(lambda row, delta: (("thing", row), edit("codes", f"c{row}", "row", amount(delta))))
    return found


class Client(threading.Thread):
    """Sends pushes over one connection, and adds up what was acknowledged."""

    def __init__(self, port: int, token: str, seed: int, pushes: int, has_codes: bool):
        super().__init__()
        self.port = port
        self.token = token
        self.random = random.Random(seed)
        self.seed = seed
        self.pushes = pushes
        self.ways = ways(has_codes)
        self.sums = {}
        self.statuses = {}
        self.fault = None

    def run(self) -> None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            for number in range(self.pushes):
                self.push(connection, number)
            connection.close()
        except Exception as error:  # told by the main thread
            self.fault = f"{type(error).__name__}: {error}"

    def push(self, connection, number: int) -> None:
        kind = self.random.random()
        count = 1 if kind < 0.7 else self.random.randint(2, 4)
        body = {"key": f"{self.seed}-{number}"}
        if self.random.random() < 0.2:
            body["atomic"] = "edit"
        counters, edits = [], []
        for _ in range(count):
            delta = self.random.choice([1, 2, 3, 5, 7]) * 10 ** self.random.randint(0, 3)
            counter, sent = self.random.choice(self.ways)(self.random.randint(1, ROWS), delta)
            counters.append((counter, delta))
            edits.append(sent)
        if kind > 0.9:
            # One that a check refuses, a policy rejects, or a unique index does.
            place = self.random.randint(0, len(edits))
            row = self.random.randint(1, ROWS)
            refused = self.random.choice([
                edit("things", row, "thing", {"n": {"old": 0, "new": 10 ** 15}}),
                edit("homes", 1 + row % HOMES, "home", {"name": {"old": "nobody", "new": "mine"}}),
                edit("goods", row, "good", {"n": {"old": 0, "new": 5}, "code": {"old": f"c{row}", "new": f"c{1 + row % ROWS}"}}),
            ])
            edits.insert(place, refused)
            counters.insert(place, None)
        body["edits"] = edits
        answer, status = self.send(connection, body)
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status in (503, 504):
            return self.push_again(connection, body, counters)
        self.count(answer, status, counters, body)
        if self.random.random() < 0.02:
            # The same push once more counts nothing.
            again, _ = self.send(connection, body)
            if again != answer:
                raise BenchmarkError(f"a key has two answers: {answer} {again}")

    def push_again(self, connection, body, counters) -> None:
        for _ in range(50):
            answer, status = self.send(connection, body)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status not in (503, 504):
                return self.count(answer, status, counters, body)
        raise BenchmarkError("a push was never answered")

    def send(self, connection, body) -> tuple:
        connection.request("POST", "/v1/push", json.dumps(body), {
            "Content-Type": "application/json", "Authorization": "Bearer " + self.token})
        reply = connection.getresponse()
        return json.loads(reply.read()), reply.status

    def count(self, answer, status, counters, body) -> None:
        if status not in (200, 207, 409, 422):
            raise BenchmarkError(f"{status} {answer} to {body}")
        for counter, result in zip(counters, answer["results"]):
            if result["status"] != "merged":
                continue
            if counter is None:
                raise BenchmarkError(f"what had to be refused was merged: {answer}")
            (name, delta) = counter
            self.sums[name] = self.sums.get(name, 0) + delta


def work(ports: list, tokens: list, seed: int, threads: int, pushes: int, has_codes: bool, out, seconds: int = 0) -> None:
    kind = stubborn(Client) if seconds else Client
    kind.seconds = seconds
    clients = [
        kind(ports[index % len(ports)], tokens[index % len(ports)], seed * 1000 + index, pushes, has_codes)
        for index in range(threads)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    out.put([(list(client.sums.items()), client.statuses, client.fault) for client in clients])


def soak(name: str, server: MariaDB, binary: Path, folder: Path, options: list, gateways: int, pushes: int,
         has_codes: bool, seed: int, seconds: int = 0, journal: str = "same-server:soak_journal") -> bool:
    server.sql("DROP DATABASE bench; CREATE DATABASE bench CHARACTER SET utf8mb4; DROP DATABASE IF EXISTS soak_journal;", "")
    server.sql(SQL)
    for table in ("homes", "things", "lamps", "seen"):
        server.grant("bench." + table)
    server.make_journal(binary, "soak_journal")
    rules = folder / f"rules-{name.replace(' ', '-')}"
    rules.mkdir()
    for resource, text in RULES.items():
        if has_codes or resource != "codes":
            lines = [line[8:] for line in text.strip("\n").splitlines()]
            (rules / f"{resource}.yaml").write_text("\n".join(lines) + "\n")
    running, url, proxy, killer = [], server.url(MariaDB.USER), None, None
    if seconds:
        proxy = CuttingProxy(server.socket, folder / f"p{seed}", 0.1, seed)
        proxy.start()
        url = f"mariadb://{MariaDB.USER}@localhost/bench?socket={proxy.path}"
    try:
        for number in range(gateways):
            own = folder / f"{name.replace(' ', '-')}-{number}"
            own.mkdir()
            running.append(Gateway(binary, own, "gateway", url, rules,
                                   ["--journal", journal, "--log-level", "critical" if seconds else "warning"] + options))
        if seconds:
            killer = Killer(server.sql, MariaDB.ACCOUNT, 1, seed)
            killer.start()
        out = multiprocessing.Queue()
        processes, threads = 3, 16
        each = -(-pushes // (processes * threads))
        workers = [
            multiprocessing.Process(
                target=work,
                args=([g.port for g in running], [g.token for g in running], seed + number, threads, each, has_codes, out, seconds))
            for number in range(processes)]
        for worker in workers:
            worker.start()
        results = [result for _ in workers for result in out.get()]
        for worker in workers:
            worker.join()
    finally:
        if killer:
            killer.over.set()
        for gateway in running:
            gateway.stop()
    if seconds:
        print(f"{name}: {proxy.cuts['before']} COMMITs cut before the server, {proxy.cuts['after']} after, "
              f"{killer.kills} times all connections killed", flush=True)
    sums, statuses = {}, {}
    for own, seen, fault in results:
        if fault:
            print(f"{name}: {fault}", file=sys.stderr)
            return False
        for counter, delta in own:
            sums[counter] = sums.get(counter, 0) + delta
        for status, count in seen.items():
            statuses[status] = statuses.get(status, 0) + count
    stored = {}
    for table, label, key in (("things", "thing", "id"), ("lamps", "lamp", "home")):
        for line in server.sql(f"SELECT {key}, n FROM {table}").splitlines():
            number, n = line.split("\t")
            stored[(label, int(number))] = int(n)
    wrong = {c: (stored[c], sums.get(c, 0)) for c in stored if stored[c] != sums.get(c, 0)}
    told = ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))
    print(f"{name}: {sum(statuses.values()):,} pushes ({told}); {len(wrong)} of {len(stored)} counters wrong", flush=True)
    for counter, (held, wanted) in wrong.items():
        print(f"  {counter}: stored {held}, acknowledged {wanted}")
    return not wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True, help="the program, such as .build/release/fieldmerge")
    parser.add_argument("--pushes", type=int, default=300_000, help="in all (default: 300000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--broken-commits", type=int, metavar="SECONDS",
                        help="breaks connections around COMMIT instead, for so long with each place of the journal")
    options = parser.parse_args()
    setups = [
        ("one gateway", [], 1, False), ("two gateways", [], 2, False),
        ("two gateways, each push alone", ["--coalesce", "1"], 2, False), ("two gateways, two keys", [], 2, True),
    ]
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        server = MariaDB(folder)
        try:
            if options.broken_commits:
                places = [("journal in a file", f"sqlite:{folder}/journal.sqlite"),
                          ("journal on the server", "same-server:soak_journal")]
                sound = [
                    soak(name, server, options.binary.resolve(), folder, [], 1, 0, False, options.seed + 100 * number,
                         options.broken_commits, place)
                    for number, (name, place) in enumerate(places)]
                sys.exit(0 if all(sound) else 1)
            sound = [
                soak(name, server, options.binary.resolve(), folder, arguments, gateways,
                     options.pushes // len(setups), has_codes, options.seed + 100 * number)
                for number, (name, arguments, gateways, has_codes) in enumerate(setups)]
        finally:
            server.stop()
    sys.exit(0 if all(sound) else 1)


if __name__ == "__main__":
    main()
