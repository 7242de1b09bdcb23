"""Pushes that were sent although the store could not be written.

Their bytes are in memory until the next transaction of this process, which stores them before anything else. So no edit
joins a push that was sent, and the bytes are the same when the push is repeated.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .. import changes as row_changes
from ..changes import RowChange
from .lanes import Lanes
from .parts import SENT, UNSENT, Frozen, StoredEdit


@dataclass
class SentFromMemory:
    """A push whose sending is not stored."""

    push: Frozen
    edits: list[StoredEdit]
    last_ticket: int
    """The number of the last ticket at the time of the first sending."""
    pulls: int
    times: int = 0


class Unstored(Lanes):
    """Pushes that were sent from memory."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.unstored: dict[int, SentFromMemory] = {}
        self.database.on_begin = self._store_unstored

    def _keep_unstored(self, batch: list[Frozen]) -> None:
        """Remembers that pushes are sent whose sending cannot be stored."""
        for push in batch:
            if push.seq not in self.unstored:
                pulls = self.database.meta("pulls") or 0
                sent = SentFromMemory(push, self.edits_of(push.seq), self.edit_count(), pulls)
                self.unstored[push.seq] = sent
            self.unstored[push.seq].times += 1

    def _store_unstored(self) -> None:
        """Stores that pushes were sent, at the beginning of a transaction."""
        if not self.unstored:
            return
        numbers = list(self.unstored)
        for sent in self.unstored.values():
            row = self.database.row("SELECT state, key FROM push WHERE seq = ?", sent.push.seq)
            if row is not None and row[0] == UNSENT and row[1] in (None, sent.push.key):
                self._part_joined(sent)
                self._mark_sent(sent.push, times=sent.times, pulls=sent.pulls)
        self.database.after_commit(lambda: [self.unstored.pop(seq, None) for seq in numbers])

    def _mark_sent(self, push: Frozen, *, times: int, pulls: int | None = None) -> None:
        """Stores the bytes of a push that is sent. The doubt ends with an answer that says that nothing was written."""
        now = (self.database.meta("pulls") or 0) if pulls is None else pulls
        self.database.write(
            "UPDATE push SET state = ?, key = ?, body = ?, doubt = doubt + ?,"
            " pulls = CASE WHEN doubt = 0 THEN ? ELSE pulls END WHERE seq = ?",
            *(SENT, push.key, push.body, times, now, push.seq),
        )

    def _part_joined(self, sent: SentFromMemory) -> None:
        """Makes a push of its own of what another process has added to a push after it was sent."""
        seq = sent.push.seq
        stored = self.edits_of(seq)
        if [(one.place, one.changes) for one in stored] == [(one.place, one.changes) for one in sent.edits]:
            return
        added = self._added(seq, sent.edits, stored)
        self.database.write("DELETE FROM edit WHERE push = ?", seq)
        for edit in sent.edits:
            self.database.write(
                "INSERT INTO edit VALUES (?, ?, ?, ?, ?, ?)",
                *(seq, edit.place, edit.resource, edit.key, json.dumps(edit.id), json.dumps(edit.changes)),
            )
        self._note_creations(seq)
        if added:
            new = self._append(added, self.database.value("SELECT atomic FROM push WHERE seq = ?", seq))
            self.database.write("UPDATE ticket SET push = ? WHERE push = ? AND seq > ?", new, seq, sent.last_ticket)

    def _added(
        self, seq: int, sent: list[StoredEdit], stored: list[StoredEdit]
    ) -> list[tuple[str, Any, list[RowChange]]]:
        added: list[tuple[str, Any, list[RowChange]]] = []
        for one in {(edit.resource, edit.key): edit for edit in [*sent, *stored]}.values():
            known = self._known(one.resource)
            if known is None:
                continue
            below = self._seen(one.resource, one.key, before=seq)
            before, after = (
                self._over(one.resource, below, one.id, [each for each in edits if _is_of_record(each, one)])
                for edits in (sent, stored)
            )
            changes = row_changes.difference(known, before, after)
            if changes:
                added.append((one.resource, one.id, changes))
        return added


def _is_of_record(edit: StoredEdit, other: StoredEdit) -> bool:
    return (edit.resource, edit.key) == (other.resource, other.key)
