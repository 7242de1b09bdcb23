"""The queue of pushes, and the tickets of their edits."""

from __future__ import annotations

import json
import uuid
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..ids import key_of
from ..rules import Resource
from ..values import json_equal
from .conflicts import Conflicts
from .parts import KEPT, SENT, UNSENT, StoredEdit


class Pushes(Conflicts):
    """The queue of pushes, and tickets."""

    def _append(self, edits: list[tuple[str, Any, list[RowChange]]], atomic: str | None) -> int:
        rules = self.rules
        cursor = self.database.write(
            "INSERT INTO push (state, key, atomic, rules, at, owner) VALUES (?, ?, ?, ?, ?, ?)",
            *(UNSENT, self._new_key(), atomic, rules.edition if rules else None, self.clock.now(), self.owner),
        )
        seq = int(cursor.lastrowid or 0)
        for place, (resource, record_id, changes) in enumerate(edits):
            self.database.write(
                "INSERT INTO edit VALUES (?, ?, ?, ?, ?, ?)",
                *(seq, place, resource, key_of(record_id), json.dumps(record_id), json.dumps(changes)),
            )
        self._note_creations(seq)
        return seq

    def _new_key(self) -> str:
        return str(uuid.uuid4())

    def _reopen(self, seq: int) -> None:
        """Reopens a push, with a new key."""
        self.database.write(
            "UPDATE push SET state = ?, key = ?, body = NULL, doubt = 0, pulls = 0 WHERE seq = ?",
            *(UNSENT, self._new_key(), seq),
        )

    def _marked(
        self, resource: Resource, record_id: Any, changes: list[RowChange], *, before: int | None = None
    ) -> list[RowChange]:
        """Returns changes with a mark at each `old` that depends on the answer to this client's own creation."""
        earlier = [
            edit.changes
            for edit in self.pending(resource.name, key_of(record_id))
            if before is None or edit.push < before
        ]
        return row_changes.mark_unknown(changes, row_changes.unnamed(resource, earlier))

    def _fill(self, edit: StoredEdit, resource: Resource, record: Json, *, is_late: bool = False) -> None:
        """Sets each unknown `old` of an edit to the record's value."""
        changes = row_changes.fill_unknown(resource, record, edit.changes, is_late=is_late)
        if json_equal(changes, edit.changes):
            return
        if changes:
            self._write_changes(edit.push, edit.place, changes)
        else:
            self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", edit.push, edit.place)
        self._settle_cancelled(edit.push)

    def _write_changes(self, seq: int, place: int, changes: list[RowChange]) -> None:
        self.database.write("UPDATE edit SET changes = ? WHERE push = ? AND place = ?", json.dumps(changes), seq, place)

    def _creations(self, seq: int) -> list[str]:
        made: list[str] = []
        for edit in self.edits_of(seq):
            known = self._known(edit.resource)
            if known is not None:
                made += row_changes.created_ids(edit.id, edit.changes, known.root.name)
        return made

    def _note_creations(self, seq: int) -> None:
        self.database.write("DELETE FROM creation WHERE push = ?", seq)
        made = self._creations(seq)
        for temporary in made:
            self.database.write("INSERT OR REPLACE INTO creation VALUES (?, ?)", temporary, seq)
        self.database.write("UPDATE push SET creates = ? WHERE seq = ?", json.dumps(made), seq)

    def _settle_cancelled(self, seq: int) -> None:
        """Settles tickets whose records have no edit left to send."""
        edits = self.edits_of(seq)
        self._leave_overtaken(seq, edits)
        held = {(edit.resource, edit.key) for edit in edits}
        for token, records in self.database.rows("SELECT token, records FROM ticket WHERE push = ?", seq):
            places = json.loads(records)
            if not any((resource, key) in held for resource, key in places):
                outcome: Json = {"status": "merged", "conflicts": [], "problem": None, "record": self._first(places)}
                self._resolve(token, outcome)
        if not held:
            self._drop_if_empty(seq)

    def _drop_if_empty(self, seq: int) -> None:
        if self.database.value("SELECT 1 FROM edit WHERE push = ?", seq) is None:
            self.database.write("DELETE FROM creation WHERE push = ?", seq)
            self.database.write("DELETE FROM push WHERE seq = ?", seq)
            for token, records in self.database.rows(
                "SELECT token, records FROM ticket WHERE push = ? AND outcome IS NULL", seq
            ):
                record = self._first(json.loads(records))
                self._resolve(token, {"status": "merged", "conflicts": [], "problem": None, "record": record})

    def _resolve(self, token: str, outcome: Json | None, *, push: int | None = None) -> None:
        text = None if outcome is None else json.dumps(outcome)
        self.database.write("UPDATE ticket SET outcome = ?, push = ? WHERE token = ?", text, push, token)
        self.database.after_commit(self.on_outcome)

    def ticket_outcome(self, token: str) -> Json | None:
        """Returns the outcome of an edit; `None` before an answer."""
        text = self.database.value("SELECT outcome FROM ticket WHERE token = ?", token)
        return None if text is None else json.loads(text)

    def find_ticket(self, wanted: Any, *, resource: str | None) -> tuple[str, Any] | None:
        """Finds a ticket by its token, or the latest ticket of a record by its id. Returns the ticket's token and
        id."""
        row = self.database.row("SELECT token, id FROM ticket WHERE token = ?", str(wanted))
        if row is None:
            keys = {key_of(wanted), key_of(self.resolve(wanted))}
            for key in keys:
                for token, record_id, records in self.database.rows(
                    "SELECT token, id, records FROM ticket WHERE key = ? ORDER BY seq DESC", key
                ):
                    if resource is None or json.loads(records)[0][0] == resource:
                        return token, json.loads(record_id)
            return None
        return row[0], json.loads(row[1])

    def ticket_id(self, token: str) -> Any:
        """Returns the id of a ticket's record, the real id if it is known."""
        text = self.database.value("SELECT id FROM ticket WHERE token = ?", token)
        return None if text is None else self.resolve(json.loads(text))

    def _drop_kept(self) -> None:
        """Deletes settled pushes that no frozen bytes need."""
        kept = self.database.rows("SELECT seq, body, creates FROM push WHERE state = ? ORDER BY seq DESC", KEPT)
        if not kept:
            return
        sent = [bytes(row[0]) for row in self.database.rows("SELECT body FROM push WHERE state = ?", SENT)]
        for seq, body, creates in kept:
            if self.database.value("SELECT 1 FROM edit WHERE push = ? LIMIT 1", seq):
                continue  # No page contains it yet.
            if any(one.encode() in text for one in json.loads(creates) for text in sent):
                sent.append(bytes(body))
            else:
                self.database.write("DELETE FROM push WHERE seq = ?", seq)

    def _discard_tickets(self, condition: str, *values: Any) -> None:
        outcome: Json = {"status": "discarded", "conflicts": [], "problem": None, "record": None}
        for (token,) in self.database.rows(f"SELECT token FROM ticket WHERE {condition}", *values):
            self._resolve(token, outcome)
