"""Which pushes can be sent now, and in which request: small ones together, a large one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .drafts import Drafts
from .order import Ties

LARGE_PUSH = 256_000
"""The bytes from which on a push is large."""

_PAGE = 200


@dataclass(frozen=True)
class Waiting:
    """A push without an answer."""

    seq: int
    state: int
    size: int


class Lanes(Drafts):
    """The pushes that wait for an answer, in the order in which they may be sent.

    Pushes of a resource of another shape, and large pushes, are skipped. A later push waits for a skipped push if
    they share
    a record or an id.
    """

    large_under_way: int | None = None
    """The number of the large push whose request is under way. It stays passed over, whatever its size becomes."""

    def has_unsent(self) -> bool:
        """Returns whether a small push can be sent now."""
        if self.database.meta("otherHistory"):
            return False
        with self.database.lock:
            return next(self._sendable([]), None) is not None

    def has_large(self) -> bool:
        """Returns whether a large push can be sent now."""
        if self.holds_large():
            return False
        with self.database.lock:
            return self._next_large() is not None

    def holds_large(self) -> bool:
        """Returns whether large pushes wait for a snapshot of another history, or for the rules."""
        return bool(self.database.meta("otherHistory") or self.database.meta("rulesDue"))

    def _sendable(self, passed: list[Ties]) -> Iterator[Waiting]:
        """Yields the small pushes that can be sent. `passed` collects the ties of those that cannot."""
        stale = set(self.stale())
        for push in self._waiting():
            waits = self._is_large(push) or bool(stale) and self._is_of(push, stale)
            if waits or passed:
                ties = self._ties(push.seq)
                if waits or any(ties.shares(one) for one in passed):
                    passed.append(ties)
                    continue
            yield push

    def _next_large(self) -> Waiting | None:
        """Returns the first large push that shares nothing with the pushes before it."""
        stale = set(self.stale())
        earlier: list[Ties] = []
        waiting = list(self._waiting())
        if not any(self._is_large(push) for push in waiting):
            return None
        for push in waiting:
            ties = self._ties(push.seq)
            is_free = not any(ties.shares(one) for one in earlier)
            if is_free and self._is_large(push) and not self._is_of(push, stale):
                return push
            earlier.append(ties)
        return None

    def _is_large(self, push: Waiting) -> bool:
        return push.size > LARGE_PUSH or push.seq == self.large_under_way

    def _is_of(self, push: Waiting, resources: set[str]) -> bool:
        return any(edit.resource in resources for edit in self.edits_of(push.seq))

    def _ties(self, seq: int) -> Ties:
        return Ties.of(self.edits_of(seq), self._known)

    def _waiting(self) -> Iterator[Waiting]:
        last = 0
        while True:
            rows = self.database.rows(
                "SELECT p.seq, p.state, (SELECT coalesce(sum(length(e.changes)), 0) FROM edit e WHERE e.push = p.seq)"
                " FROM push p WHERE p.state IN (0, 1) AND p.seq > ? ORDER BY p.seq LIMIT ?",
                *(last, _PAGE),
            )
            for row in rows:
                yield Waiting(*row)
            if len(rows) < _PAGE:
                return
            last = rows[-1][0]
