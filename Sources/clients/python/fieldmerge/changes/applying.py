"""A record with changes made to it."""

from __future__ import annotations

import copy
from typing import Any

from ..ids import key_of
from ..rules import Resource, Section
from .rows import Json, RowChange


def apply(resource: Resource, record: Json | None, record_id: Any, changes: list[RowChange]) -> Json | None:
    """Returns a record with the changes applied. Omits changes that no longer fit."""
    record = copy.deepcopy(record)
    for change in changes:
        if not resource.has(change["section"]):
            continue
        section = resource.section(change["section"])
        if section is resource.root:
            if change["do"] == "delete":
                return None
            if change["do"] == "create":
                if record is None:
                    record = _empty(resource, record_id)
                record[section.name].update(copy.deepcopy(change["new"]))
                continue
        if record is None:
            continue
        if section.is_list:
            _apply_to_item(section, record, change)
        else:
            _apply_to_row(section, record, change)
    return record


def _empty(resource: Resource, record_id: Any) -> Json:
    record: Json = {"id": record_id, resource.root.name: _blank(resource.root)}
    for section in resource.sections[1:]:
        record[section.name] = [] if section.is_list else None
    return record


def _blank(section: Section) -> Json:
    return {name: None for name in [*section.fields, *section.read_only]}


def _apply_to_row(section: Section, record: Json, change: RowChange) -> None:
    row = record.get(section.name)
    if change["do"] == "delete":
        record[section.name] = None
    elif change["do"] == "create":
        record[section.name] = {**(row or _blank(section)), **copy.deepcopy(change["new"])}
    elif row is not None:
        _assign(row, change)


def _apply_to_item(section: Section, record: Json, change: RowChange) -> None:
    items: list[Json] = record.setdefault(section.name, [])
    key = key_of(change["id"])
    index = next((index for index, item in enumerate(items) if key_of(item["id"]) == key), None)
    if change["do"] == "create":
        if index is None:
            items.append({"id": change["id"], **_blank(section)})
            index = len(items) - 1
        items[index].update(copy.deepcopy(change["new"]))
    elif index is None:
        return
    elif change["do"] == "delete":
        del items[index]
    else:
        _assign(items[index], change)


def _assign(row: Json, change: RowChange) -> None:
    for group in change["groups"].values():
        row.update(copy.deepcopy(group["new"]))
