"""What an app does with its refused edits."""

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
    """Refused pushes that are sent again, or given up."""

    def resend_without(self, seq: int, paths: list[str]) -> bool:
        """Sends a refused push again without the groups of these paths, which stay refused, in one transaction.

        Returns false if it is refused no more. Throws `UnknownName` for an unknown path, `NotPossible` if nothing is
        left.
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
        """Returns of each edit what is left and what is left out. A path has to be one of an edit."""
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
        """Leaves out also what uses an id that is created by what is left out."""
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
        """Deletes a refused push that a new one replaces, except edits of rows that are gone; returns its tickets, whose
        outcome is that of the new one. Throws `NotPossible` if it is refused no more."""
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
            # What is left is another entry: a second form of this one cannot be saved.
            cursor = self.database.write(
                "INSERT INTO push (state, atomic, rules, at, owner, refusal)"
                " SELECT state, atomic, rules, at, owner, refusal FROM push WHERE seq = ?",
                seq,
            )
            self.database.write("UPDATE edit SET push = ? WHERE push = ?", int(cursor.lastrowid or 0), seq)
        self.database.write("DELETE FROM push WHERE seq = ?", seq)
        return tokens

    def resend(self, seq: int) -> bool:
        """Puts a refused push behind the others, in one transaction: behind what it builds on, where that was refused
        too, and before what was refused only because of it.

        Returns false where it is refused no more.
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
        """Gives each `old` that stands for what the database fills in its value, or its mark, as things are now."""
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
        """Deletes a refused push for good, in one transaction; false where it is refused no more."""
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
