"""Shared types of the model: states of pushes, edits, and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..changes import Json, RowChange
from ..values import json_equal

UNSENT, SENT, KEPT, REFUSED = 0, 1, 2, 3

PUSHES_IN_A_REQUEST = 100
TICKETS_KEPT_SECONDS = 90 * 24 * 3600
EVENTS_KEPT = 10_000
ADDED_KEPT = 1_000
BEAT_SECONDS = 5.0
MISSED_BEATS = 3

Place = tuple[str, str]
"""A record: resource, and its id as text."""

GroupPlace = tuple[str, "str | None", str]
"""A group of a record: section, the item's id as text, and its name."""


class LeaseLost(Exception):
    """Another process has acquired the lease, so this process drops its answer."""


class SnapshotEnded(OSError):
    """The snapshot that is being stored is no longer valid. The next snapshot begins at its first record."""


@dataclass(frozen=True)
class Draft:
    """An edit of one record, as the app made it."""

    resource: str
    id: Any
    changes: list[RowChange]
    rules_version: str
    base: Json | None = None
    """The record that the app has fixed as the base: what it edits may have changed meanwhile."""

    @property
    def is_based(self) -> bool:
        """Whether the app has fixed the base."""
        return self.base is not None


@dataclass(frozen=True)
class Frozen:
    """A push with the bytes that each request sends."""

    seq: int
    key: str
    body: bytes
    is_kept: bool
    edits: int


@dataclass(frozen=True, eq=False)
class StoredEdit:
    """One record's part of a push."""

    push: int
    place: int
    state: int
    resource: str
    key: str
    id: Any
    changes: list[RowChange]

    def __eq__(self, other: object) -> bool:
        """Returns whether both have the same values; `true` is not 1."""
        return isinstance(other, StoredEdit) and json_equal(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Change:
    """A new version of a record from the server, before it is stored. Its functions add edits to the same
    transaction."""

    resource: str
    id: Any
    before: Any
    after: Any
    transaction: Any = field(repr=False, compare=False)

    def edit(self, resource: str | None = None, record_id: Any = None) -> Any:
        """Edits a record, by default this one: `with change.edit() as s:`."""
        return self.transaction.edit(resource or self.resource, self.id if resource is None else record_id)

    def create(self, resource: str, record_id: Any = None) -> Any:
        """Creates a record."""
        return self.transaction.create(resource, record_id)

    def delete(self, resource: str | None = None, record_id: Any = None) -> None:
        """Deletes a record, by default this one."""
        self.transaction.delete(resource or self.resource, self.id if resource is None else record_id)


def new_problem(code: str, status: int, title: str, detail: str) -> Json:
    return {
        "type": f"urn:fieldmerge:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "retry": False,
    }


def outcome_unknown() -> Json:
    """Returns the problem of an edit whose outcome is unknown."""
    return new_problem("outcome-unknown", 409, "Outcome unknown", "This edit may have been merged already.")


def pairs(edits: list[StoredEdit], results: list[Json]) -> list[tuple[StoredEdit, Json]]:
    return list(zip(edits, results))


def conflicts_of(edit: StoredEdit, result: Json, *, is_refused: bool = False) -> list[Json]:
    """The conflicts of a result as in events. In a refused push, each has the outcome `refused`."""
    told = []
    for outcome in result.get("outcomes") or []:
        if not outcome.get("conflict"):
            continue
        conflict = {"resource": edit.resource, "id": result.get("id", edit.id), "item": outcome.get("id")}
        if conflict["id"] is None:
            conflict["id"] = edit.id
        for name in ("section", "group", "outcome", "rule", "old", "current", "new", "written", "by", "parts"):
            conflict[name] = outcome.get(name)
        if is_refused:
            conflict["outcome"] = "refused"
        told.append(conflict)
    return told


def with_real_ids(record: Json | None, ids: Mapping[str, Any]) -> Json | None:
    """Returns a record with real ids in place of temporary ids."""
    if record is None or not ids:
        return record

    def real(value: Any) -> Any:
        if isinstance(value, list):
            return [real(part) if isinstance(part, (dict, str)) else part for part in value]
        if isinstance(value, dict):
            return {name: real(one) for name, one in value.items()}
        return ids.get(value, value) if isinstance(value, str) else value

    return {name: real(value) for name, value in record.items()}


def with_problem(held: Json | None, problem: Json) -> Json | None:
    """Returns the last base with the problem, for a record that the server cannot read now; `None` without a base."""
    return None if held is None else {**held, "problem": problem}
