"""A gateway in memory whose database fills in omitted fields of a creation, and refuses null in required fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support import ROOT  # noqa: F401  (it sets the path of the library)

from fieldmerge.ids import key_of
from fieldmerge.rules import Resource, Section
from fieldmerge.testing import MemoryGateway
from fieldmerge.testing.memory import _Refused

DEFAULTS: dict[str, Any] = {"points": 10, "quantity": "1", "status": "new"}


class DefaultingGateway(MemoryGateway):
    """`points`, `quantity` and `status` have a default, and are never null."""

    def _edit(self, edit: dict[str, Any], sent: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        for part in edit["changeset"].values():
            for row in part if isinstance(part, list) else [part]:
                for side in ("old", "new"):
                    _refuse_null(row.get(side))
                    for name, values in row.items():
                        if name in DEFAULTS and values[side] is None:
                            raise _Refused(400, "invalid-value", f"{name} cannot be null")
                        if isinstance(values, dict):
                            _refuse_null(values.get(side))
        return super()._edit(edit, sent, own)

    def _row(
        self, resource: Resource, section: Section, place: tuple[str, str], record_id: Any, row: dict[str, Any]
    ) -> list[dict[str, Any]]:
        outcomes = super()._row(resource, section, place, record_id, row)
        record = self.records.get(place)
        if record is not None and outcomes and outcomes[0]["outcome"] == "inserted":
            part = record[section.name]
            held = [one for one in part if key_of(one["id"]) == key_of(row["id"])] if section.is_list else [part]
            for one in held:
                one.update({name: value for name, value in DEFAULTS.items() if name in one and one[name] is None})
        return outcomes


def _refuse_null(values: Any) -> None:
    for name, value in values.items() if isinstance(values, dict) else ():
        if name in DEFAULTS and value is None:
            raise _Refused(400, "invalid-value", f"{name} cannot be null")
