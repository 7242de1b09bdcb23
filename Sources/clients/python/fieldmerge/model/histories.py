"""Pushes of another history: they wait for a snapshot, and the transaction that ends it rebuilds them.

Two notes: `otherHistory` has the numbers of pushes that wait to be rebuilt, each with true if its outcome is unknown.
`otherRecord` has the numbers of sent pushes whose id names another record in the snapshot.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..ids import is_temporary
from ..rules import Resource
from .answers import Answers
from .parts import SENT, UNSENT, Frozen, Place, StoredEdit, new_problem, outcome_unknown


@dataclass
class Parts:
    """The parts of each edit of a rebuilt push, by the edit's index."""

    kept: dict[int, list[RowChange]] = field(default_factory=dict)
    unknown: dict[int, list[RowChange]] = field(default_factory=dict)
    gone: int | None = None
    """The index of an edit whose record is gone."""


class Histories(Answers):
    """Pushes that the gateway has answered with `history-changed`."""

    def note_other_history(self, push: Frozen) -> None:
        """Pauses sending until a snapshot is stored, and schedules the rebuild of a push, in one transaction."""
        with self.database.transaction("history"):
            self._check_lease()
            if not self._is_under_way(push):
                return
            doubt = self.database.value("SELECT doubt FROM push WHERE seq = ?", push.seq)
            # This answer is for one request. The effect of an earlier request on the lost history is unknown.
            waiting = self.database.meta("otherHistory") or {}
            self.database.set_meta("otherHistory", {**waiting, str(push.seq): doubt > 1})
            self.database.set_meta("resnapshot", True)
            under_way = self.database.meta("snapshot")
            if under_way is None or under_way.get("feed") == json.loads(push.body).get("feed"):
                self.database.set_meta("snapshot", None)  # Otherwise it belongs to the new history.

    def rebuild(self) -> None:
        """Rebuilds the waiting pushes, in one transaction."""
        with self.database.transaction("rebuild"):
            self._check_lease()
            self._rebuild()
            self._tell()

    def _refuse_others(self, place: Place, held: Json | None, record: Json | None) -> None:
        """Refuses the edits of a record whose id names another record in a snapshot of another history."""
        snapshot, known = self.database.meta("snapshot"), self._known(place[0])
        if record is None or known is None or not snapshot or snapshot.get("feed") == self.database.meta("feed"):
            return
        if snapshot.get("unless") is not None:
            return  # The difference of two filters belongs to the same history.
        edits = self.pending(*place)
        if not edits or not row_changes.is_other(known, held, record, [edit.changes for edit in edits]):
            return
        waiting = self.database.meta("otherHistory") or {}
        for edit in edits:
            state = self.database.value("SELECT state FROM push WHERE seq = ?", edit.push)
            if state not in (UNSENT, SENT) or row_changes.is_creation(edit.changes, known):
                continue
            if state == UNSENT or str(edit.push) in waiting:
                self._refuse_other(edit)
            else:
                # Sent bytes are repeated first. The gateway decides by their feed.
                numbers = self.database.meta("otherRecord") or []
                self.database.set_meta("otherRecord", [*numbers, edit.push])

    def _refuse_other(self, edit: StoredEdit) -> None:
        detail = f"Another record has the id {edit.id} of {edit.resource} now."
        index = [one.place for one in self.edits_of(edit.push)].index(edit.place)
        self._refuse(edit.push, new_problem("other-record", 409, "Another record", detail), [], fault=index)

    def _rebuild(self) -> None:
        waiting = self.database.meta("otherHistory")
        if not waiting:
            return
        others = set(self.database.meta("otherRecord") or [])
        self.database.set_meta("otherHistory", None)
        left = sorted(seq for seq in others if self._is_sent(seq) and str(seq) not in waiting)
        self.database.set_meta("otherRecord", left or None)
        numbers = sorted(int(number) for number in waiting)
        done: set[Any] = set()
        for seq in numbers:
            self._regroup_sent(seq)
        # If the record has the effect of a later push, it had the effects of the earlier pushes.
        numbers = [seq for seq in numbers if self._is_sent(seq)]
        parts = {seq: self._parts(seq, is_unknown=waiting[str(seq)], done=done) for seq in reversed(numbers)}
        for seq in numbers:
            if not self._is_sent(seq):
                continue
            edits = self.edits_of(seq)
            self._touched.update((edit.resource, edit.key) for edit in edits)
            gone = parts[seq].gone
            if seq in others:
                self._refuse_other(edits[0])
            elif gone is not None:
                detail = f"The record {edits[gone].id} of {edits[gone].resource} is gone."
                self._refuse(seq, new_problem("gone", 410, "Gone", detail), [], fault=gone)
            else:
                self._rebuild_push(seq, edits, parts[seq])
        self._drop_kept()

    def _is_sent(self, seq: int) -> bool:
        return bool(self.database.value("SELECT state FROM push WHERE seq = ?", seq) == SENT)

    def _regroup_sent(self, seq: int) -> None:
        """Rebuilds a sent push for the groups of the current rules."""
        rules = self.rules
        row = self.database.row("SELECT state, rules FROM push WHERE seq = ?", seq)
        if rules is not None and row is not None and row[0] == SENT and row[1] != rules.edition:
            self._regroup_push(seq, rules)

    def _rebuild_push(self, seq: int, edits: list[StoredEdit], parts: Parts) -> None:
        self._reopen(seq)
        for edit in edits:
            left = parts.kept.get(edit.place, [])
            base = self._base(edit.resource, edit.key)
            if base is not None:
                # Rows that the snapshot shows as created get no other answer.
                others = [*left, *parts.unknown.get(edit.place, [])]
                done = replace(edit, changes=[one for one in edit.changes if one not in others])
                self._keep_filled(done, base, {})
                self._fill_later(done, base)
            if left:
                self._write_changes(seq, edit.place, left)
            else:
                self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
        self._note_creations(seq)
        if parts.unknown:
            self._refuse_unknown(seq, [edit for edit in edits if edit.place in parts.unknown], parts.unknown)
        self._settle_cancelled(seq)

    def _refuse_unknown(self, seq: int, edits: list[StoredEdit], changes: dict[int, list[RowChange]]) -> None:
        atomic = self.database.value("SELECT atomic FROM push WHERE seq = ?", seq)
        refused = self._append([(edit.resource, edit.id, changes[edit.place]) for edit in edits], atomic)
        for edit in edits:
            self.database.write(
                "UPDATE ticket SET push = ? WHERE push = ? AND EXISTS (SELECT 1 FROM json_each(records)"
                " WHERE json_extract(value, '$[0]') = ? AND json_extract(value, '$[1]') = ?)",
                *(refused, seq, edit.resource, edit.key),
            )
        self._refuse(refused, outcome_unknown(), [], fault=0)

    def _parts(self, seq: int, *, is_unknown: bool, done: set[Any]) -> Parts:
        parts = Parts()
        edits = self.edits_of(seq)
        for index, edit in enumerate(edits):
            base, known = self._base(edit.resource, edit.key), self._known(edit.resource)
            if known is None:
                parts.kept[edit.place] = edit.changes
                continue
            creates = row_changes.is_creation(edit.changes, known)
            if base is None and not creates and not is_temporary(edit.id):
                if not row_changes.is_deletion(edit.changes, known):
                    parts.gone = index
                continue
            kept = edit.changes
            unknown: list[RowChange] = []
            if is_unknown and creates and not is_temporary(edit.id):
                kept = [] if row_changes.is_created(known, base, edit.changes) else kept
            elif is_unknown and (base is not None or creates):
                kept, unknown = row_changes.left(known, base, edit.id, edit.changes, done=done)
            if kept:
                parts.kept[edit.place] = kept
            if unknown:
                parts.unknown[edit.place] = unknown
        self._move_dependents(edits, parts)
        return parts

    def _move_dependents(self, edits: list[StoredEdit], parts: Parts) -> None:
        """Moves rows that use the id of an edit with unknown outcome to the edits with unknown outcome."""
        is_moved = True
        while is_moved:
            is_moved = False
            made = set()
            for edit in edits:
                root = self._root(edit.resource)
                made |= set(row_changes.created_ids(edit.id, parts.unknown.get(edit.place, []), root))
            for edit in edits:
                kept = parts.kept.get(edit.place, [])
                moved = [one for one in kept if made & set(row_changes.used_ids(edit.id, [one]))]
                if not moved:
                    continue
                is_moved = True
                parts.unknown[edit.place] = [*parts.unknown.get(edit.place, []), *moved]
                parts.kept[edit.place] = [one for one in kept if one not in moved]
                if not parts.kept[edit.place]:
                    del parts.kept[edit.place]

    def _root(self, resource: str) -> str:
        known: Resource | None = self._known(resource)
        return "" if known is None else known.root.name
