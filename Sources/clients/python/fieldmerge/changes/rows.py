"""The changes of an edit, row by row.

A row change is a JSON object: `section`, in lists the item's `id`, and `do`:

- `edit` with `groups`: for each group `old` and `new`, objects of its fields,
- `create` with `new`: the fields that were set,
- `delete` with `old`: every field of its groups.

`unknown` next to an `old` names its fields with unknown values. They are null there. The database fills them when it
creates the row.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ..ids import key_of
from ..rules import Group, Resource, Section
from ..values import same

RowChange = dict[str, Any]
Json = dict[str, Any]


def place_of_row(change: RowChange) -> tuple[str, str | None]:
    return change["section"], key_of(change["id"]) if "id" in change else None


def change_of(changes: list[RowChange], section: str, item: str | None, group: str) -> RowChange | None:
    """Returns the change of a group of a row, whose id is text."""
    place = section, item
    return next((one for one in changes if place_of_row(one) == place and group in one.get("groups", {})), None)


def is_creation(changes: list[RowChange], resource: Resource | str) -> bool:
    """Returns whether the changes create the record itself."""
    root = resource if isinstance(resource, str) else resource.root.name
    return any(change["section"] == root and change["do"] == "create" for change in changes)


def is_deletion(changes: list[RowChange], resource: Resource) -> bool:
    """Returns whether the changes delete the record itself."""
    return any(change["section"] == resource.root.name and change["do"] == "delete" for change in changes)


def row_of(section: Section, record: Json | None, change: RowChange) -> Json | None:
    part = (record or {}).get(section.name)
    if not section.is_list:
        return part
    key = key_of(change["id"])
    return next((item for item in part or [] if key_of(item["id"]) == key), None)


def fields_of(group: Group, row: Mapping[str, Any]) -> Json:
    """Returns the fields of a group that a row contains."""
    return {field.name: copy.deepcopy(row[field.name]) for field in group.fields if field.name in row}


def equal_groups(group: Group, old: Json, new: Json) -> bool:
    """Whether both sides contain the same fields with equal values. A field that neither contains is not compared."""
    shown = [field for field in group.fields if field.name in old or field.name in new]
    return all(one.name in old and one.name in new and same(one, old[one.name], new[one.name]) for one in shown)


def equal_where_known(group: Group, one: Json, other: Json) -> bool:
    """Whether the fields that both sides contain have equal values."""
    both = [field.name for field in group.fields if field.name in one and field.name in other]
    return equal_groups(group, {name: one[name] for name in both}, {name: other[name] for name in both})


def fill(row: Json, values: Json) -> None:
    """Sets the fields of a row that have no value."""
    row.update({name: copy.deepcopy(value) for name, value in values.items() if row.get(name) is None})
