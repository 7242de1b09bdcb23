"""What an app does with its refused edits."""

from __future__ import annotations

from dataclasses import replace

from .. import changes as row_changes
from .editions import Editions
from .parts import REFUSED, UNSENT


class Resending(Editions):
    """Refused pushes that are sent again, or given up."""

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
            if changes != edit.changes:
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
