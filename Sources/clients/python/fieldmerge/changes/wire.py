"""Changes in the format of requests."""

from __future__ import annotations

from .rows import Json, RowChange


def changeset(changes: list[RowChange]) -> Json:
    """Returns the changes in the format of requests, under their original names."""
    result: Json = {}
    for change in changes:
        row: Json
        if change["do"] == "edit":
            row = {name: _bare(values) for name, values in change["groups"].items()}
        elif change["do"] == "create":
            row = {"old": None, "new": change["new"]}
        else:
            row = {"old": change["old"], "new": None}
        if "id" in change:
            result.setdefault(change["section"], []).append({"id": change["id"], **row})
        else:
            result[change["section"]] = row
    return result


def _bare(values: Json) -> Json:
    old, new = values["old"], values["new"]
    if len(old.keys() | new.keys()) > 1:
        return {"old": old, "new": new}
    return {"old": next(iter(old.values()), None), "new": next(iter(new.values()), None)}
