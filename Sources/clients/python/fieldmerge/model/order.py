"""Which pushes may change their order: those that share no record or id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import changes as row_changes
from ..changes import RowChange
from ..ids import key_of
from ..rules import Resource
from .parts import Place, StoredEdit


@dataclass(frozen=True)
class Ties:
    """The records and ids by which a push depends on others."""

    edits: frozenset[Place]
    """The records that it edits, and the temporary ids in it, each with an empty resource."""
    makes: frozenset[Place]
    """The records that it creates or deletes."""
    names: frozenset[Place]
    """The records that its reference fields name, before and after."""

    @staticmethod
    def of(edits: Iterable[StoredEdit], known: Callable[[str], Resource | None]) -> Ties:
        """Returns the ties of a push."""
        places: set[Place] = set()
        makes: set[Place] = set()
        names: set[Place] = set()
        for edit in edits:
            places.add((edit.resource, edit.key))
            places.update(("", one) for one in row_changes.used_ids(edit.id, edit.changes))
            resource = known(edit.resource)
            if resource is None:
                continue
            if row_changes.is_creation(edit.changes, resource) or row_changes.is_deletion(edit.changes, resource):
                makes.add((edit.resource, edit.key))
            for change in edit.changes:
                names.update(_references(resource, change))
        return Ties(frozenset(places), frozenset(makes), frozenset(names))

    def shares(self, other: Ties) -> bool:
        """Returns whether two pushes have to keep their order."""
        return not (
            self.edits.isdisjoint(other.edits)
            and self.makes.isdisjoint(other.names)
            and self.names.isdisjoint(other.makes)
        )


def _references(resource: Resource, change: RowChange) -> Iterator[Place]:
    if not resource.has(change["section"]):
        return
    fields = resource.section(change["section"]).fields
    for values in [change, *change.get("groups", {}).values()]:
        for side in ("old", "new"):
            for name, value in (values.get(side) or {}).items():
                field = fields.get(name)
                if field is not None and field.references and value is not None and _is_id(value):
                    yield field.references, key_of(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int, float))
