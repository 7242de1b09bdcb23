"""The contents of a store: records in three layers, pushes in their order, and the transactions that change them.

`base` is the server's last version, `sent` contains edits with frozen bytes, `draft` contains later edits. An app
reads
the three layers on top of each other. A docstring says if a function runs in one transaction.
"""

from __future__ import annotations

from .parts import BEAT_SECONDS, TICKETS_KEPT_SECONDS, Change, Draft, Frozen, LeaseLost, StoredEdit
from .refreshing import Refreshing

__all__ = ["BEAT_SECONDS", "Change", "Draft", "Frozen", "LeaseLost", "Model", "StoredEdit"]


class Model(Refreshing):
    """The records and pushes of one store."""

    def prune(self) -> None:
        """Deletes tickets that were settled long ago, in one transaction."""
        with self.database.transaction("prune"):
            self.database.write(
                "DELETE FROM ticket WHERE outcome IS NOT NULL AND push IS NULL AND at < ?",
                self.clock.now() - TICKETS_KEPT_SECONDS,
            )

    def queue_lost(self, unsent: int | None) -> None:
        """Queues the event that an earlier store was lost, in the current transaction."""
        self._queue("lost", {"unsent": unsent})

    def discard_all(self, *, limit: int) -> int:
        """Empties the store and marks it as signed out, in one transaction. Does nothing if more edits than the limit
        are in no journal. Returns the number of these edits. A later edit throws."""
        with self.database.transaction("sign out"):
            unsent = self.unjournaled()
            if unsent > limit:
                return unsent
            self._discard_tickets("outcome IS NULL")
            self.database.drop_triggers()
            for table in ("edit", "push", "base", "creation", "mapping", "filled", "conflict", "event", "meta", "lease"):
                self.database.write(f"DELETE FROM {table}")
            self.database.set_meta("signedOut", True)
            self._rules = None
        return 0
