"""New versions of records from the server, and their effect on drafts."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..ids import key_of
from ..rules import Resource
from .conflicts import place_of
from .parts import UNSENT, GroupPlace, Place, StoredEdit, new_problem
from .sending import Sending


class Rebasing(Sending):
    """New bases, and drafts that they overtake."""

    def _put(
        self, resource: str, record_id: Any, record: Json | None, *, before: Json | None, is_pulled: bool = False
    ) -> None:
        key = key_of(record_id)
        self._touched.add((resource, key))
        self._incoming.append((resource, record_id, before, record))
        pulls = (self.database.meta("pulls") or 0) if is_pulled else 0
        if record is None:
            self._last[resource, key] = self._base(resource, key)
            self.database.write("DELETE FROM base WHERE resource = ? AND key = ?", resource, key)
            if is_pulled:
                self.database.write("INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?)", resource, key, pulls)
            return
        generation = self.database.meta("generation") or 0
        self.database.write(
            "INSERT OR REPLACE INTO base VALUES (?, ?, ?, ?, ?, ?)",
            *(resource, key, json.dumps(record["id"]), json.dumps(record), generation, pulls),
        )

    def _stores(self, resource: str, key: str) -> bool:
        return self.keeps(resource) or self._base(resource, key) is not None

    def _end_stays(self) -> None:
        """Deletes records that left the filter once their edits have an answer."""
        for resource, record_id in self._left():
            if not self.pending(resource, key_of(record_id)):
                self._note_left(resource, record_id, False)
                self._lose(resource, record_id)

    def _lose(self, resource: str, record_id: Any, *, tells_gone: bool = True) -> None:
        """Deletes a record that the server no longer reports."""
        place = resource, key_of(record_id)
        before, was = self._seen(*place), self.view(resource, record_id)
        self._put(resource, record_id, None, before=was, is_pulled=True)
        self._rebase(place, before, tells_gone=tells_gone, was=was)

    def _rebase(
        self,
        place: Place,
        before: Json | None,
        *,
        tells_gone: bool = False,
        was: Json | None = None,
        by: Json | None = None,
    ) -> None:
        """Updates the drafts of a record for a new base, and reports those that it overtakes."""
        resource_name, key = place
        known = self._known(resource_name)
        drafts = [edit for edit in self.pending(resource_name, key) if edit.state == UNSENT]
        after = self._seen(resource_name, key)
        if known is None:
            return
        if after is None and before is not None and self._base(resource_name, key) is None:
            is_drafted = False
            for draft in drafts:
                if self.database.value("SELECT state FROM push WHERE seq = ?", draft.push) != UNSENT:
                    continue
                if row_changes.is_creation(draft.changes, known):
                    break
                if row_changes.is_deletion(draft.changes, known):
                    self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", draft.push, draft.place)
                    self._settle_cancelled(draft.push)
                    continue
                if not is_drafted:
                    last = self._last.get(place)
                    self._queue("gone", {"resource": resource_name, "id": draft.id, "record": last})
                is_drafted = True
                detail = f"The record {draft.id} of {resource_name} is gone."
                index = [edit.place for edit in self.edits_of(draft.push)].index(draft.place)
                self._refuse(draft.push, new_problem("gone", 410, "Gone", detail), [], fault=index)
            if tells_gone and not is_drafted and was is not None:
                last = self._last.get(place)
                self._queue("gone", {"resource": resource_name, "id": was["id"], "record": last})
            return
        told: set[tuple[str, str, str]] = set()
        for draft in drafts:
            for change in draft.changes:
                if change["do"] != "edit" or not known.has(change["section"]):
                    continue
                for name, values in change["groups"].items():
                    mark = change["section"], key_of(change["id"]) if "id" in change else "", name
                    if mark in told:
                        continue
                    told.add(mark)
                    self._tell_overtaken(known, draft, change, name, before=before, after=after, drafts=drafts, by=by)

    def _tell_overtaken(
        self,
        resource: Resource,
        draft: StoredEdit,
        change: RowChange,
        name: str,
        *,
        before: Json | None,
        after: Json | None,
        drafts: list[StoredEdit],
        by: Json | None,
    ) -> None:
        section = resource.section(change["section"])
        group = next((one for one in section.groups if one.name == name), None)
        if group is None:
            return
        one, other = (row_changes.row_of(section, record, change) for record in (before, after))
        if one is None or other is None:
            return
        old, current = row_changes.fields_of(group, one), row_changes.fields_of(group, other)
        seen = change["groups"][name]["old"]
        equal = row_changes.equal_where_known
        if equal(group, current, seen):
            self._leave(draft.push, place_of(resource.name, draft.key, section.name, change.get("id"), name))
            return
        if equal(group, old, current):
            return
        new = change["groups"][name]["new"]
        for later in drafts:
            for again in later.changes:
                if row_changes.place_of_row(again) == row_changes.place_of_row(change) and name in again.get("groups", {}):
                    new = again["groups"][name]["new"]
        told = {
            "push": draft.push,
            "resource": resource.name,
            "id": draft.id,
            "section": section.name,
            "item": change.get("id"),
            "group": name,
            "old": group.value(seen),
            "current": group.value(current),
            "new": group.value(new),
            "by": by,
        }
        self._queue("overtaken", self._enter("overtaken", draft.push, draft.key, told))

    def _tell_passed(self, seq: int, *, only: Collection[GroupPlace] | None = None) -> None:
        for draft in self.edits_of(seq):
            known = self._known(draft.resource)
            after = self._seen(draft.resource, draft.key, before=seq)
            if known is None or after is None:
                continue
            for change in draft.changes:
                for name, values in change.get("groups", {}).items():
                    if only is not None and (*row_changes.place_of_row(change), name) not in only:
                        continue
                    before = _with_old(known, after, change, values["old"])
                    self._tell_overtaken(known, draft, change, name, before=before, after=after, drafts=[draft], by=None)

    def visit(self, resource: str, record: Json) -> None:
        """Stores a record for an edit although its resource is not kept, in one transaction."""
        with self.database.transaction("visit"):
            if not self.pending(resource, key_of(record["id"])):
                self._put(resource, record["id"], record, before=None)
                self._incoming.clear()
                self._tell()


def _with_old(resource: Resource, record: Json, change: RowChange, old: Json) -> Json:
    """Returns a record as it was when the app began to edit a group."""
    record = copy.deepcopy(record)
    row = row_changes.row_of(resource.section(change["section"]), record, change)
    if row is not None:
        row.update(old)
    return record
