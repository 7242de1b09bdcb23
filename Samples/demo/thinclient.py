"""A thin client of FieldMerge.

It keeps two copies of each record: the pristine one, as last read from the gateway, and the edited
one, which its user changes at will. What goes over the wire is the difference, group by group; what
comes back is the merged record, which becomes both copies.
"""

from __future__ import annotations

import copy
from typing import Any

from gateway import Gateway, Json, Section

Id = int | str


class NotMerged(Exception):
    """A push was rejected or failed: nothing of it was written, and both copies stand."""

    def __init__(self, result: Json) -> None:
        problem = result.get("problem") or {}
        super().__init__(f"{result.get('status')}: {problem.get('detail', 'no details')}")
        self.result = result


class ThinClient:
    """The records of one resource that a client holds; their key is one column."""

    def __init__(self, gateway: Gateway, resource: str) -> None:
        self._gateway = gateway
        self._resource = resource
        self._layout = gateway.layout(resource)
        self._pristine: dict[Id, Json] = {}
        self._edited: dict[Id, Json] = {}
        self._temporary_ids = 0

    def read(self, record_id: Id) -> Json:
        """Reads a record and answers the copy to edit; edits that were not pushed are lost."""
        return self._take_over(self._gateway.read(self._resource, record_id))

    def create(self, record: Json) -> Id:
        """Holds a new record, under a temporary id until it is pushed."""
        record_id = self.temporary_id()
        self._pristine[record_id], self._edited[record_id] = {}, record
        return record_id

    def delete(self, record_id: Id) -> None:
        self._edited[record_id] = {}

    def temporary_id(self) -> str:
        """An id for a row to be created; the gateway replaces it by the real key."""
        self._temporary_ids += 1
        return f"tmp:{self._temporary_ids}"

    def changeset(self, record_id: Id) -> Json:
        return changeset(self._layout, self._pristine[record_id], self._edited[record_id])

    def push(self, record_id: Id) -> Json:
        """Sends what changed, takes over the merged record, and answers the gateway's result."""
        edit = {"id": record_id, "changeset": self.changeset(record_id)}
        result = self._gateway.merge(self._resource, edit)
        if result.get("status") != "merged":
            raise NotMerged(result)
        del self._pristine[record_id], self._edited[record_id]
        if result["record"] is not None:
            self._take_over(result["record"])
        return result

    def _take_over(self, record: Json) -> Json:
        record_id = record["id"]
        self._pristine[record_id], self._edited[record_id] = record, copy.deepcopy(record)
        return self._edited[record_id]


def changeset(layout: list[Section], pristine: Json, edited: Json) -> Json:
    """The groups that differ, each with its old and new value. {} stands for no record."""
    # A record that is deleted takes the rows of its other sections along.
    sections = layout if edited else layout[:1]
    changes = {section.name: _section_changes(section, pristine, edited) for section in sections}
    return {name: change for name, change in changes.items() if change}


def _section_changes(section: Section, pristine: Json, edited: Json) -> Any:
    before, after = pristine.get(section.name), edited.get(section.name)
    if not section.is_list:
        return _row_changes(section, before, after)
    old, new = _by_id(before or []), _by_id(after or [])
    changes = {item: _row_changes(section, old.get(item), new.get(item)) for item in old | new}
    return [{"id": item, **change} for item, change in changes.items() if change]


def _by_id(items: list[Json]) -> dict[Any, Json]:
    """Items by their ids; a key of several columns is an array, which Python cannot look up."""
    return {tuple(key) if isinstance(key := item["id"], list) else key: item for item in items}


def _row_changes(section: Section, before: Json | None, after: Json | None) -> Json:
    if before is None and after is None:
        return {}
    if before is None or after is None:  # created or deleted
        return {"old": _writable(section, before), "new": _writable(section, after)}
    values = {
        group: {"old": _value(before, fields), "new": _value(after, fields)}
        for group, fields in section.groups.items()
    }
    return {group: value for group, value in values.items() if value["old"] != value["new"]}


def _value(row: Json, fields: tuple[str, ...]) -> Any:
    """What a group holds: a bare value where it has one field, else an object of all its fields."""
    return row[fields[0]] if len(fields) == 1 else {field: row[field] for field in fields}


def _writable(section: Section, row: Json | None) -> Json | None:
    """A row without its id and its read-only fields."""
    if row is None:
        return None
    names = (field for fields in section.groups.values() for field in fields)
    return {name: row[name] for name in names if name in row}
