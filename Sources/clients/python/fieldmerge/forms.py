"""Forms: a record as it was when its user began to edit it, and a copy that she changes."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from .changes import Json, RowChange, apply, difference, equal_where_known, fields_of, fill, place_of_row, row_of, unnamed
from .editing import EditableRecord, as_read
from .errors import RecordNotFound, StoreClosed
from .ids import key_of, plain
from .model import Draft
from .rules import Group, Section
from .tickets import Overtaken, Ticket

if TYPE_CHECKING:
    from .store import Store


class RecordDraft:
    """A form of a record, as `store.draft` opens it. Nothing is stored before `save()`.

    `record` is the working copy, which the app changes as inside `edit`. Its values are checked by `save()`.
    """

    def __init__(
        self, store: Store, resource: str, record_id: Any, *, restores: tuple[int, list[RowChange]] | None = None
    ) -> None:
        self._store = store
        self._resource = store._model.resource(resource)
        self._rules_version = store._rules_version()
        self.id = store._model.resolve(plain(record_id))
        """The id of the record."""
        self._replaces = None if restores is None else restores[0]
        edits = store._model.pending(resource, key_of(self.id))
        self._unanswered = set(unnamed(self._resource, [edit.changes for edit in edits]))
        """The rows of which the answer to the creation is not known yet."""
        self._base: Json | None = store._to_edit(resource, self.id)
        if self._base is None and restores is None:
            raise RecordNotFound(resource, record_id)
        working = self._base if restores is None else apply(self._resource, self._base, self.id, restores[1])
        self.record = EditableRecord(self._resource, self.id, self._base, is_form=True)
        if working is not None:
            self._fill(working, [] if restores is None else restores[1])
        self._told: dict[tuple[str, str | None, str], Json] = {}
        self._is_saving = False
        self.is_open = True
        store._forms.append(self)

    def _fill(self, working: Json, changes: list[RowChange]) -> None:
        """Gives the working copy the values of a refused edit over the record as it is now."""
        given = {place_of_row(one): one["new"] for one in changes if one["do"] == "create"}
        filled = EditableRecord(self._resource, self.id, working, is_form=True)
        for section in self._resource.sections:
            part = filled._parts[section.name]
            for row in part if section.is_list else [part] if part is not None else []:
                change = {"section": section.name, "id": row._values.get("id")}
                if row_of(section, self._base, change) is None:
                    # A new row: fields that its creation omitted stay omitted.
                    mark = section.name, key_of(row._values["id"]) if section.is_list else None
                    for name in [name for name, value in row._values.items() if value is None]:
                        if name not in given.get(mark, {}):
                            del row._values[name]
                    object.__setattr__(row, "_is_new", True)
        object.__setattr__(filled, "_before", copy.deepcopy(self._base))
        self.record = filled

    @property
    def resource(self) -> str:
        """The name of the resource."""
        return self._resource.name

    @property
    def base(self) -> Any:
        """The record when the form was opened or last saved; `None` for a new record."""
        return as_read(self._base)

    def save(self) -> Ticket:
        """Stores the changes since the form was opened, or since the last `save()`, as one edit.

        Throws `InvalidEdit` for a value that does not fit; the form is then still open.
        """
        if not self.is_open:
            raise StoreClosed("the form is closed")
        try:
            with self._store._database.lock:
                self._is_saving = True
                self._take_filled()
                state = self.record._state()
                changes = difference(self._resource, self._base, state)
            draft = Draft(self.resource, self.id, changes, self._rules_version, base=self._base)
            ticket = self._store._commit([draft], None, replaces=self._replaces)
            self._replaces = None
            self._unanswered.update(unnamed(self._resource, [changes]))
            self._base = copy.deepcopy(state)
            object.__setattr__(self.record, "_before", copy.deepcopy(state))
            self._told.clear()
        finally:
            self._is_saving = False
        return ticket

    def close(self) -> None:
        """Ends the form, and drops unsaved changes."""
        self.is_open = False
        if self in self._store._forms:
            self._store._forms.remove(self)

    def __enter__(self) -> RecordDraft:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Changes below the form

    def _take_filled(self) -> None:
        """Stores the ids of new rows, and the values in the answers to their creations, in the base."""
        model = self._store._model
        real_id = model.resolve(self.id)  # First, because a resolved id has an answer.
        pending = model.pending(self.resource, key_of(real_id))
        for mark in self._unanswered - unnamed(self._resource, [edit.changes for edit in pending]).keys():
            section = self._resource.section(mark[0])
            values = model.filled(self._resource, self.id, section, mark[1])
            if values is None:
                continue
            for row in self._rows(section, mark[1]):
                fill(row, values)
                if section.is_list:
                    row["id"] = model.resolve(row["id"])
            if section.is_list and mark[1] is not None:
                self._unite(section, key_of(model.resolve(mark[1])))
            self._unanswered.discard(mark)
        self.id = real_id
        object.__setattr__(self.record, "id", real_id)

    def _unite(self, section: Section, key: str) -> None:
        """Leaves one of two rows with one id. A record has both if it was read while the server had stored a new row, and the
        push that creates the row had no answer: the row of the server, and that of the edit."""
        records = [record for record in (self._base, self.record._before) if record is not None]
        seen = [row for row in (self._base or {}).get(section.name) or [] if key_of(row["id"]) == key]
        items = self.record._parts[section.name]._items
        own = [row for row in items if key_of(row["id"]) == key]
        if len(seen) < 2:
            return
        # The edited item counts, not its copy.
        left = next((index for index, row in enumerate(own) if row._values not in seen), 0)
        old = left if len(own) == len(seen) else 0
        for record in records:
            _leave(record[section.name], [row for row in record[section.name] if key_of(row["id"]) == key], old)
        _leave(items, own, left)

    def _rows(self, section: Section, item: str | None) -> list[Json]:
        """Returns a row in the base, and in the working copy with its row for comparison."""
        records = [record.get(section.name) for record in (self._base, self.record._before) if record is not None]
        part = self.record._parts[section.name]
        if not section.is_list:
            return [row for row in [*records, None if part is None else part._values] if row is not None]
        rows = [row for record in records for row in record or []] + [row._values for row in part]
        return [row for row in rows if key_of(row["id"]) == item]

    def _overtaken(self) -> list[Overtaken]:
        """Returns the groups that both the form and the store have changed."""
        with self._store._database.lock:
            if self._is_saving:
                return []
            self._take_filled()
        current = self._store._model.view(self.resource, self.id)
        if current is None or self._base is None:
            return []
        found = []
        for change in difference(self._resource, self._base, self._typed()):
            section = self._resource.section(change["section"])
            row = row_of(section, current, change)
            for name, values in change.get("groups", {}).items():
                group = section.group(name)
                if row is None:
                    continue
                now = fields_of(group, row)
                mark = self._mark(change["section"], change.get("id"), name)
                if equal_where_known(group, now, self._told.get(mark, values["old"])):
                    continue
                self._told[mark] = now
                found.append(self._event(section, group, change, values, now))
        return found

    def _typed(self) -> Json:
        """The working copy, whether its values fit or not."""
        state: Json = {"id": self.id}
        for section in self._resource.sections:
            part = self.record._parts[section.name]
            if section.is_list:
                state[section.name] = [copy.deepcopy(item._values) for item in part]
            else:
                state[section.name] = None if part is None else copy.deepcopy(part._values)
        return state

    def _event(self, section: Section, group: Group, change: RowChange, values: Json, now: Json) -> Overtaken:
        return Overtaken(
            resource=self.resource,
            id=self.id,
            section=section.name,
            item=change.get("id"),
            group=self._present_name(section, group),
            old=as_read(group.value(values["old"])),
            current=as_read(group.value(now)),
            new=as_read(group.value(values["new"])),
            draft=self,
            _told=now,
            _store=self._store,
        )

    def _present_name(self, section: Section, group: Group) -> str:
        """Returns the name that the group has in the rules now."""
        known = self._store._model._known(self.resource)
        has_section = known is not None and known.has(section.name)
        return known.section(section.name).present_group(group.name) if known and has_section else group.name

    def _mark(self, section: str, item: Any, group: str) -> tuple[str, str | None, str]:
        return section, None if item is None else key_of(item), group

    def _take(self, event: Overtaken, *, theirs: bool) -> bool:
        """Makes the store's value the base of a group, and the value of the working copy."""
        section = self._resource.section(event.section)
        change = {"section": section.name} if event.item is None else {"section": section.name, "id": event.item}
        for record in (self._base, self.record._before):
            row = row_of(section, record, change)
            if row is not None:
                row.update(copy.deepcopy(event._told))
        if theirs:
            part = self.record._parts[section.name]
            rows = part if section.is_list else [part]
            for row in rows:
                if row is not None and (event.item is None or key_of(row["id"]) == key_of(event.item)):
                    row._values.update(copy.deepcopy(event._told))
        return True


def _leave(rows: list[Any], same: list[Any], index: int) -> None:
    """Removes all but one of equal rows."""
    left = [row for row in rows if not any(row is one for one in same) or row is same[index]]
    rows[:] = left
