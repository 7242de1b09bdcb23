"""Temporary ids in changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..ids import is_temporary
from .rows import Json, RowChange


def created_ids(record_id: Any, changes: list[RowChange], root: str) -> Iterator[str]:
    """Yields the temporary ids of rows that the changes create."""
    for change in changes:
        if change["do"] == "create":
            row_id = change["id"] if "id" in change else record_id
            if is_temporary(row_id) and (change["section"] == root or "id" in change):
                yield row_id


def used_ids(record_id: Any, changes: list[RowChange]) -> Iterator[str]:
    """Yields every temporary id in the changes."""
    found: list[str] = []

    def note(value: Any) -> Any:
        if is_temporary(value):
            found.append(value)
        return value

    _map(record_id, changes, note)
    yield from found


def divide(
    record_id: Any, changes: list[RowChange], root: str, ids: set[str]
) -> tuple[list[RowChange], list[RowChange]]:
    """Splits the changes into those that use none of these temporary ids, and those that do."""
    if ids & set(used_ids(record_id, [])):
        return [], changes
    rest: list[RowChange] = []
    users: list[RowChange] = []
    for change in changes:
        groups = change["groups"] if change["do"] == "edit" and "id" not in change else {}
        using = {name for name, one in groups.items() if ids & set(used_ids(None, [{"groups": {name: one}}]))}
        if not ids & set(used_ids(None, [change])):
            rest.append(change)
        elif len(using) in (0, len(groups)):
            users.append(change)
        else:
            rest.append({**change, "groups": {name: one for name, one in groups.items() if name not in using}})
            users.append({**change, "groups": {name: one for name, one in groups.items() if name in using}})
    if any(one["section"] == root and one["do"] != "edit" for one in users):
        return [], changes  # without its record, no row is left
    return rest, users


def map_ids(record_id: Any, changes: list[RowChange], ids: Mapping[str, Any]) -> tuple[Any, list[RowChange]]:
    """Returns id and changes with temporary ids replaced by real ones."""
    return _map(record_id, changes, lambda value: ids.get(value, value) if isinstance(value, str) else value)


def _map(record_id: Any, changes: list[RowChange], replace: Callable[[Any], Any]) -> tuple[Any, list[RowChange]]:
    def one(value: Any) -> Any:
        return [replace(part) for part in value] if isinstance(value, list) else replace(value)

    def fields(values: Json) -> Json:
        return {name: replace(value) for name, value in values.items()}

    result = []
    for change in changes:
        mapped = dict(change)
        if "id" in change:
            mapped["id"] = one(change["id"])
        for side in ("old", "new"):
            if side in change:
                mapped[side] = fields(change[side])
        if "groups" in change:
            mapped["groups"] = {
                name: {**values, **{side: fields(values[side]) for side in ("old", "new")}}
                for name, values in change["groups"].items()
            }
        result.append(mapped)
    return one(record_id), result
