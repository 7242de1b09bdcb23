"""Edits and records under the present names of their fields. Rules can name earlier ones (`formerly`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .changes import Json, RowChange
from .rules import Resource


def has_renames(resource: Resource) -> bool:
    """Returns whether a field has earlier names."""
    return any(section.renames for section in resource.sections)


def renamed(resource: Resource, changes: list[RowChange]) -> list[RowChange]:
    """Returns changes under the present names of fields. The groups are those of before."""
    known = {section.name: section.renames for section in resource.sections}
    return [_change(known.get(change["section"], {}), change) for change in changes]


def renamed_record(resource: Resource, record: Json) -> Json:
    """Returns a record under the present names of fields."""
    result = dict(record)
    for section in resource.sections:
        part = record.get(section.name)
        if section.renames and part:
            rows = [_fields(section.renames, row) for row in (part if section.is_list else [part])]
            result[section.name] = rows if section.is_list else rows[0]
    return result


def _change(renames: Mapping[str, str], change: RowChange) -> RowChange:
    if not renames:
        return change
    result = _sides(renames, change)
    if "groups" in change:
        result["groups"] = {name: _sides(renames, values) for name, values in change["groups"].items()}
    return result


def _sides(renames: Mapping[str, str], values: Json) -> Json:
    result = dict(values)
    for side in ("old", "new"):
        if isinstance(values.get(side), dict):
            result[side] = _fields(renames, values[side])
    if "unknown" in values:
        result["unknown"] = [renames.get(name, name) for name in values["unknown"]]
    return result


def _fields(renames: Mapping[str, str], row: Mapping[str, Any]) -> Json:
    return {renames.get(name, name): value for name, value in row.items()}
