"""The journal has an entry for each row operation. An undo keeps later writes."""

import json

from turns import at_once


def run(stage) -> None:
    name = stage.open(2)
    new = {"resource": name, "id": 7, "changeset": {"crate": {"old": None, "new": {"label": "made"}}}}
    gone = {"resource": name, "id": 2, "changeset": {"crate": {"old": {"n": 0}, "new": None}}}
    expected = {"inserted": push(stage, "create", new), "applied": push(stage, "edit", label(name, "first", "one")),
                "deleted": push(stage, "delete", gone)}
    push(stage, "edit later", label(name, "one", "two"))
    entries = read(stage, name)
    for word, key in expected.items():
        if word not in [outcome["outcome"] for outcome in entries.get(key, {}).get("outcomes", [])]:
            return stage.add(f"the journal has no entry with “{word}” for {key}: {entries}")
    number = entries[expected["applied"]]["number"]
    status, text = at_once(stage.client.caller.call(0, "POST", f"/v1/journal/{number}/undo", {}))
    if (row := stage.rows(name)[1])["label"] != "two":
        stage.add(f"the undo of “one” was answered {status} {text[:600]}; “two” was written later, and the row is {row}")


def label(name: str, old: str, new: str) -> dict:
    return {"resource": name, "id": 1, "changeset": {"crate": {"label": {"old": old, "new": new}}}}


def push(stage, name: str, edit: dict) -> str:
    key = f"{name} {stage.serial}"
    status, answer = stage.push_to_end(0, [edit], key)
    if status != 200:
        stage.add(f"{edit} was answered {status} {answer}")
    return key


def read(stage, name: str) -> dict:
    """The entries of a resource by the key of the push."""
    status, text = at_once(stage.client.caller.call(0, "GET", f"/v1/journal?resource={name}&limit=100"))
    return {entry["key"]: entry for entry in json.loads(text)["entries"]} if status == 200 else {}
