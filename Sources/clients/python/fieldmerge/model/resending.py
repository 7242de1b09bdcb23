"""Refused edits that the app resends or discards."""

from __future__ import annotations

import json
from dataclasses import replace

from .. import changes as row_changes
from ..changes import RowChange
from ..errors import NotPossible, UnknownName
from ..values import json_equal
from .editions import Editions
from .parts import REFUSED, UNSENT, StoredEdit
from .paths import split


class Resending(Editions):
    """Refused pushes that are sent again, or discarded."""

    def resend_without(self, seq: int, paths: list[str]) -> bool:
        """Resends a refused push without the groups of these paths, which stay refused, in one transaction.

        Returns false if the push is no longer refused. Throws `UnknownName` for an unknown path, and `NotPossible` if
        no
        edit is left.
        """
        with self.database.transaction("resend in part"):
            row = self.database.row("SELECT refusal FROM push WHERE seq = ? AND state = ?", seq, REFUSED)
            if row is None:
                return False
            edits = self.edits_of(seq)
            parts = self._with_users(edits, self._split(edits, paths))
            if not any(rest for rest, _ in parts):
                raise NotPossible("nothing-left", "Without these groups nothing is left to send.")
            left = [(edit.resource, edit.id, gone) for edit, (_, gone) in zip(edits, parts) if gone]
            if left:
                refusal = {**json.loads(row[0]), "fault": 0}
                new = self._append(left, None)
                self.database.write(
                    "UPDATE push SET state = ?, key = NULL, refusal = ? WHERE seq = ?",
                    *(REFUSED, json.dumps(refusal), new),
                )
                self.database.write("DELETE FROM creation WHERE push = ?", new)
            for edit, (rest, _) in zip(edits, parts):
                if rest:
                    self._write_changes(seq, edit.place, rest)
                else:
                    self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
            self.database.write("UPDATE push SET creates = ? WHERE seq = ?", json.dumps(self._creations(seq)), seq)
            return self.resend(seq)

    def _split(self, edits: list[StoredEdit], paths: list[str]) -> list[tuple[list[RowChange], list[RowChange]]]:
        """Splits each edit into the remaining part and the omitted part. Each path must name a part of an edit."""
        wanted: list[list[str]] = [[] for _ in edits]
        for path in paths:
            error: UnknownName | None = None
            for index, edit in enumerate(edits):
                try:
                    split(self.resource(edit.resource), edit.changes, [path])
                    wanted[index].append(path)
                except UnknownName as unknown:
                    error = error or unknown
            if error is not None and not any(path in one for one in wanted):
                raise error
        return [split(self.resource(edit.resource), edit.changes, one) for edit, one in zip(edits, wanted)]

    def _with_users(
        self, edits: list[StoredEdit], parts: list[tuple[list[RowChange], list[RowChange]]]
    ) -> list[tuple[list[RowChange], list[RowChange]]]:
        """Also omits the changes that use an id which the omitted part creates."""
        made: set[str] = set()
        while True:
            divided = []
            roots = [self.resource(edit.resource).root.name for edit in edits]
            for edit, root, (_, gone) in zip(edits, roots, parts):
                made |= set(row_changes.created_ids(edit.id, gone, root))
            for edit, root, (rest, _) in zip(edits, roots, parts):
                divided.append(row_changes.divide(edit.id, rest, root, made) if rest else (rest, []))
            if not any(users for _, users in divided):
                return parts
            parts = [(rest, [*gone, *users]) for (_, gone), (rest, users) in zip(parts, divided)]

    def _replace_refused(self, seq: int) -> list[str]:
        """Deletes a refused push that a new push replaces, except edits of deleted rows. Returns its tickets, which
        get the outcome of the new push. Throws `NotPossible` if the push is no longer refused."""
        if self.database.value("SELECT 1 FROM push WHERE seq = ? AND state = ?", seq, REFUSED) is None:
            raise NotPossible("not-refused", "The edit that this form restores was sent again or discarded meanwhile.")
        tokens = [token for (token,) in self.database.rows("SELECT token FROM ticket WHERE push = ?", seq)]
        for edit in self.edits_of(seq):
            self._touched.add((edit.resource, edit.key))
            known, record = self._known(edit.resource), self.view(edit.resource, edit.id)
            left = [] if known is None else row_changes.without_row(known, record, edit.changes)
            if left:
                self._write_changes(seq, edit.place, left)
            else:
                self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
        if self.database.value("SELECT 1 FROM edit WHERE push = ?", seq) is not None:
            # The rest is another entry. A second form of this entry cannot be saved.
            cursor = self.database.write(
                "INSERT INTO push (state, atomic, rules, at, owner, refusal)"
                " SELECT state, atomic, rules, at, owner, refusal FROM push WHERE seq = ?",
                seq,
            )
            self.database.write("UPDATE edit SET push = ? WHERE push = ?", int(cursor.lastrowid or 0), seq)
        self.database.write("DELETE FROM push WHERE seq = ?", seq)
        return tokens

    def resend(self, seq: int) -> bool:
        """Moves a refused push to the end of the queue, in one transaction. The refused pushes that it builds on go
        before
        it. The pushes that were refused only because of it go after it.

        Returns false if the push is no longer refused.
        """
        with self.database.transaction("resend"):
            row = self.database.row("SELECT refusal FROM push WHERE seq = ? AND state = ?", seq, REFUSED)
            if row is None:
                return False
            own = [(edit.id, edit.changes) for edit in self.edits_of(seq)]
            for maker, _ in self._refused_makers(own, other_than=seq):
                self.resend(maker)
            if self.database.value("SELECT 1 FROM push WHERE seq = ?", seq) is None:
                return True  # it went along
            made = self._creations(seq)
            new = self._renumber(seq)
            self._renew_unknown(new)
            for other, refusal, edits in self.refused():
                depends = (refusal["problem"] or {}).get("dependsOn") or {}
                if depends.get("id") in made and depends.get("entry") == seq:
                    self.resend(other)
            self._regroup()
            for edit in self.edits_of(new):
                known = self._known(edit.resource)
                if known is None or not row_changes.is_creation(edit.changes, known):
                    self._revive(edit.resource, edit.id, None)
                self._touched.add((edit.resource, edit.key))
            self._tell()
        return True

    def _renew_unknown(self, seq: int) -> None:
        """Replaces each `old` that depends on the database's fill with its current value, or a mark."""
        for edit in self.edits_of(seq):
            known = self._known(edit.resource)
            if known is None:
                continue
            changes = self._marked(known, edit.id, edit.changes, before=seq)
            if not json_equal(changes, edit.changes):
                self._write_changes(seq, edit.place, changes)
            base = self._base(edit.resource, edit.key)
            if base is not None and not row_changes.is_creation(changes, known):
                self._fill(replace(edit, changes=changes), known, base, is_late=True)

    def _renumber(self, seq: int) -> int:
        cursor = self.database.write(
            "INSERT INTO push (state, key, atomic, rules, at, owner)"
            " SELECT ?, ?, atomic, rules, ?, ? FROM push WHERE seq = ?",
            *(UNSENT, self._new_key(), self.clock.now(), self.owner, seq),
        )
        new = int(cursor.lastrowid or 0)
        self.database.write("UPDATE edit SET push = ? WHERE push = ?", new, seq)
        self.database.write("UPDATE ticket SET push = ?, outcome = NULL WHERE push = ?", new, seq)
        self.database.write("DELETE FROM push WHERE seq = ?", seq)
        self._note_creations(new)
        return new

    def discard(self, seq: int) -> bool:
        """Deletes a refused push, in one transaction. Returns false if it is no longer refused."""
        with self.database.transaction("discard"):
            if self.database.value("SELECT 1 FROM push WHERE seq = ? AND state = ?", seq, REFUSED) is None:
                return False
            for edit in self.edits_of(seq):
                self._touched.add((edit.resource, edit.key))
            self._discard_tickets("push = ?", seq)
            self.database.write("DELETE FROM edit WHERE push = ?", seq)
            self.database.write("DELETE FROM push WHERE seq = ?", seq)
            self._tell()
        return True
