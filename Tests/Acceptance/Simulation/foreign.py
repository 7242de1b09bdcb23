"""Writes of programs that bypass the gateway."""

import time

from world import GOODS

FAR = 2 ** 60
# The forms of rows in MariaDB's binary log; one transaction in eight is logged as statements.
FORMS = ("",) * 4 + ("SET SESSION binlog_row_image = 'MINIMAL';",) * 2 + (
    "SET SESSION binlog_row_image = 'NOBLOB';", "SET SESSION binlog_format = 'MIXED';")


class Foreign:
    """Each event is a generator (turns.py)."""

    def __init__(self, place, ledger):
        self.place, self.ledger = place, ledger

    def sql(self, event: dict):
        yield from self.place.without_occupation()
        key = 1 + int(event["pick"] * GOODS)
        self.place.engine.form = FORMS[int(event["pick"] * 1000) % len(FORMS)]
        try:
            getattr(self, event["kind"].replace("-", "_"))(key, "f" + event["token"])
        finally:
            self.place.engine.form = ""

    def held(self, event: dict):
        """A transaction that keeps a row, or in SQLite the file, until it ends."""
        yield from self.place.without_occupation()
        key = 1 + int(event["pick"] * GOODS)
        with self.place.occupied():
            transaction = self.place.engine.begin(f"UPDATE goods SET n = n + 500 WHERE id = {key}")
            yield None
            if transaction.end(event["commits"]):
                self.ledger.add("goods", key, 500)

    def prepared(self, event: dict):
        """A distributed transaction, whose rows are in the binary log before its end."""
        yield from self.place.without_occupation()
        key = 1 + int(event["pick"] * GOODS)
        with self.place.occupied():
            transaction = self.place.engine.prepare(f"UPDATE goods SET n = n + 700 WHERE id = {key}", "x" + event["token"])
            yield None
            if transaction.end(event["commits"]):
                self.ledger.add("goods", key, 700)

    # MARK: Statements

    def write(self, statement: str) -> int:
        return self.place.engine.write(statement)[0]

    def add(self, key: int, token: str) -> None:
        # The event `unkeyed` checks that its strange rows are not written.
        for table, column in (("goods", "label"), ("parts", "name")):
            if self.write(f"UPDATE {table} SET n = n + 1000 WHERE id = {key} AND {column} <> 'strange'"):
                self.ledger.add(table, key, 1000)

    def label(self, key: int, token: str) -> None:
        self.write_column(key, "label", token)

    def note(self, key: int, token: str) -> None:
        self.write_column(key, "note", token)

    def write_column(self, key: int, column: str, token: str) -> None:
        start = time.monotonic()
        if self.write(f"UPDATE goods SET {column} = '{token}' WHERE id = {key}"):
            self.ledger.write("goods", key, column, token, start, time.monotonic())

    def bulk(self, key: int, token: str) -> None:
        self.write(f"UPDATE goods SET n = n + 10000 WHERE id <= {GOODS}")
        for each in range(1, GOODS + 1):
            self.ledger.add("goods", each, 10000)

    def far(self, key: int, token: str) -> None:
        """The counter leaves the integers that a double contains. A world with a check has a bound for it."""
        if not self.place.world["check"] and self.write(f"UPDATE goods SET n = n + {FAR} WHERE id = {key} AND n < {FAR}"):
            self.ledger.add("goods", key, FAR)

    def delete_part(self, key: int, token: str) -> None:
        start, part = time.monotonic(), 2 * key
        if self.write(f"DELETE FROM parts WHERE id = {part}"):
            self.ledger.delete("parts", part, start, time.monotonic())

    def delete_good(self, key: int, token: str) -> None:
        start, good = time.monotonic(), key + key % 2
        self.place.engine.transaction(f"DELETE FROM parts WHERE good = {good}; DELETE FROM goods WHERE id = {good};")
        self.ledger.lost_goods[good] = (start, time.monotonic())
        self.ledger.delete("goods", good, start, time.monotonic())

    def insert(self, key: int, token: str) -> None:
        start = time.monotonic()
        _, found = self.place.engine.write(
            f"INSERT INTO goods (label, area, mark, secret) VALUES ('{token}', 2, 'AREA2-{token}', 'SECRET-{token}')")
        self.ledger.begin("goods", found, {"n": 0, "label": token, "note": ""}, start, time.monotonic())

    def move(self, key: int, token: str) -> None:
        """A part goes to another good, if that exists."""
        part, good = 2 * key - 1, 1 + key % GOODS
        if self.write(f"UPDATE parts SET good = {good} WHERE id = {part} AND EXISTS (SELECT * FROM goods WHERE id = {good})"):
            self.ledger.move(part, good)

    def area(self, key: int, token: str) -> None:
        area = 1 + int(token[2:]) % 3
        self.write(f"UPDATE goods SET area = {area}, mark = 'AREA{area}-{token}' WHERE id = {key}")

    def secret(self, key: int, token: str) -> None:
        self.write(f"UPDATE goods SET secret = 'SECRET-{token}', pin = 'PIN-{token}' WHERE id = {key}")

    def lock(self, key: int, token: str) -> None:
        if self.write(f"UPDATE goods SET locked = 1 WHERE id = {key}"):
            self.ledger.frozen.setdefault(key, time.monotonic())
