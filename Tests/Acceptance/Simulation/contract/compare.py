"""Finds the differences of two answers."""

import json
from collections import Counter

# Codes that the protocol names. The gateway may choose the others.
NAMED = ("generated-key", "unknown-temporary")


def described(outcome: dict) -> str:
    """The members of an outcome that the contract fixes, as text that can be sorted."""
    kept = {k: v for k, v in outcome.items() if k in ("section", "group", "id", "outcome", "conflict")}
    if outcome.get("conflict"):
        kept.update((k, outcome.get(k)) for k in ("old", "current", "new", "written"))
    elif outcome["outcome"] == "deleted" and "current" in outcome:  # of a record and its rows
        kept["current"] = outcome["current"]
    return json.dumps(kept, sort_keys=True)


def creates(sent: dict, index: int) -> bool:
    """The edit creates its record, or names one by a temporary id."""
    edit = sent["edits"][index]
    if isinstance(edit.get("id"), int) and edit["id"] < 0:
        return True
    return any(isinstance(part, dict) and part.get("old", 0) is None for part in edit["changeset"].values())


def differences(sent: dict, model: tuple, gateway: tuple, loose: set, torn: bool) -> list:
    """Every difference of two (status, body), as a line.

    - loose: the refused edits, which may have more or fewer outcomes.
    - torn: an edit has two faults, and either may be named.
    """
    found = []

    def compare(name, mine, theirs):
        if mine != theirs:
            found.append(f"{name}: model {json.dumps(mine)}, gateway {json.dumps(theirs)}")

    if not (torn and {model[0], gateway[0]} <= {409, 422}):
        compare("status", model[0], gateway[0])
        if model[0] == 400 and model[1]["code"] in NAMED:
            compare("code", model[1]["code"], gateway[1].get("code"))
        if found or model[0] == 400:
            return found
        compare("push status", model[1]["status"], gateway[1].get("status"))
    for index, (mine, theirs) in enumerate(zip(model[1]["results"], gateway[1]["results"])):
        for name in ("status", "id", "ids", "record"):
            # Of a row that was to be created, and was not, either is allowed.
            if name == "id" and None in (theirs["id"], mine["id"]):
                continue
            if name == "record" and mine["status"] != "merged" and theirs["record"] is None and creates(sent, index):
                continue
            if name == "status" and torn and theirs["status"] != "merged":
                continue
            compare(f"[{index}].{name}", mine.get(name), theirs.get(name))
        # In a refused push the checks may or may not have run.
        place = lambda o: (o["section"], o.get("group"), str(o.get("id")))
        free = {place(o) for o in mine["outcomes"] if "taken-back" in o and mine["status"] != "merged"}
        mine["outcomes"] = [o for o in mine["outcomes"] if place(o) not in free]
        theirs["outcomes"] = [o for o in theirs["outcomes"] if place(o) not in free]
        ours = sorted(described(o) for o in mine["outcomes"])
        others = sorted(described(o) for o in theirs["outcomes"])
        if index in loose:
            # After a refusal, groups are decided but not written. So two changes of one row need not conflict.
            counts = [Counter(map(place, outcomes)) for outcomes in (mine["outcomes"], theirs["outcomes"])]
            both = {p for p in counts[0] if counts[0][p] == counts[1][p]}
            ours = sorted(described(o) for o in mine["outcomes"] if place(o) in both)
            others = sorted(described(o) for o in theirs["outcomes"] if place(o) in both)
        # No answer contains MariaDB's number of a row that was rolled back.
        if any('": 10000' in line for line in ours):
            continue
        for line in ours:
            if line not in others:
                found.append(f"[{index}] only the model: {line}")
        for line in others:
            if line not in ours:
                found.append(f"[{index}] only the gateway: {line}")
    return found


def row_differences(model: dict, held: dict) -> list:
    found = []
    for table, rows in model.items():
        for key in rows.keys() | held[table].keys():
            mine, theirs = rows.get(key), held[table].get(key)
            if mine != theirs:
                found.append(f"row {table} {key}: model {mine}, database {theirs}")
    return found
