"""What happens around the clients: foreign writes, reloads, schema changes and kills."""

import threading
import time
import traceback

from world import GOODS

INJECTING = ("reload", "alter", "kill")


class Chaos:
    def __init__(self, place, ledger, faults):
        self.place, self.ledger, self.faults = place, ledger, faults
        self.counts = {}

    def start(self, events: list) -> threading.Thread:
        self.faults.is_injected = any(event["do"] in INJECTING for event in events)
        thread = threading.Thread(target=self.run, args=(events,), daemon=True)
        thread.start()
        return thread

    def run(self, events: list) -> None:
        for event in events:
            time.sleep(event["after"])
            name = event.get("kind", event["do"])
            self.counts[name] = self.counts.get(name, 0) + 1
            try:
                getattr(self, event["do"])(event)
            except Exception:  # reported as a fault of the history
                self.faults.add("crash", f"{event}: {traceback.format_exc()[-1500:]}")

    # MARK: Gateways

    def reload(self, event: dict) -> None:
        if event["changed"]:
            self.place.variant += 1
            self.place.write_rules()
        self.place.reload()

    def alter(self, event: dict) -> None:
        place = self.place
        if event["kind"] == "rename" or place.engine.name == "sqlite":
            there, back = "ALTER TABLE goods RENAME COLUMN extra TO other", "ALTER TABLE goods RENAME COLUMN other TO extra"
        else:
            there, back = (f"ALTER TABLE goods MODIFY extra VARCHAR({n}) NOT NULL DEFAULT ''" for n in (90, 120))
        place.engine.script(there)
        place.reload()
        time.sleep(event["pause"])
        place.engine.script(back)
        place.reload()

    def kill(self, event: dict) -> None:
        index = event["gateway"] % len(self.place.gateways)
        self.place.gateways[index].kill()
        time.sleep(event["pause"])
        self.place.start_gateway(index)

    # MARK: Foreign writes

    def sql(self, event: dict) -> None:
        key = 1 + int(event["pick"] * GOODS)
        getattr(self, "sql_" + event["kind"].replace("-", "_"))(key, "f" + event["token"])

    def sql_add(self, key: int, token: str) -> None:
        if self.place.engine.write(f"UPDATE goods SET n = n + 1000 WHERE id = {key}")[0]:
            self.ledger.add("goods", key, 1000)
        if self.place.engine.write(f"UPDATE parts SET n = n + 1000 WHERE id = {key}")[0]:
            self.ledger.add("parts", key, 1000)

    def sql_label(self, key: int, token: str) -> None:
        self.write_column(key, "label", token)

    def sql_note(self, key: int, token: str) -> None:
        self.write_column(key, "note", token)

    def write_column(self, key: int, column: str, token: str) -> None:
        start = time.monotonic()
        if self.place.engine.write(f"UPDATE goods SET {column} = '{token}' WHERE id = {key}")[0]:
            self.ledger.write("goods", key, column, token, start, time.monotonic())

    def sql_bulk(self, key: int, token: str) -> None:
        self.place.engine.write(f"UPDATE goods SET n = n + 10000 WHERE id <= {GOODS}")
        for each in range(1, GOODS + 1):
            self.ledger.add("goods", each, 10000)

    def sql_delete_part(self, key: int, token: str) -> None:
        start, part = time.monotonic(), 2 * key
        if self.place.engine.write(f"DELETE FROM parts WHERE id = {part}")[0]:
            self.ledger.delete("parts", part, start, time.monotonic())

    def sql_delete_good(self, key: int, token: str) -> None:
        start, good = time.monotonic(), key + key % 2
        self.place.engine.script(f"BEGIN; DELETE FROM parts WHERE good = {good}; DELETE FROM goods WHERE id = {good}; COMMIT;")
        self.ledger.lost_goods[good] = (start, time.monotonic())
        self.ledger.delete("goods", good, start, time.monotonic())

    def sql_insert(self, key: int, token: str) -> None:
        start = time.monotonic()
        _, found = self.place.engine.write(
            f"INSERT INTO goods (label, area, mark, secret) VALUES ('{token}', 2, 'AREA2-{token}', 'SECRET-{token}')")
        self.ledger.begin("goods", found, {"n": 0, "label": token, "note": ""}, start, time.monotonic())

    def sql_area(self, key: int, token: str) -> None:
        area = 1 + int(token[2:]) % 3
        self.place.engine.write(f"UPDATE goods SET area = {area}, mark = 'AREA{area}-{token}' WHERE id = {key}")

    def sql_secret(self, key: int, token: str) -> None:
        self.place.engine.write(f"UPDATE goods SET secret = 'SECRET-{token}', pin = 'PIN-{token}' WHERE id = {key}")

    def sql_lock(self, key: int, token: str) -> None:
        if self.place.engine.write(f"UPDATE goods SET locked = 1 WHERE id = {key}")[0]:
            self.ledger.frozen.setdefault(key, time.monotonic())
