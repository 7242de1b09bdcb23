"""The app's decisions on conflicts: each decision is a new edit, and removes the entry from the list."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from .changes import Json
from .delivery import Delivery
from .editing import as_plain
from .errors import NotPossible
from .ids import key_of
from .model.conflicts import told_fields
from .rules import Group, Section
from .tickets import Conflict, Overtaken, Ticket
from .transaction import Transaction
from .values import same, without

log = logging.getLogger("fieldmerge")


class Decisions(Delivery):
    """Decisions about conflicts and overtaken edits."""

    def transaction(self, *, atomic: str | None = None) -> Transaction:
        raise NotImplementedError

    def _decide(self, entry: Conflict | Overtaken, decision: Callable[[], Any]) -> Any:
        """Removes an entry in the transaction of the decision; `None` if the app has decided it before, or if its edit was
        never sent."""
        with self._database.transaction("decision"):
            if entry.name is not None and not self._model.take_entry(entry.name, was=entry.kind):
                return None
            return decision()

    def _dismiss(self, entry: Conflict | Overtaken) -> None:
        try:
            self._decide(entry, lambda: None)
        except NotPossible:
            pass  # it has left the list

    def _answer(self, conflict: Conflict, value: Any) -> None:
        """Makes the answer of a handler of conflicts a new edit."""
        try:
            self._decide(conflict, lambda: self._write_group(conflict, self._spread(conflict, value)))
        except Exception:
            log.exception("the answer to a conflict of %s %s cannot be stored", conflict.resource, conflict.id)

    def _take_mine(self, conflict: Conflict) -> Ticket | None:
        ticket: Ticket | None = self._decide(conflict, lambda: self._write_mine(conflict))
        return ticket

    def _take_current(self, conflict: Conflict) -> Ticket | None:
        ticket: Ticket | None = self._decide(conflict, lambda: self._write_current(conflict))
        return ticket

    def _write_current(self, conflict: Conflict) -> Ticket | None:
        """Writes the value that this client has overwritten; nothing if it is in the database."""
        current, written = as_plain(conflict.current), as_plain(conflict.written)
        if current == written:
            return None
        if conflict.group is None:
            return self._create_row(conflict, current) if isinstance(current, dict) else None
        values, now = self._fields(conflict, "current"), self._fields(conflict, "written")
        if self._are_equal(conflict, values, now):
            return None
        return self._write_group(conflict, values)

    def _write_mine(self, conflict: Conflict) -> Ticket | None:
        values = as_plain(conflict.new)
        if conflict.group is not None:
            return self._write_group(conflict, self._fields(conflict, "new"))
        if conflict.outcome == "kept":
            return self._delete_row(conflict)
        if conflict.outcome in ("missing", "refused") and isinstance(values, dict):
            return self._create_row(conflict, {**(as_plain(conflict.old) or {}), **values})
        return None

    def _section(self, entry: Conflict | Overtaken) -> Section:
        return self._model.resource(entry.resource).section(str(entry.section))

    def _spread(self, conflict: Conflict, value: Any) -> Json:
        """Returns the answer of a handler as fields."""
        return self._group(self._section(conflict), conflict).spread(as_plain(value))

    def _fields(self, entry: Conflict | Overtaken, side: str) -> Json:
        """Returns a value of an entry as fields of the active rules; throws `UnknownName` if they have none of them."""
        section = self._section(entry)
        told = {"group": entry.group, "fields": entry._fields, side: as_plain(getattr(entry, side))}
        return told_fields(section, told, side) or self._group(section, entry).spread(told[side])

    def _group(self, section: Section, entry: Conflict | Overtaken) -> Group:
        return section.group(section.present_group(str(entry.group)))

    def _are_equal(self, entry: Conflict, one: Json, other: Json) -> bool:
        section = self._section(entry)
        return one.keys() == other.keys() and all(same(section.fields[name], one[name], other[name]) for name in one)

    def _write_group(
        self, conflict: Conflict | Overtaken, values: Json, *, counts: Callable[[Group, Any], Json] | None = None
    ) -> Ticket | None:
        with self.transaction() as transaction:
            record = transaction.edit(conflict.resource, conflict.id)
            section = record._resource.section(str(conflict.section))
            row = record[section.name]
            if section.is_list:
                key = key_of(self._model.resolve(conflict.item))
                row = next((item for item in row if key_of(item["id"]) == key), None)
                if row is None:
                    row = record[section.name]
                    row.append(values)
                    row = row[-1]
            row.update(values if counts is None else counts(self._group(section, conflict), row))
        return transaction.ticket

    def _delete_row(self, conflict: Conflict) -> Ticket | None:
        with self.transaction() as transaction:
            record = transaction.edit(conflict.resource, conflict.id)
            section = record._resource.section(str(conflict.section))
            if section.is_list:
                key = key_of(self._model.resolve(conflict.item))
                items = record[section.name]
                items[:] = [item for item in items if key_of(item["id"]) != key]
            elif section is record._resource.root:
                transaction.delete(conflict.resource, conflict.id)
            else:
                record[section.name] = None
        return transaction.ticket

    def _create_row(self, conflict: Conflict, values: Json) -> Ticket | None:
        known = self._model.resource(conflict.resource)
        section = known.section(str(conflict.section))
        with self.transaction() as transaction:
            if section is known.root:
                own_key = None if section.is_generated else conflict.id
                transaction.create(conflict.resource, own_key)[section.name] = values
            elif section.is_list:
                own = {} if section.is_generated else {"id": conflict.item}
                transaction.edit(conflict.resource, conflict.id)[section.name].append({**own, **values})
            else:
                transaction.edit(conflict.resource, conflict.id)[section.name] = values
        return transaction.ticket

    def _keep_mine(self, overtaken: Overtaken) -> bool:
        if overtaken.draft is not None:
            return bool(overtaken.draft._take(overtaken, theirs=False))
        return bool(self._decide(overtaken, lambda: self._keep(overtaken)))

    def _take_theirs(self, overtaken: Overtaken) -> bool:
        if overtaken.draft is not None:
            return bool(overtaken.draft._take(overtaken, theirs=True))
        return bool(self._decide(overtaken, lambda: self._drop(overtaken)))

    def _keep(self, overtaken: Overtaken) -> bool:
        if self._model.keep_mine(overtaken._told):
            return True
        return self._write_group(overtaken, self._fields(overtaken, "new")) is not None

    def _drop(self, overtaken: Overtaken) -> bool:
        if self._model.take_theirs(overtaken._told):
            return True
        told = overtaken._told
        if told.get("isUndone"):
            return False
        current = self._fields(overtaken, "current")
        group = self._section(overtaken).group_of[next(iter(current))]
        if group.merge != "add" or not self._model.was_sent(told["push"]):
            return self._write_group(overtaken, current) is not None

        def without_mine(group: Group, row: Any) -> Json:
            # The sent push has added to their value. Only its reverse restores their value.
            left = without(group, {one.name: row.get(one.name) for one in group.fields}, told["old"], told["new"])
            return current if left is None else left

        ticket = self._write_group(overtaken, current, counts=without_mine)
        told["isUndone"] = True  # a second call would undo it twice
        return ticket is not None
