"""The database as a client may read it, computed from the rows by the rules of the world."""

from contract.answer import record
from contract.values import wired
from replica import key_of

GOOD_FIELDS = ("n", "label", "note", "high", "tags", "status", "place", "secret", "pin", "code", "extra")
CLERK_FIELDS = ("n", "label", "note", "high", "tags", "status", "place")


def good_fields(row: dict, names) -> dict:
    found = {}
    for name in names:
        if name == "place":
            found["area"], found["mark"] = row["area"], row["mark"]
        elif name == "tags":
            found["tags"] = [tag for tag in row["tags"].split(",") if tag]
        else:
            found[name] = wired(row[name])
    return found


def expected_replica(place, name: str, rows: dict) -> dict:
    """All records by resource and id."""
    world, client = place.world, place.tokens.settings[name]
    is_clerk = place.tokens.is_clerk(name)
    found = {}
    for id, row in rows["goods"].items():
        if is_clerk and row["area"] not in client["areas"]:
            continue
        found["stock", id] = {"id": id, "item": {"n": wired(row["n"]), "label": row["label"]}}
        if not is_clerk:
            found["codes", row["code"]] = {"id": row["code"], "row": {"n": wired(row["n"])}}
        if not is_clerk and not row["gone"] and place.name == "mariadb":
            found["seen", id] = {"id": id, "view": {"n": wired(row["n"])}}
        if world["soft"] and row["gone"]:
            continue
        parts = [{"id": key, "n": part["n"], "name": part["name"], "copy": part["copy"]}
                 for key, part in sorted(rows["parts"].items()) if part["good"] == id]
        found["goods", id] = {"id": id, "good": good_fields(row, CLERK_FIELDS if is_clerk else GOOD_FIELDS), "parts": parts}
    for key, part in rows["parts"].items():
        if is_clerk and world["referred"] and rows["goods"][part["good"]]["area"] not in client["areas"]:
            continue
        found["parts", key] = {"id": key, "part": {"n": part["n"], "name": part["name"], "good": part["good"], "copy": part["copy"]}}
    return found


def contract_records(place) -> dict:
    """All records of the resources in the model of the contract. Each client may read them."""
    rows = place.contract_rows()
    database = place.contract_database(rows)
    found = {}
    for resource in place.resources.values():
        for key in rows[resource.root.table.name]:
            if (shown := wired(record(database, resource, key))) is not None:
                found[resource.name, key_of(shown["id"])] = shown
    return found
