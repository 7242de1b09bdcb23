"""Notes of a store: the process that syncs, and values from headers of answers."""

from __future__ import annotations

import sqlite3
from typing import Any

from ..owners import has_ended
from .parts import BEAT_SECONDS, MISSED_BEATS, LeaseLost
from .subsets import Subsets


class Notes(Subsets):
    """The lease of the process that syncs, and named values."""

    _has_lease = False

    def take_lease(self) -> bool:
        """Acquires the lease for a sync, in one transaction. Returns false while another process renews it.

        If the store cannot be written, the sync runs without the lease. Two processes that push at once are harmless,
        because
        their keys are equal.
        """
        try:
            with self.database.transaction("lease"):
                if self._is_leased():
                    return False
                self.database.write("INSERT OR REPLACE INTO lease VALUES (1, ?, ?)", self.owner, self.clock.now())
                self.database.after_commit(lambda: self._note_lease(True))
        except sqlite3.Error:
            return not self._is_leased()
        return True

    def _is_leased(self) -> bool:
        """Returns whether another process has the lease."""
        row = self.database.row("SELECT owner, beat FROM lease")
        is_strange = row is not None and row[0] != self.owner and not has_ended(row[0])
        return is_strange and abs(self.clock.now() - row[1]) < BEAT_SECONDS * MISSED_BEATS

    def beat(self) -> None:
        """Renews the lease, in one transaction."""
        with self.database.transaction("beat"):
            self.database.write("UPDATE lease SET beat = ? WHERE owner = ?", self.clock.now(), self.owner)

    def _note_lease(self, is_held: bool) -> None:
        self._has_lease = is_held

    def drop_lease(self) -> None:
        """Releases the lease, in one transaction."""
        self._has_lease = False
        with self.database.transaction("lease ends"):
            self.database.write("DELETE FROM lease WHERE owner = ?", self.owner)

    def _check_lease(self) -> None:
        owner = self.database.value("SELECT owner FROM lease")
        if owner != self.owner and (owner is not None or self._has_lease):
            raise LeaseLost()  # No owner: another process has acquired and released the lease.

    def offset(self) -> float:
        """Returns the seconds from this clock to the gateway's clock; 0 before the first answer."""
        return float(self.database.meta("clockOffset") or 0) if self._offset is None else self._offset

    def note_offset(self, offset: float) -> None:
        """Keeps the seconds from this clock to the gateway's clock until a transaction stores them."""
        self._offset = offset

    def who(self) -> str | None:
        """Returns the store's user, as the first answer of the gateway named it; `None` if it named no user."""
        return self._who or self.database.meta("who")

    def note_who(self, who: str | None) -> None:
        """Keeps the store's user until a transaction stores it. Only the first answer counts."""
        if who is not None and self.who() is None:
            self._who = who

    def _store_noted(self) -> None:
        """Stores the values from headers of answers."""
        if self._who is not None and self.database.meta("who") is None:
            self.database.set_meta("who", self._who)
        if self._offset is not None and self._offset != (self.database.meta("clockOffset") or 0):
            self.database.set_meta("clockOffset", self._offset)

    def _server_time(self) -> float:
        """Returns the gateway's estimated time, or the clock's time before the first answer. It never decreases."""
        return self.clock.now() + self.offset()

    def note(self, **values: Any) -> None:
        """Notes values under their names, in one transaction."""
        with self.database.transaction("note"):
            for name, value in values.items():
                self.database.set_meta(name, value)

    def _hooks(self) -> None:
        """Lets the app add edits to the transaction that stores the server's changes."""
        incoming, self._incoming = self._incoming, []
        if self.run_hooks is not None and incoming:
            self.run_hooks(incoming)

    def _tell(self) -> None:
        touched, self._touched = self._touched, set()
        self._incoming, self._last = [], {}
        if touched:
            self.database.after_commit(lambda: self.on_touch(touched))
