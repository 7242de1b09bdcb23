"""The place after the last round, with a table and a resource for a scene."""

import json
import random
import time

from turns import at_once

SECONDS = 20

TABLE = "CREATE TABLE {name} (id INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL DEFAULT 0, label VARCHAR(60) NOT NULL DEFAULT ''){end};\n"
RULES = """resource: {name}
sections:
  crate:
    table: {name}
    groups:
      n: {{column: n, merge: add}}
      label: label
"""


class Stage:
    def __init__(self, place, client, faults):
        self.place, self.client, self.faults = place, client, faults
        self.engine = place.engine
        self.serial = 0

    def begin(self, event: dict) -> None:
        self.name, self.random = event["do"], random.Random(event["seed"])

    def add(self, text: str) -> None:
        self.faults.add(self.name, text)

    def wait(self, is_so, event: str, seconds: float = SECONDS) -> bool:
        """False, and a fault, if something does not become true in time."""
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                self.add(f"within {seconds} s: not {event}")
                return False
            time.sleep(0.05)
        return True

    # MARK: Tables and rules

    def open(self, rows: int, kind: str = "crates", n: int = 0) -> str:
        """Makes a table with rows and a resource over it, and returns its name when all gateways serve it."""
        name = self.new_name(kind)
        values = ", ".join(f"({id}, {n}, 'first')" for id in range(1, rows + 1))
        self.make([name], TABLE.format(name=name, end=self.end) + f"INSERT INTO {name} (id, n, label) VALUES {values};",
                  {name: RULES.format(name=name)})
        return name

    def new_name(self, kind: str) -> str:
        self.serial += 1
        return f"{kind}{self.serial}"

    @property
    def end(self) -> str:
        """The end of the definition of a table."""
        return " ENGINE=InnoDB" if self.engine.name == "mariadb" else ""

    def make(self, tables: list, text: str, rules: dict) -> None:
        """Makes tables and resources, and returns when all gateways serve them."""
        self.engine.script(text)
        self.engine.grant(tables)
        for name, lines in rules.items():
            self.rule_file(name).write_text(lines)
        self.place.reload()
        self.wait(lambda: all(self.is_served(name) for name in rules), f"serving {', '.join(rules)}")

    def rule_file(self, name: str):
        return self.place.rules / f"{name}.yaml"

    def is_served(self, name: str) -> bool:
        """True if every gateway serves the resource."""
        return all(self.serves(index, name) for index in range(len(self.place.gateways)))

    def serves(self, index: int, name: str) -> bool:
        status, text = at_once(self.client.caller.call(index, "GET", "/v1/rules"))
        return status == 200 and any(resource["resource"] == name for resource in json.loads(text)["resources"])

    def rows(self, name: str) -> dict:
        found = self.engine.read({name: {"id": True, "n": True, "label": False}})[name]
        return {row["id"]: row for row in found}

    # MARK: Pushes

    def addition(self, name: str, id: int, delta: int = 1, base: int = 0) -> dict:
        return {"resource": name, "id": id, "changeset": {"crate": {"n": {"old": base, "new": base + delta}}}}

    def push(self, gateway: int, edits: list, key: str = "") -> tuple:
        status, text = at_once(self.client.caller.call(gateway, "POST", "/v1/push", {"edits": edits} | ({"key": key} if key else {})))
        return status, json.loads(text) if status else {}

    def push_to_end(self, gateway: int, edits: list, key: str) -> tuple:
        """Sends a push again until it has an answer that a client need not repeat."""
        answers = []

        def is_final() -> bool:
            status, answer = self.push(gateway, edits, key)
            answers.append((status, answer))
            return 0 < status < 500 and answer.get("code") != "in-progress"

        self.wait(is_final, f"answering {key}")
        return answers[-1]
