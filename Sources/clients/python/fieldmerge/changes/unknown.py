"""Unknown values: the fields of new rows that the database fills."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping

from ..rules import Resource, Section
from .rows import Json, RowChange, equal_groups, place_of_row, row_of


def unnamed(resource: Resource, edits: Iterable[list[RowChange]]) -> dict[tuple[str, str | None], set[str]]:
    """Returns the unknown fields of each row that these edits create, in order: fields that neither the creation nor
    a later edit has set. A null from a later edit counts as set."""
    found: dict[tuple[str, str | None], set[str]] = {}
    for changes in edits:
        for change in changes:
            if not resource.has(change["section"]):
                continue
            place = place_of_row(change)
            if change["do"] == "create":
                found[place] = resource.section(change["section"]).fields.keys() - change["new"].keys()
            elif change["do"] == "delete":
                found.pop(place, None)
            elif place in found:
                for values in change["groups"].values():
                    # A null in an unknown `old` was not set. Another field of its group was set.
                    left = {name for name in values.get("unknown", ()) if values["new"].get(name) is None}
                    found[place] -= values["new"].keys() - left
    return found


def mark_unknown(changes: list[RowChange], unknown: Mapping[tuple[str, str | None], set[str]]) -> list[RowChange]:
    """Returns changes in which each `old` names its unknown fields."""

    def mark(values: Json, fields: set[str]) -> Json:
        return with_unknown(values, {one for one in fields if one in values["old"] and values["old"][one] is None})

    result = []
    for change in changes:
        fields = unknown.get(place_of_row(change), set())
        if change["do"] == "edit":
            change = {**change, "groups": {name: mark(one, fields) for name, one in change["groups"].items()}}
        elif change["do"] == "delete":
            change = mark(change, fields)
        result.append(change)
    return result


def with_unknown(values: Json, fields: set[str]) -> Json:
    marked = {name: value for name, value in values.items() if name != "unknown"}
    return {**marked, "unknown": sorted(fields)} if fields else marked


def has_unknown(changes: list[RowChange]) -> bool:
    """Returns whether an `old` is unknown."""
    return any("unknown" in values for change in changes for values in [change, *change.get("groups", {}).values()])


def fill_unknown(
    resource: Resource, record: Json | None, changes: list[RowChange], *, is_late: bool = False
) -> list[RowChange]:
    """Returns changes whose unknown `old` has the record's value, which the database filled into the new row.

    A field that was not set keeps this value too. Omits a group without a change. With `is_late`, a null of a field
    that
    is not nullable counts as unknown, because it was stored before marks existed.
    """
    result = []
    for change in changes:
        if not resource.has(change["section"]) or change["do"] == "create":
            result.append(change)
            continue
        section = resource.section(change["section"])
        row = row_of(section, record, change)
        if row is None:
            result.append(change)
        elif change["do"] == "delete":
            result.append(_filled(section, row, change, is_late=is_late))
        else:
            # A refused edit may have groups that the rules no longer have.
            known = {group.name: group for group in section.groups}
            groups = {
                name: _filled(section, row, one, is_late=is_late) if name in known else one
                for name, one in change["groups"].items()
            }
            left = {
                name: one
                for name, one in groups.items()
                if one is change["groups"][name] or not equal_groups(known[name], one["old"], one["new"])
            }
            if left:
                result.append({**change, "groups": left})
    return result


def _filled(section: Section, row: Json, values: Json, *, is_late: bool) -> Json:
    fields = set(values.get("unknown", ()))
    if is_late:
        fields |= {
            name
            for name, value in values["old"].items()
            if value is None and name in section.fields and not section.fields[name].nullable
        }
    fields &= row.keys()
    if not fields:
        return values
    filled = with_unknown(values, set(values.get("unknown", ())) - fields)
    filled["old"] = {**values["old"], **{name: copy.deepcopy(row[name]) for name in fields}}
    if values.get("new") is not None:
        kept = {name: copy.deepcopy(row[name]) for name in fields if values["new"].get(name) is None}
        filled["new"] = {**values["new"], **{name: one for name, one in kept.items() if name in values["new"]}}
    return filled
