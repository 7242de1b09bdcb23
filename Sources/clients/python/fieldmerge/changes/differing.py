"""The changes that lead from one state of a record to another."""

from __future__ import annotations

import copy

from ..ids import key_of
from ..rules import Resource, Section
from .rows import Json, RowChange, equal_groups, fields_of


def difference(resource: Resource, before: Json | None, after: Json | None) -> list[RowChange]:
    """Returns the changes from one version of a record to another; `None` means no record."""
    root = resource.root
    if after is None:
        return [] if before is None else [_deletion(root, before[root.name])]
    if before is None:
        changes = [_creation(root, after.get(root.name) or {})]
    else:
        changes = _of_row(root, before.get(root.name), after.get(root.name))
    for section in resource.sections[1:]:
        if section.name not in after:
            continue
        old = (before or {}).get(section.name)
        if section.is_list:
            changes += _of_list(section, old or [], after[section.name] or [])
        else:
            changes += _of_row(section, old, after[section.name])
    return changes


def _of_list(section: Section, before: list[Json], after: list[Json]) -> list[RowChange]:
    old = {key_of(item["id"]): item for item in before}
    new = {key_of(item["id"]): item for item in after}
    changes = []
    for key in [*old, *(key for key in new if key not in old)]:
        item_id = (old.get(key) or new[key])["id"]
        for change in _of_row(section, old.get(key), new.get(key)):
            changes.append({**change, "id": item_id})
    return changes


def _of_row(section: Section, before: Json | None, after: Json | None) -> list[RowChange]:
    if before is None and after is None:
        return []
    if before is None:
        return [_creation(section, after or {})]
    if after is None:
        return [_deletion(section, before)]
    groups = {}
    for group in section.groups:
        # A group that the row does not contain is not compared.
        if not any(field.name in after for field in group.fields):
            continue
        # A field that the row does not contain is unknown: it is neither compared nor sent.
        old, new = fields_of(group, before), fields_of(group, after)
        if not equal_groups(group, old, new):
            groups[group.name] = {"old": old, "new": new}
    return [{"section": section.name, "do": "edit", "groups": groups}] if groups else []


def _creation(section: Section, row: Json) -> RowChange:
    new = {name: copy.deepcopy(value) for name, value in row.items() if name in section.fields}
    return {"section": section.name, "do": "create", "new": new}


def _deletion(section: Section, row: Json) -> RowChange:
    old = {name: copy.deepcopy(row[name]) for name in section.fields if name in row}
    return {"section": section.name, "do": "delete", "old": old}
