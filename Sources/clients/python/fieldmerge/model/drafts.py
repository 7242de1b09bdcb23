"""Edits of the app: added to the queue, joined with waiting edits, changed if they are overtaken."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..errors import InvalidEdit, RecordNotFound, StoreClosed
from ..ids import key_of
from ..owners import has_ended
from ..renames import renamed
from ..rules import Resource
from .conflicts import told_fields
from .parts import UNSENT, Draft, StoredEdit
from .discarding import Discarding


class Drafts(Discarding):
    """Edits that were not sent yet."""

    def commit(self, drafts: list[Draft], *, atomic: str | None, replaces: int | None = None) -> str:
        """Stores an edit of the app with its ticket, in one transaction. Returns the ticket's token.

        `replaces` is a refused push that the edit replaces.
        """
        with self.database.transaction("edit"):
            self._check_open()
            tokens = [] if replaces is None else self._replace_refused(replaces)
            drafts = [self._under_present_names(draft) for draft in drafts]
            edits = [self._prepared(draft) for draft in drafts]
            passed = any(draft.is_based and not self._is_seen(*edit) for draft, edit in zip(drafts, edits))
            token = str(uuid.uuid4())
            number = int(self.database.value("SELECT coalesce(max(seq), 0) + 1 FROM ticket"))
            records = [[resource.name, key_of(record_id)] for resource, record_id, _ in edits]
            first_id = edits[0][1] if edits else None
            at = self.clock.now()
            self.database.write(
                "INSERT INTO ticket VALUES (?, ?, NULL, ?, ?, ?, NULL, ?)",
                *(token, number, json.dumps(first_id), key_of(first_id), json.dumps(records), at),
            )
            tokens.append(token)
            changed = [edit for edit in edits if edit[2]]
            if not changed:
                record = self._first(records)
                for one in tokens:
                    self._resolve(one, {"status": "merged", "conflicts": [], "problem": None, "record": record})
            else:
                refused = self._refused_makers([(record_id, rows) for _, record_id, rows in changed])
                seq = None if refused or passed else self._join(changed, atomic)
                if seq is None:
                    seq = self._append([(one.name, record_id, rows) for one, record_id, rows in changed], atomic)
                for one in tokens:
                    self.database.write("UPDATE ticket SET push = ?, outcome = NULL WHERE token = ?", seq, one)
                self._settle_cancelled(seq)
                if passed and not refused:
                    self._tell_passed(seq)
                if refused:
                    self._refuse_dependent(seq, *refused[0])
            self._touched.update((resource.name, key_of(record_id)) for resource, record_id, _ in edits)
            self._tell()
        return token

    def _under_present_names(self, draft: Draft) -> Draft:
        known = self._known(draft.resource)
        return draft if known is None else replace(draft, changes=renamed(known, draft.changes))

    def _is_seen(self, resource: Resource, record_id: Any, changes: list[RowChange]) -> bool:
        """Returns whether the record still has the base's values of the groups that a based edit changes."""
        return row_changes.is_seen(resource, self.view(resource.name, record_id), changes)

    def _check_open(self) -> None:
        """Throws `StoreClosed` if this or another process has signed out."""
        if self.database.meta("signedOut"):
            raise StoreClosed("the store is signed out")

    def _prepared(self, draft: Draft) -> tuple[Resource, Any, list[RowChange]]:
        resource = self.resource(draft.resource)
        temporary = {one: self.resolve(one) for one in row_changes.used_ids(draft.id, draft.changes)}
        record_id, changes = row_changes.map_ids(draft.id, draft.changes, temporary)
        if draft.base is not None:
            self._revive(resource.name, record_id, {**draft.base, "id": record_id})
        seen = self.view(resource.name, record_id)
        creates = row_changes.is_creation(changes, resource)
        if seen is None and changes and not creates:
            raise RecordNotFound(resource.name, record_id)
        if seen is not None and creates:
            raise InvalidEdit("id", f"there is a record {record_id!r} of {resource.name} already")
        assert self.rules is not None
        if self.rules.edition != draft.rules_version or draft.is_based:
            # A base lacks fields if it was read under other rules.
            changes = row_changes.regroup(resource, seen, changes)
        changes = self._filled_since(resource, draft, changes)
        return resource, record_id, self._marked(resource, record_id, changes)

    def _filled_since(self, resource: Resource, draft: Draft, changes: list[RowChange]) -> list[RowChange]:
        """Returns changes whose `old` contains the answers to creations that came after the edit began."""
        begun: Json = {"id": draft.id}
        for change in draft.changes:
            if "id" in change:
                begun.setdefault(change["section"], []).append({"id": change["id"]})
            else:
                begun[change["section"]] = {}
        told = self.as_answered(resource, begun)
        rows = {
            row_changes.place_of_row(one): row_changes.row_of(resource.section(one["section"]), told, one) or {}
            for one in changes
        }
        unknown = {place: set(row) for place, row in rows.items()}
        return row_changes.fill_unknown(resource, told, row_changes.mark_unknown(changes, unknown))

    def _join(self, edits: list[tuple[Resource, Any, list[RowChange]]], atomic: str | None) -> int | None:
        """Adds an edit to the unsent push that contains all of its records, if a push may accept it."""
        places = [(resource.name, key_of(record_id)) for resource, record_id, _ in edits]
        seq: int | None = None
        for resource_name, key in places:
            for edit in self.pending(resource_name, key):
                seq = max(seq or 0, edit.push)
        if seq is None:
            return None
        state, push_atomic, owner = self.database.row("SELECT state, atomic, owner FROM push WHERE seq = ?", seq)
        if not self._may_join(owner):
            return None  # Its process may have sent it without storing that.
        if state != UNSENT or (push_atomic != atomic and (atomic is not None or len(edits) > 1)):
            return None
        held = {(edit.resource, edit.key): edit for edit in self.edits_of(seq)}
        if not all(place in held for place in places):
            return None
        for _, record_id, changes in edits:
            for temporary in row_changes.used_ids(record_id, changes):
                made = self.database.value("SELECT push FROM creation WHERE temporary = ?", temporary)
                if made is not None and made > seq:
                    return None
        composed: list[tuple[StoredEdit, Resource, list[RowChange]]] = []
        for place, (resource, record_id, changes) in zip(places, edits):
            joined = row_changes.compose(resource, held[place].changes, changes)
            if joined is None or self._drops_what_is_used(held[place], resource, joined):
                return None
            if self._cancels_above_another(held[place], resource, changes, joined):
                return None
            composed.append((held[place], resource, joined))
        if not self._fits(seq, {edit.place: joined for edit, _, joined in composed}):
            return None
        for edit, _, joined in composed:
            if joined:
                self._write_changes(seq, edit.place, joined)
            else:
                self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
        self._note_creations(seq)
        return seq

    def _cancels_above_another(
        self, edit: StoredEdit, resource: Resource, changes: list[RowChange], joined: list[RowChange]
    ) -> bool:
        """Returns whether a group would not be sent although the value below differs from the app's value."""
        below = self._seen(edit.resource, edit.key, before=edit.push)
        for change in changes:
            section, mark = resource.section(change["section"]), row_changes.place_of_row(change)[1]
            row = row_changes.row_of(section, below, change)
            for name, values in change.get("groups", {}).items():
                group = section.group(name)
                if row is None or group.merge in ("add", "set"):
                    continue  # Counters and collections are sent as a difference.
                is_sent = row_changes.change_of(joined, section.name, mark, name) is not None
                if not is_sent and not row_changes.equal_where_known(group, row, values["new"]):
                    return True
        return False

    def _may_join(self, owner: str | None) -> bool:
        """Returns whether this process made a push, or its process has ended."""
        return owner in (None, self.owner) or has_ended(str(owner))

    def _drops_what_is_used(self, edit: StoredEdit, resource: Resource, joined: list[RowChange]) -> bool:
        """Returns whether a row would never be created although another edit uses its temporary id."""
        root = resource.root.name
        before = set(row_changes.created_ids(edit.id, edit.changes, root))
        dropped = before - set(row_changes.created_ids(edit.id, joined, root))
        for temporary in dropped:
            if temporary in row_changes.used_ids(edit.id if joined else None, joined):
                return True
            users = self.database.value(
                "SELECT 1 FROM edit WHERE (id LIKE ?1 OR changes LIKE ?1) AND NOT (push = ?2 AND place = ?3)",
                *(f"%{temporary}%", edit.push, edit.place),
            )
            if users:
                return True
        return False

    def _fits(self, seq: int, joined: Mapping[int, list[RowChange]]) -> bool:
        limits = self.rules.limits if self.rules else {}
        rows = size = 0
        for edit in self.edits_of(seq):
            changes = joined.get(edit.place, edit.changes)
            rows += len(changes)
            size += len(json.dumps(changes)) + 200
        return rows <= limits.get("items", 10_000) and size <= limits.get("body", 1 << 20) * 0.8

    def keep_mine(self, told: Json) -> bool:
        """Makes the value of an entry the `old` of its edit, in one transaction. Returns false if the edit was
        sent."""
        return self._redraft(told, keeps=True)

    def take_theirs(self, told: Json) -> bool:
        """Drops the edit of an entry and the later edits that build on it, in one transaction. Returns false if it
        was sent."""
        return self._redraft(told, keeps=False)

    def _redraft(self, told: Json, *, keeps: bool) -> bool:
        with self.database.transaction("overtaken"):
            resource = self.resource(told["resource"])
            section = resource.section(told["section"])
            name = section.present_group(told["group"])
            group = next((one for one in section.groups if one.name == name), None)
            key = key_of(self.resolve(told["id"]))
            item = None if told.get("item") is None else key_of(self.resolve(told["item"]))
            drafts = [
                edit for edit in self.pending(resource.name, key) if edit.state == UNSENT and edit.push >= told["push"]
            ]
            if group is None or not drafts or drafts[0].push != told["push"]:
                return False
            last: Json | None = None
            for edit in drafts:
                change = row_changes.change_of(edit.changes, section.name, item, group.name)
                if change is None:
                    continue
                values = change["groups"][group.name]
                if last is not None and (keeps or not row_changes.follows(group, last, values["old"])):
                    continue  # It does not build on the edit of the entry.
                last = values["new"]
                old = {**values["old"], **told_fields(section, told, "current")}
                is_kept = keeps and not row_changes.equal_groups(group, old, last)
                self._write_group(edit, change, group.name, {"old": old, "new": last} if is_kept else None)
                if is_kept:
                    self._tell_passed(edit.push, only={(section.name, item, group.name)})
            self._touched.add((resource.name, key))
            self._tell()
        return last is not None

    def _write_group(self, edit: StoredEdit, change: RowChange, name: str, values: Json | None) -> None:
        """Replaces the values of a group in an edit. `None` removes the group."""
        groups = {one: held for one, held in change["groups"].items() if one != name or values is not None}
        if values is not None:
            groups[name] = values
        others = [{**one, "groups": groups} if one is change else one for one in edit.changes]
        changes = [one for one in others if one["do"] != "edit" or one["groups"]]
        if changes:
            self._write_changes(edit.push, edit.place, changes)
        else:
            self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", edit.push, edit.place)
        self._settle_cancelled(edit.push)
