"""A table of many ranges of the scan and pages of a snapshot: downloads that continue, and foreign writes at borders."""

import json

from replica import Replica
from turns import at_once

ROWS = 2_300
# The scan compares ranges of this many rows.
RANGE = 400
WAVES = 3


def run(stage) -> None:
    name = stage.open(ROWS)
    replica = Replica(stage.client.caller)
    download(stage, name, replica)
    compare(stage, name, replica)
    for wave in range(WAVES):
        border = range(RANGE, ROWS, RANGE)
        ids = sorted({id + step for id in border for step in (0, 1, 2)} | {stage.random.randint(1, ROWS) for _ in range(5)})
        stage.engine.write(f"UPDATE {name} SET label = 'wave{wave}' WHERE id IN ({', '.join(map(str, ids))})")
        rows = stage.rows(name)
        if not stage.wait(lambda: at_once(replica.follow(wave % len(stage.place.gateways))) and not differences(name, rows, replica), f"reported: {len(ids)} foreign changes"):
            return stage.add(f"wave {wave}: {differences(name, rows, replica)[:5]}")


def download(stage, name: str, replica: Replica) -> None:
    """Reads a snapshot up to a cursor, and continues from there, page by page."""
    address = f"/v1/snapshot?resources={name}"
    cursor = ""
    for _ in range(ROWS):
        status, text = at_once(stage.client.caller.call(0, "GET", address + (f"&after={cursor}" if cursor else "")))
        if status != 200:
            return stage.add(f"a download that continues was answered {status} {text[:300]}")
        cursor = ""
        for line in map(json.loads, text.splitlines()):
            if "snapshot" in line:
                replica.feed, replica.revision = line["snapshot"]["feed"], line["snapshot"]["revision"]
            if "resource" in line:
                replica.records[line["resource"], line["id"]] = line["record"]
            if "cursor" in line:
                cursor = line["cursor"]
                break
        if not cursor:
            return


def differences(name: str, rows: dict, replica: Replica) -> list:
    found = {key: record for (resource, key), record in replica.records.items() if resource == name}
    wanted = {id: {"id": id, "crate": {"n": row["n"], "label": row["label"]}} for id, row in rows.items()}
    return [f"{id}: the replica has {found.get(id)}, the database {wanted.get(id)}"
            for id in sorted(set(found) | set(wanted)) if found.get(id) != wanted.get(id)]


def compare(stage, name: str, replica: Replica) -> None:
    if found := differences(name, stage.rows(name), replica):
        stage.add(f"a download with {ROWS} records: {found[:5]}")
