"""Changes compared with a record: whether it has their `old`, and whether they were merged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ids import is_temporary, key_of
from ..rules import Resource, Section
from ..values import same
from .rows import Json, RowChange, equal_groups, equal_where_known, fields_of, is_creation, is_deletion, place_of_row, row_of


def is_seen(resource: Resource, record: Json | None, changes: list[RowChange]) -> bool:
    """Returns whether a record has the values that the `old` of each change has."""
    for change in changes:
        section = resource.section(change["section"])
        row = row_of(section, record, change)
        if change["do"] == "create":
            continue
        if row is None:
            return False
        if change["do"] == "edit":
            pairs = [(section.group(name), values["old"]) for name, values in change["groups"].items()]
        else:
            pairs = [(group, change["old"]) for group in section.groups]
        if not all(equal_where_known(group, row, old) for group, old in pairs):
            return False
    return True


def as_written(resource: Resource, record: Json | None, changes: list[RowChange]) -> list[RowChange]:
    """Returns changes with the values of the later record. Omits changes that the record does not contain."""
    if record is None:
        return changes if is_deletion(changes, resource) else []
    written = []
    for change in changes:
        section = resource.section(change["section"])
        row = row_of(section, record, change)
        if change["do"] == "delete":
            written += [change] if row is None else []
        elif row is not None and change["do"] == "create":
            written.append({**change, "new": {name: row[name] for name in section.fields if name in row}})
        elif row is not None:
            groups = {
                name: {"old": values["old"], "new": fields_of(section.group(name), row)}
                for name, values in change["groups"].items()
            }
            written.append({**change, "groups": groups})
    return written


def without_row(resource: Resource, record: Json | None, changes: list[RowChange]) -> list[RowChange]:
    """Returns the changes that edit a row which the record does not have."""
    if is_creation(changes, resource):
        return []
    edits = [change for change in changes if change["do"] == "edit" and resource.has(change["section"])]
    return [change for change in edits if row_of(resource.section(change["section"]), record, change) is None]


def is_other(resource: Resource, held: Json | None, record: Json, edits: Iterable[list[RowChange]]) -> bool:
    """Returns whether an id now names another record: no group of the old base, or of an edit, is equal."""
    seen: list[tuple[Section, RowChange, Json]] = []
    for section in resource.sections:
        part = (held or {}).get(section.name)
        for row in part or [] if section.is_list else [part] if part else []:
            seen.append((section, {"id": row["id"]} if section.is_list else {}, row))
    for change in (change for changes in edits for change in changes if resource.has(change["section"])):
        section = resource.section(change["section"])
        sides = [change.get("old"), change.get("new")]
        for values in change.get("groups", {}).values():
            sides += [values["old"], values["new"]]
        seen += [(section, change, side) for side in sides if side]
    compared = []
    for section, place, values in seen:
        row = row_of(section, record, place)
        for group in section.groups:
            if row is not None and all(one.name in values and one.name in row for one in group.fields):
                compared.append(equal_groups(group, values, row))
    return bool(compared) and not any(compared)


def is_created(resource: Resource, base: Json | None, changes: list[RowChange]) -> bool:
    """Returns whether a base has the root row that the changes create, under a key of the client's own."""
    root = next(change for change in changes if change["section"] == resource.root.name and change["do"] == "create")
    return base is not None and _has_all(resource.root, base.get(resource.root.name), root["new"])


def _has_all(section: Section, row: Json | None, values: Json) -> bool:
    known = section.fields
    return row is not None and all(one in row and same(known[one], row[one], value) for one, value in values.items())


def left(
    resource: Resource, base: Json | None, record_id: Any, changes: list[RowChange], *, done: set[Any]
) -> tuple[list[RowChange], list[RowChange]]:
    """Returns the unsent part of changes whose outcome is unknown.

    Omits groups whose `new` is in the base, and adds them to `done`. Also omits groups that a later push has found
    done.
    """
    kept: list[RowChange] = []
    unknown: list[RowChange] = []
    for change in changes:
        section = resource.section(change["section"])
        row = row_of(section, base, change)
        if change["do"] == "delete":
            kept += [change] if row is not None else []
        elif change["do"] == "create":
            # No base shows whether a new row was created.
            if is_temporary(change.get("id", record_id)):
                unknown.append(change)
            elif not _has_all(section, row, change["new"]):
                kept.append(change)
        else:
            groups: dict[bool, Json] = {False: {}, True: {}}
            for name, values in change["groups"].items():
                group = section.group(name)
                mark = resource.name, key_of(record_id), *place_of_row(change), name
                if mark in done or row is not None and equal_groups(group, row, values["new"]):
                    done.add(mark)
                else:
                    groups[group.merge in ("add", "set")][name] = values
            kept += [{**change, "groups": groups[False]}] if groups[False] else []
            unknown += [{**change, "groups": groups[True]}] if groups[True] else []
    return kept, unknown
