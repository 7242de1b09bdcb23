"""Edits, records and answers under the current names of their fields and groups. Rules can contain earlier names
(`formerly`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .changes import Json, RowChange
from .rules import Resource, Section


def has_renames(resource: Resource) -> bool:
    """Returns whether a field or a group has earlier names."""
    return any(section.renames or section.group_renames for section in resource.sections)


def renamed(resource: Resource, changes: list[RowChange]) -> list[RowChange]:
    """Returns changes under the present names of fields and groups. The groups have the fields of before."""
    known = {section.name: section for section in resource.sections}
    return [_change(known[change["section"]], change) if change["section"] in known else change for change in changes]


def renamed_result(resource: Resource, result: Json) -> Json:
    """Returns the result of an edit with the present names of groups."""
    outcomes = [
        {**one, "group": resource.section(one["section"]).present_group(one["group"])}
        if one.get("group") is not None and resource.has(one.get("section"))
        else one
        for one in result.get("outcomes") or []
    ]
    return {**result, "outcomes": outcomes}


def renamed_record(resource: Resource, record: Json) -> Json:
    """Returns a record under the present names of fields."""
    result = dict(record)
    for section in resource.sections:
        part = record.get(section.name)
        if section.renames and part:
            rows = [_fields(section.renames, row) for row in (part if section.is_list else [part])]
            result[section.name] = rows if section.is_list else rows[0]
    return result


def _change(section: Section, change: RowChange) -> RowChange:
    if not section.renames and not section.group_renames:
        return change
    result = _sides(section.renames, change)
    if "groups" in change:
        groups: Json = {}
        for earlier, values in change["groups"].items():
            name, sides = section.present_group(earlier), _sides(section.renames, values)
            groups[name] = _joined(groups[name], sides) if name in groups else sides
        result["groups"] = groups
    return result


def _joined(one: Json, other: Json) -> Json:
    """Returns the values of two groups that the rules have joined."""
    unknown = [*one.get("unknown", ()), *other.get("unknown", ())]
    joined = {side: {**one[side], **other[side]} for side in ("old", "new")}
    return {**joined, "unknown": unknown} if unknown else joined


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
