"""Changes under other rules."""

from __future__ import annotations

from ..errors import UnknownName, UnknownValue
from ..rules import Resource, Section, nearest
from ..values import json_equal
from .rows import Json, RowChange, equal_groups, fields_of, row_of


def check(resource: Resource, changes: list[RowChange]) -> None:
    """Throws `InvalidEdit` for a change that cannot be sent, because a name or a value is unknown."""
    for change in changes:
        section = resource.section(change["section"])
        for name, values in change.get("groups", {}).items():
            for field in section.group(name).fields:
                if field.name not in values["old"] or field.name not in values["new"]:
                    raise UnknownValue(f"{section.name}.{field.name}")


def regroup(resource: Resource, seen: Json | None, changes: list[RowChange]) -> list[RowChange]:
    """Groups changes by the current rules. A group's unedited fields come from `seen`, the record beneath. Throws
    `UnknownName` for a name that the rules no longer have."""
    result = []
    for change in changes:
        section = resource.section(change["section"])
        row = row_of(section, seen, change) or {}
        if change["do"] == "create":
            for name in change["new"]:
                section.field(name, path=section.name)
            result.append(change)
        elif change["do"] == "delete":
            result.append({**change, "old": _regrouped_deletion(section, row, change["old"])})
        else:
            groups = _regrouped(section, row, change)
            if groups:
                result.append({**change, "groups": groups})
    return result


def _regrouped_deletion(section: Section, row: Json, old: Json) -> Json:
    """Returns the values of all groups whose values are all known."""
    known = {**{name: row[name] for name in section.fields if name in row}, **old}
    whole = [group for group in section.groups if all(field.name in known for field in group.fields)]
    return {field.name: known[field.name] for group in whole for field in group.fields}


def _regrouped(section: Section, row: Json, change: RowChange) -> Json:
    old: Json = {}
    new: Json = {}
    for values in change["groups"].values():
        old.update(values["old"])
        new.update(values["new"])
    groups: Json = {}
    for name in new:
        if name not in section.fields:
            if name in old and json_equal(old[name], new[name]):
                continue  # It was sent with its group, and was not edited.
            raise UnknownName(f"{section.name}.{name}", name, nearest(name, section.fields))
        group = section.group_of[name]
        if group.name in groups:
            continue
        held = fields_of(group, row)
        before = {**held, **fields_of(group, old)}
        after = {**before, **fields_of(group, new)}
        if not equal_groups(group, before, after):
            groups[group.name] = {"old": before, "new": after}
    return groups
