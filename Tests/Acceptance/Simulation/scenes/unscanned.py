"""Gateways without the scan. The feed reports each change of a push: also to other resources, also of
rows that the database deletes along, also while other pushes are committed.
"""

import threading

from replica import Replica
from turns import at_once
from wire import Caller

PUSHES, CLIENTS = 12, 4
TABLES = """
CREATE TABLE {boxes} (id {key}, n BIGINT NOT NULL DEFAULT 0, label VARCHAR(60) NOT NULL DEFAULT ''){end};
CREATE TABLE {lids} (id {key}, box INT NOT NULL, label VARCHAR(60) NOT NULL DEFAULT '',
  FOREIGN KEY (box) REFERENCES {boxes} (id) ON DELETE CASCADE){end};
"""
BOX = "resource: {name}\nsections:\n  box:\n    table: {boxes}\n    groups:\n      n: {{column: n, merge: add}}\n      label: label\n"
LID = "resource: {lids}\nsections:\n  lid:\n    table: {lids}\n    groups:\n      label: label\n      box: {{column: box, references: {boxes}}}\n"


def run(stage) -> None:
    restart(stage, ["--changes", "off"])
    scene = Unscanned(stage)
    for number in range(PUSHES):
        scene.create() if number % 3 == 0 else scene.edit() if number % 3 == 1 else scene.delete()
        if stage.faults.found:
            return
    scene.at_once()
    restart(stage, [])


def restart(stage, options: list) -> None:
    for gateway in stage.place.gateways:
        gateway.stop()
    for index in range(len(stage.place.gateways)):
        stage.place.start_gateway(index, options=options)


class Unscanned:
    def __init__(self, stage):
        self.stage, self.random = stage, stage.random
        self.boxes, self.lids, self.shelf = (stage.new_name(kind) for kind in ("boxes", "lids", "shelf"))
        key = "INT AUTO_INCREMENT PRIMARY KEY" if stage.engine.name == "mariadb" else "INTEGER PRIMARY KEY AUTOINCREMENT"
        names = {"boxes": self.boxes, "lids": self.lids, "key": key, "end": stage.end}
        stage.make([self.boxes, self.lids], TABLES.format(**names), {
            self.boxes: BOX.format(name=self.boxes, **names), self.shelf: BOX.format(name=self.shelf, **names), self.lids: LID.format(**names)})
        self.replica = Replica(stage.client.caller)
        at_once(self.replica.snapshot(0))
        self.serial = 0

    def push(self, edits: list) -> dict:
        self.serial += 1
        gateway = self.random.randint(0, 1)
        status, answer = self.stage.push(gateway, edits, f"unscanned-{self.boxes}-{self.serial}")
        if status != 200:
            self.stage.add(f"{edits} was answered {status} {answer}")
        self.stage.wait(lambda: at_once(self.replica.follow(gateway)) and not self.differences(), "reporting a push", 5)
        if found := self.differences():
            self.stage.add(f"after {edits}: {found[:3]}")
        return answer

    def create(self) -> None:
        """Two boxes, and a lid for each, by their temporary ids."""
        edits = [{"resource": self.boxes, "id": f"tmp:b{i}", "changeset": {"box": {"old": None, "new": {"label": f"box{i}"}}}} for i in (1, 2)]
        edits += [{"resource": self.lids, "id": f"tmp:l{i}", "changeset": {"lid": {"old": None, "new": {"label": f"lid{i}", "box": f"tmp:b{i}"}}}}
                  for i in (1, 2)]
        results = self.push(edits).get("results") or []
        boxes, lids = self.rows()
        for box, lid in zip(results[:2], results[2:]):
            if lids.get(lid["id"], {}).get("box") != box["id"]:
                self.stage.add(f"lid {lid['id']} should belong to box {box['id']}: {lids.get(lid['id'])}")

    def edit(self) -> None:
        boxes, _ = self.rows()
        key = self.random.choice(sorted(boxes))
        self.push([{"resource": self.random.choice((self.boxes, self.shelf)), "id": key, "changeset": {"box": {
            "n": {"old": boxes[key]["n"], "new": boxes[key]["n"] + 1}, "label": {"old": boxes[key]["label"], "new": f"edited{self.serial}"}}}}])

    def delete(self) -> None:
        """The database deletes the lids of the box along."""
        boxes, _ = self.rows()
        key = self.random.choice(sorted(boxes))
        self.push([{"resource": self.random.choice((self.boxes, self.shelf)), "id": key,
                    "changeset": {"box": {"old": {"n": boxes[key]["n"]}, "new": None}}}])

    def at_once(self) -> None:
        keys = sorted(self.rows()[0])
        threads = [threading.Thread(target=self.add, args=(number, keys), daemon=True) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            at_once(self.replica.follow(self.random.randint(0, 1)))
        self.stage.wait(lambda: at_once(self.replica.follow(0)) and not self.differences(), f"reporting pushes of {CLIENTS} clients", 5)
        if found := self.differences():
            self.stage.add(f"after pushes of {CLIENTS} clients: {found[:3]}")

    def add(self, number: int, keys: list) -> None:
        caller = Caller(self.stage.place, self.stage.client.settings, self.stage.faults)
        for turn in range(3 * PUSHES):
            key = keys[(number + turn) % len(keys)]
            at_once(caller.call(number, "POST", "/v1/push", {"key": f"unscanned-{self.boxes}-{number}-{turn}", "edits": [
                {"resource": self.boxes, "id": key, "changeset": {"box": {"n": {"old": 0, "new": 1}}}}]}))

    def rows(self) -> tuple:
        found = self.stage.engine.read({
            self.boxes: {"id": True, "n": True, "label": False}, self.lids: {"id": True, "box": True, "label": False}})
        return tuple({row["id"]: row for row in found[table]} for table in (self.boxes, self.lids))

    def differences(self) -> list:
        boxes, lids = self.rows()
        wanted = {(name, id): {"id": id, "box": {"n": row["n"], "label": row["label"]}}
                  for name in (self.boxes, self.shelf) for id, row in boxes.items()}
        wanted |= {(self.lids, id): {"id": id, "lid": {"label": row["label"], "box": row["box"]}} for id, row in lids.items()}
        found = {name: record for name, record in self.replica.records.items() if name[0] in (self.boxes, self.shelf, self.lids)}
        return [f"{name}: the replica has {found.get(name)}, the database {wanted.get(name)}"
                for name in sorted(set(found) | set(wanted)) if found.get(name) != wanted.get(name)]
