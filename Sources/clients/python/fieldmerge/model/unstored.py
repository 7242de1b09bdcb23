"""Pushes that were sent although the store could not be written.

Their bytes are in memory. The next transaction of this process stores them first. So no edit of this process joins a
sent push, and a repeated push has the same bytes. An edit of another process can join the push if the process that
made
it has ended. Then the push is rebuilt under its key, and the gateway answers `key-reused`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .lanes import Lanes
from .parts import SENT, UNSENT, Frozen, StoredEdit


@dataclass
class SentFromMemory:
    """A push whose sending is not stored."""

    push: Frozen
    edits: list[StoredEdit]
    pulls: int
    times: int = 0


class Unstored(Lanes):
    """Pushes that were sent from memory."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.unstored: dict[int, SentFromMemory] = {}
        self.database.on_begin = self._store_unstored

    def is_unstored(self, seq: int) -> bool:
        return seq in self.unstored

    def _keep_unstored(self, batch: list[Frozen]) -> None:
        """Keeps pushes in memory that are sent although the store cannot be written."""
        for push in batch:
            if self._as_sent(push.seq) is None:
                pulls = self.database.meta("pulls") or 0
                self.unstored[push.seq] = SentFromMemory(push, self.edits_of(push.seq), pulls)
            self.unstored[push.seq].times += 1

    def _as_sent(self, seq: int) -> SentFromMemory | None:
        """Returns a push that was sent from memory, unless another process has changed it since."""
        sent = self.unstored.get(seq)
        row = self.database.row("SELECT state, key FROM push WHERE seq = ?", seq)
        if sent is None or row is None or row[0] != UNSENT or row[1] not in (None, sent.push.key):
            return None
        return sent if self.edits_of(seq) == sent.edits else None

    def _store_unstored(self) -> None:
        """Stores that pushes were sent, at the start of a transaction."""
        if not self.unstored:
            return
        numbers = list(self.unstored)
        for seq in numbers:
            sent = self._as_sent(seq)
            if sent is not None:
                self._mark_sent(sent.push, times=sent.times, pulls=sent.pulls)
        self.database.after_commit(lambda: self._forget_unstored(numbers))

    def _forget_unstored(self, numbers: list[int]) -> None:
        for seq in numbers:
            self.unstored.pop(seq, None)

    def _mark_sent(self, push: Frozen, *, times: int, pulls: int | None = None) -> None:
        """Stores the bytes of a sent push. It is in doubt until an answer confirms that no part of it was written."""
        now = (self.database.meta("pulls") or 0) if pulls is None else pulls
        self.database.write(
            "UPDATE push SET state = ?, key = ?, body = ?, doubt = doubt + ?,"
            " pulls = CASE WHEN doubt = 0 THEN ? ELSE pulls END WHERE seq = ?",
            *(SENT, push.key, push.body, times, now, push.seq),
        )
