"""Records as an app reads them: base, sent and draft on top of each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..clock import Clock
from ..database import Database
from ..errors import RulesUnknown, UnknownName
from ..ids import is_temporary, key_of, order_of
from ..rules import Resource, Rules, Section
from .parts import REFUSED, SENT, UNSENT, Place, StoredEdit


class Reading:
    """The rules, and records in three layers."""

    def __init__(self, database: Database, *, resources: Iterable[str] | None, clock: Clock) -> None:
        self.database = database
        self.clock = clock
        self.resources = None if resources is None else sorted(set(resources))
        self.owner = database.owner
        self.on_touch: Callable[[set[Place]], None] = lambda places: None
        self.on_outcome: Callable[[], None] = lambda: None
        self.run_hooks: Callable[[list[tuple[str, Any, Json | None, Json | None]]], None] | None = None
        self._rules: Rules | None = None
        self._offset: float | None = None
        self._who: str | None = None
        self._touched: set[Place] = set()
        self._last: dict[Place, Json | None] = {}
        """The bases that the transaction under way has deleted."""
        self._incoming: list[tuple[str, Any, Json | None, Json | None]] = []
        database.on_rollback = self._reset

    def _reset(self) -> None:
        self._touched, self._incoming, self._rules, self._last = set(), [], None, {}

    @property
    def rules(self) -> Rules | None:
        """The rules that the gateway sent last. A resource whose records have an earlier shape keeps its earlier
        rules."""
        edition = self.database.meta("edition") or self.database.meta("rulesVersion")
        if edition is None:
            return None
        if self._rules is None or self._rules.edition != edition:
            self._rules = Rules.parse(self.database.meta("rules"), former=self.database.meta("stale"))
        return self._rules

    def resource(self, name: str) -> Resource:
        """Returns a resource by its name; throws `UnknownName`, or `RulesUnknown` before the first sync."""
        rules = self.rules
        if rules is None:
            raise RulesUnknown("the rules are not known yet: let the store sync once")
        return rules.resource(name)

    def _known(self, name: str) -> Resource | None:
        rules = self.rules
        return None if rules is None else rules.resources.get(name)

    def keeps(self, resource: str) -> bool:
        """Returns whether the store keeps the records of a resource."""
        return self.resources is None or resource in self.resources

    def asked(self) -> list[str]:
        """Returns the resources that the app chose and the rules have. The gateway refuses other names."""
        rules = self.rules
        return [name for name in self.resources or [] if rules is None or name in rules.resources]

    def resolve(self, record_id: Any) -> Any:
        """Returns the real id of a temporary id if it is known."""
        if isinstance(record_id, (list, tuple)):
            return [self.resolve(part) for part in record_id]
        if not is_temporary(record_id):
            return record_id
        real = self.database.value("SELECT real FROM mapping WHERE temporary = ?", record_id)
        return record_id if real is None else json.loads(real)

    def view(self, resource: str, record_id: Any) -> Json | None:
        """Returns a record as an app reads it: base, sent and draft."""
        with self.database.lock:
            resolved = self.resolve(record_id)
            key = key_of(resolved)
            return self._over(resource, self._base(resource, key), resolved, self._stacked(resource, key))

    def filled(self, resource: Resource, record_id: Any, section: Section, item: Any = None) -> Json | None:
        """Returns the values that the database filled into a new row; `None` before the answer. The ids are those
        that the row had when it was read."""
        text = self.database.value(
            "SELECT fields FROM filled WHERE resource = ?1 AND key IN (?2, ?3) AND section = ?4 AND item = ?5"
            " ORDER BY key = ?2 DESC",
            *(resource.name, key_of(record_id), key_of(self.resolve(record_id))),
            *(section.name, "" if item is None else key_of(item)),
        )
        if text is None:
            return None
        fields = {section.renames.get(name, name): value for name, value in json.loads(text).items()}
        return {name: value for name, value in fields.items() if name in section.fields}

    def as_answered(self, resource: Resource, record: Json) -> Json:
        """Returns an earlier version of a record with real ids. A row with a temporary id was read before the answer
        to its creation. It gets the values of the answer for each field without a value."""
        real_id = self.resolve(record["id"])  # First, because a resolved id has an answer.
        for section in resource.sections:
            part = record.get(section.name)
            for row in part or [] if section.is_list else [] if part is None else [part]:
                item = row["id"] if section.is_list else None
                real_item = self.resolve(item)
                if real_id != record["id"] or real_item != item:
                    row_changes.fill(row, self.filled(resource, record["id"], section, item) or {})
                if section.is_list:
                    row["id"] = real_item
        return {**record, "id": real_id}

    def view_at(self, resource: str, key: str) -> Json | None:
        """Returns the record under a key as an app reads it."""
        edits = self._stacked(resource, key)
        return self._over(resource, self._base(resource, key), edits[0].id if edits else None, edits)

    def edited(self, resource: str) -> dict[str, Json | None]:
        """Returns the edited records of a resource as an app reads them, by key."""
        keys = self.database.rows(
            "SELECT DISTINCT e.key FROM edit e JOIN push p ON p.seq = e.push WHERE e.resource = ? AND p.state IN (0, 1, 2)",
            resource,
        )
        return {key: self.view_at(resource, key) for (key,) in keys}

    def _base(self, resource: str, key: str) -> Json | None:
        text = self.database.value("SELECT record FROM base WHERE resource = ? AND key = ?", resource, key)
        return None if text is None else json.loads(text)

    def pending(self, resource: str, key: str) -> list[StoredEdit]:
        """Returns the edits of a record that have no answer yet, in their order."""
        return self._edits("e.resource = ? AND e.key = ? AND p.state IN (0, 1)", resource, key)

    def _stacked(self, resource: str, key: str) -> list[StoredEdit]:
        """Returns the edits above a base: those without an answer, and those of large pushes that no page contains
        yet."""
        return self._edits("e.resource = ? AND e.key = ? AND p.state IN (0, 1, 2)", resource, key)

    def edits_of(self, seq: int) -> list[StoredEdit]:
        """Returns the edits of a push."""
        return self._edits("e.push = ?", seq)

    def _edits(self, condition: str, *values: Any) -> list[StoredEdit]:
        rows = self.database.rows(
            "SELECT e.push, e.place, p.state, e.resource, e.key, e.id, e.changes FROM edit e"
            f" JOIN push p ON p.seq = e.push WHERE {condition} ORDER BY e.push, e.place",
            *values,
        )
        return [
            StoredEdit(push, place, state, resource, key, json.loads(record_id), json.loads(changes))
            for push, place, state, resource, key, record_id, changes in rows
        ]

    def _over(self, resource: str, record: Json | None, record_id: Any, edits: list[StoredEdit]) -> Json | None:
        known = self._known(resource)
        if known is None:
            return record
        for edit in edits:
            record = row_changes.apply(known, record, record_id, edit.changes)
        return record

    def _seen(self, resource: str, key: str, *, before: int | None = None) -> Json | None:
        """Returns the record beneath the drafts, with base and sent edits, or with all edits before a push."""
        edits = self._stacked(resource, key)
        below = [edit for edit in edits if edit.push < before] if before else [e for e in edits if e.state != UNSENT]
        return self._over(resource, self._base(resource, key), None, below)

    def all(self, resource: str) -> list[Json]:
        """Returns all records of a resource as an app reads them, in the order of keys."""
        with self.database.lock:
            found = {
                key: json.loads(text)
                for key, text in self.database.rows("SELECT key, record FROM base WHERE resource = ?", resource)
            }
            known = self._known(resource)
            if known is not None:
                for edit in self._edits("e.resource = ? AND p.state IN (0, 1, 2)", resource):
                    record = row_changes.apply(known, found.get(edit.key), edit.id, edit.changes)
                    if record is None:
                        found.pop(edit.key, None)
                    else:
                        found[edit.key] = record
        return sorted(found.values(), key=lambda record: order_of(record["id"]))

    def counts(self) -> tuple[int, int]:
        """Returns the number of edits without an answer, and the number of refused pushes."""
        unsent = self.database.value(
            "SELECT count(*) FROM edit e JOIN push p ON p.seq = e.push WHERE p.state IN (0, 1)"
        )
        refused = self.database.value("SELECT count(*) FROM push WHERE state = ?", REFUSED)
        return int(unsent), int(refused)

    def unjournaled(self) -> int:
        """Returns the number of edits that no journal contains: edits without an answer, and entries that were
        refused without a result of the gateway."""
        refusals = self.database.rows("SELECT refusal FROM push WHERE state = ?", REFUSED)
        return self.counts()[0] + sum(not json.loads(text)["hasRecord"] for (text,) in refusals)

    def edit_count(self) -> int:
        """Returns a number that grows with each edit of the app in any process."""
        return int(self.database.value("SELECT coalesce(max(seq), 0) FROM ticket"))

    def state(self, resource: str, record_id: Any, path: tuple[Any, ...]) -> str:
        """Returns `clean`, `draft`, `sending` or `refused` for a path: a record, a section, an item of a list, or a
        group."""
        self._check_names(resource, path)
        with self.database.lock:
            key = key_of(self.resolve(record_id))
            edits = self._edits("e.resource = ? AND e.key = ? AND p.state <> 2", resource, key)
        states = {
            edit.state for edit in edits if any(_concerns(change, path, resource, self) for change in edit.changes)
        }
        for state, word in ((UNSENT, "draft"), (SENT, "sending"), (REFUSED, "refused")):
            if state in states:
                return word
        return "clean"

    def check_name(self, resource: str) -> None:
        """Throws `UnknownName` if the rules are known and do not have the resource."""
        if self.rules is not None:
            self.rules.resource(resource)

    def _check_names(self, resource: str, path: tuple[Any, ...]) -> None:
        if self.rules is None:
            return
        known = self.rules.resource(resource)
        if not path:
            return
        section = known.section(str(path[0]))
        rest = path[1:]
        if section.is_list and not (len(rest) == 1 and rest[0] in [group.name for group in section.groups]):
            rest = rest[1:]  # the item's id
        if rest and rest[0] in section.group_of and rest[0] not in [group.name for group in section.groups]:
            # A field is not a group. The state is that of its group.
            raise UnknownName(f"{section.name}.{rest[0]}", rest[0], section.group_of[rest[0]].name)
        if rest:
            section.group(str(rest[0]))

    def place(self) -> tuple[str | None, int | None]:
        """Returns feed and revision up to which all changes are stored; `None` for both before the first snapshot
        ends."""
        revision = self.database.meta("revision")
        return (None, None) if revision is None else (self.database.meta("feed"), revision)

    def _first(self, places: list[list[str]]) -> Json | None:
        return self.view(places[0][0], self._id_of(*places[0])) if places else None

    def _id_of(self, resource: str, key: str) -> Any:
        text = self.database.value("SELECT id FROM base WHERE resource = ? AND key = ?", resource, key)
        return key.split("\x1f") if text is None and "\x1f" in key else key if text is None else json.loads(text)


def _concerns(change: RowChange, path: tuple[Any, ...], resource: str, model: Reading) -> bool:
    """Returns whether a row change concerns a path: a record, a section, an item or a group."""
    if not path:
        return True
    if change["section"] != path[0]:
        return False
    rest = list(path[1:])
    known = model._known(resource)
    section = known.section(change["section"]) if known is not None and known.has(change["section"]) else None
    if "id" in change and rest:
        if section is not None and rest[0] in [group.name for group in section.groups] and len(rest) == 1:
            return _has_group(change, rest[0])
        if key_of(change["id"]) != key_of(model.resolve(rest[0])):
            return False
        rest = rest[1:]
    return not rest or _has_group(change, rest[0])


def _has_group(change: RowChange, group: Any) -> bool:
    return change["do"] != "edit" or group in change["groups"]
