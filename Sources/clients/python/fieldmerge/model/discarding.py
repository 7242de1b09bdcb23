"""Unsent edits that the app discards."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from .. import changes as row_changes
from ..errors import NotPossible
from ..ids import key_of
from ..uncovering import uncover
from ..values import json_equal
from .order import Ties
from .parts import SENT, UNSENT, GroupPlace, StoredEdit
from .resending import Resending


@dataclass(frozen=True)
class UnsentPush:
    """A push without an answer."""

    seq: int
    is_sent: bool
    edits: list[StoredEdit]


class Discarding(Resending):
    """The list of waiting edits, and the discarding of unsent edits."""

    def unsent(self) -> list[UnsentPush]:
        """Returns the pushes without an answer, in their order."""
        with self.database.lock:
            rows = self.database.rows("SELECT seq, state FROM push WHERE state IN (0, 1) ORDER BY seq")
            return [UnsentPush(seq, state == SENT or self.is_unstored(seq), self.edits_of(seq)) for seq, state in rows]

    def is_unstored(self, seq: int) -> bool:
        """Returns whether a push was sent although the store could not be written."""
        raise NotImplementedError

    def _end_stays(self) -> None:
        """Deletes records that left the filter and have no pending edit."""
        raise NotImplementedError

    def _tell_passed(self, seq: int, *, only: Collection[GroupPlace] | None = None) -> None:
        """Adds entries for the groups of a push that another edit has changed since `old`. Removes the entries of its
        other groups."""
        raise NotImplementedError

    def discard_unsent(self, seq: int, shown: Collection[StoredEdit]) -> bool:
        """Removes a push and the edits that use its new rows from the queue, in one transaction. Returns false if the
        push has an answer. Throws `NotPossible` if it was sent, or if its edits differ from those that the app has
        read."""
        with self.database.transaction("discard unsent"):
            state = self.database.value("SELECT state FROM push WHERE seq = ?", seq)
            if state == SENT:
                raise NotPossible("sending", "The gateway may have it. Wait for the answer.")
            if state != UNSENT:
                return False
            if not json_equal(self._values(shown), self._values(self.edits_of(seq))):
                raise NotPossible("changed", "This edit has changed since the list was read. Read the list again.")
            self._take_out(seq)
            self._end_stays()
            self._tell()
        return True

    def _values(self, edits: Collection[StoredEdit]) -> list[Any]:
        """Returns the new values of edits, with the current ids."""
        found: list[Any] = []
        for edit in edits:
            ids = {one: self.resolve(one) for one in row_changes.used_ids(edit.id, edit.changes)}
            record_id, changes = row_changes.map_ids(edit.id, edit.changes, ids)
            rows = []
            for change in changes:
                groups = {name: values["new"] for name, values in change.get("groups", {}).items()}
                rows.append((row_changes.place_of_row(change), change["do"], groups, change.get("new")))
            found.append((edit.resource, key_of(record_id), rows))
        return found

    def _take_out(self, seq: int) -> None:
        edits = self.edits_of(seq)
        made = self._all_creations(seq)
        created = {
            (edit.resource, edit.key)
            for edit in edits
            if (known := self._known(edit.resource)) and row_changes.is_creation(edit.changes, known)
        }
        self._discard_tickets("push = ? AND outcome IS NULL", seq)
        self._leave_overtaken(seq)
        for table, column in (("edit", "push"), ("creation", "push"), ("push", "seq")):
            self.database.write(f"DELETE FROM {table} WHERE {column} = ?", seq)
        for edit in edits:
            self._touched.add((edit.resource, edit.key))
        for (other,) in self.database.rows(
            "SELECT seq FROM push WHERE state = 0 AND seq > ? ORDER BY seq", seq
        ):
            if self._uses(other, made, created):
                self._take_out(other)
        for edit in edits:
            self._uncover(edit)

    def _uses(self, seq: int, made: list[str], created: set[tuple[str, str]]) -> bool:
        edits = self.edits_of(seq)
        used = {one for edit in edits for one in row_changes.used_ids(edit.id, edit.changes)}
        if used & set(made) or any((edit.resource, edit.key) in created for edit in edits):
            return True
        return not Ties.of(edits, self._known).names.isdisjoint(created)

    def _uncover(self, discarded: StoredEdit) -> None:
        """Copies the `old` of a discarded edit to later edits of its groups."""
        known = self._known(discarded.resource)
        if known is None:
            return
        changes = discarded.changes
        places = {(*row_changes.place_of_row(one), name) for one in changes for name in one.get("groups", {})}
        for later in self.pending(discarded.resource, discarded.key):
            if later.push < discarded.push or later.state != UNSENT:
                continue
            kept, changes = uncover(known, changes, later.changes)
            is_changed = not json_equal(kept, later.changes)
            if kept and is_changed:
                self._write_changes(later.push, later.place, kept)
            elif not kept:
                self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", later.push, later.place)
            if is_changed:
                self._note_creations(later.push)
                self._settle_cancelled(later.push)
            self._tell_passed(later.push, only=places)
