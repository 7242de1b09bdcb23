"""Pushes that were sent although the store could not be written.

Their bytes are in memory until the next transaction of this process, which stores them before anything else. So no edit
of this process joins a push that was sent, and the bytes are the same when the push is repeated. Other processes join
only their own pushes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .lanes import Lanes
from .parts import SENT, UNSENT, Frozen


@dataclass
class SentFromMemory:
    """A push whose sending is not stored."""

    push: Frozen
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
        """Remembers that pushes are sent whose sending cannot be stored."""
        for push in batch:
            if push.seq not in self.unstored:
                self.unstored[push.seq] = SentFromMemory(push, self.database.meta("pulls") or 0)
            self.unstored[push.seq].times += 1

    def _store_unstored(self) -> None:
        """Stores that pushes were sent, at the beginning of a transaction."""
        if not self.unstored:
            return
        numbers = list(self.unstored)
        for sent in self.unstored.values():
            row = self.database.row("SELECT state, key FROM push WHERE seq = ?", sent.push.seq)
            if row is not None and row[0] == UNSENT and row[1] in (None, sent.push.key):
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
