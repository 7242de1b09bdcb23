"""Pushes in transit: frozen as bytes, which are repeated until an answer is stored."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime, timezone

from .. import changes as row_changes
from ..changes import Json
from ..errors import InvalidEdit, RulesUnknown
from ..rules import Rules
from .editions import problem_of_edit
from .lanes import Waiting
from .order import Ties
from .parts import KEPT, PUSHES_IN_A_REQUEST, SENT, UNSENT, Frozen, StoredEdit
from .unstored import Unstored

log = logging.getLogger("fieldmerge")


class Sending(Unstored):
    """Pushes with frozen bytes.

    The bytes are stored before they are sent. If the store cannot be written, they are kept in memory.
    """

    def freeze(self, *, is_single: bool, budget: int = 1 << 20) -> list[Frozen]:
        """Freezes the small pushes of the next request, in one transaction if the store can be written.

        Returns none before a snapshot that pushes of another history wait for. Refuses a push that cannot be built.
        `budget` is the maximum number of bytes of a request with several pushes.
        """
        return self._freeze(lambda refuses: self._batch(is_single=is_single, budget=budget, refuses=refuses))

    def freeze_large(self) -> list[Frozen]:
        """Freezes the next large push as `freeze` does. Returns none if no large push can be sent."""
        return self._freeze(self._large_batch)

    def _freeze(self, choose: Callable[[bool], list[Frozen]]) -> list[Frozen]:
        try:
            with self.database.transaction("freeze"):
                self._check_lease()
                if self.database.meta("otherHistory"):
                    return []
                self._regroup()
                self._store_noted()
                batch = choose(True)
                for push in batch:
                    self._mark_sent(push, times=1)
                self._tell()
        except sqlite3.Error as error:
            log.warning("the store cannot be written, so pushes are sent from memory: %s", error)
            with self.database.lock:
                batch = [] if self.database.meta("otherHistory") else choose(False)
                self._keep_unstored(batch)
        return self._needed(batch) + batch

    def _batch(self, *, is_single: bool, budget: int, refuses: bool) -> list[Frozen]:
        limits = self.rules.limits if self.rules else {}
        longest = min(budget, limits.get("body", 1 << 20))
        batch: list[Frozen] = []
        passed: list[Ties] = []
        edits, size = 0, 1_000
        for push in self._sendable(passed):
            if is_single and batch or len(batch) == PUSHES_IN_A_REQUEST:
                break
            stored = self.edits_of(push.seq)
            if batch and push.state == UNSENT and any(row_changes.has_unknown(edit.changes) for edit in stored):
                break  # The answer to an earlier creation contains its `old`.
            frozen = self._frozen(push, stored, refuses=refuses)
            if frozen is None:
                if not refuses:
                    passed.append(Ties.of(stored, self._known))
                continue
            edits += len(stored)
            size += len(frozen.body) + 1
            if batch and (edits > limits.get("edits", 1_000) or size > longest):
                break
            batch.append(frozen)
        return batch

    def _large_batch(self, refuses: bool) -> list[Frozen]:
        while not self.holds_large() and (push := self._next_large()) is not None:
            frozen = self._frozen(push, self.edits_of(push.seq), refuses=refuses)
            if frozen is not None:
                return [frozen]
            if not refuses:
                break
        return []

    def _frozen(self, push: Waiting, edits: list[StoredEdit], *, refuses: bool) -> Frozen | None:
        """Returns a push with its earlier or new bytes; `None` if it cannot be built."""
        seq = push.seq
        sent = self._as_sent(seq)
        if sent is not None:
            return sent.push
        row = self.database.row("SELECT state, key, body, atomic, rules, owner FROM push WHERE seq = ?", seq)
        if row is None or row[0] not in (UNSENT, SENT):
            return None  # refused with one before it
        state, key, body, atomic, edition, owner = row
        if state == UNSENT and not refuses and not self._may_join(owner):
            return None  # Its own process may still add edits to it.
        if state == UNSENT:
            rules = self.rules
            if rules is None:
                raise RulesUnknown("the rules are not known yet")
            if edition != rules.edition:
                return None  # It must be rebuilt, which needs a write.
            key = key or self._new_key()
            body = self._built(seq, key, rules, atomic, edits, is_stored=refuses)
        return None if body is None else Frozen(seq, key, bytes(body), False, len(edits))

    def _built(
        self, seq: int, key: str, rules: Rules, atomic: str | None, edits: list[StoredEdit], *, is_stored: bool
    ) -> bytes | None:
        """Returns the bytes of a push; `None` if it cannot be built. Then the push is refused if the store can be
        written.

        Bytes that cannot be stored contain no time, so that they are equal after a restart.
        """
        for index, edit in enumerate(edits):
            try:
                row_changes.check(rules.resource(edit.resource), edit.changes)
                json.dumps(edit.changes, ensure_ascii=False, allow_nan=False).encode()
            except (InvalidEdit, LookupError, TypeError, ValueError, AttributeError) as error:
                if is_stored:
                    self._refuse(seq, problem_of_edit(error), [], fault=index)
                return None
        return self._encode(key, rules, atomic, edits, sent=_moment(self._server_time()) if is_stored else None)

    def _encode(
        self, key: str, rules: Rules, atomic: str | None, edits: list[StoredEdit], *, sent: str | None
    ) -> bytes:
        push: Json = {"key": key}
        if self.database.meta("feed"):
            push["feed"] = self.database.meta("feed")
        if sent is not None:
            push["sent"] = sent
        push["rules"] = rules.version
        if atomic is not None:
            push["atomic"] = atomic
        push["edits"] = [
            {
                "resource": edit.resource,
                "id": edit.id,
                "changeset": row_changes.changeset(edit.changes),
            }
            for edit in edits
        ]
        return _text(push)

    def _needed(self, batch: list[Frozen]) -> list[Frozen]:
        """Returns the settled pushes whose temporary ids the frozen bytes name."""
        kept = self.database.rows("SELECT seq, key, body, creates FROM push WHERE state = ? ORDER BY seq", KEPT)
        texts = [push.body for push in batch]
        needed: dict[int, Frozen] = {}
        for seq, key, body, creates in reversed(kept):
            if any(one.encode() in text for one in json.loads(creates) for text in texts):
                needed[seq] = Frozen(seq, key, bytes(body), True, 0)
                texts.append(bytes(body))
        return [needed[seq] for seq in sorted(needed)]

    def nothing_written(self, pushes: Iterable[Frozen]) -> None:
        """Notes that the last request wrote no part of these pushes, in one transaction."""
        with self.database.transaction("doubt"):
            for push in pushes:
                self.database.write(
                    "UPDATE push SET doubt = max(0, doubt - 1) WHERE seq = ? AND key = ?", push.seq, push.key
                )

    def drop_time(self, push: Frozen) -> bool:
        """Removes the time from the bytes of a push, in one transaction. Returns false if they contain no time.

        The gateway has other bytes under the key, because an earlier request was sent without a write and without its
        time.
        """
        body = _text({name: value for name, value in json.loads(push.body).items() if name != "sent"})
        with self.database.transaction("drop time"):
            self._check_lease()
            if self._is_under_way(push):
                self.database.write("UPDATE push SET body = ? WHERE seq = ?", body, push.seq)
        return body != push.body

    def is_in_doubt(self) -> bool:
        """Returns whether a push without an answer may have been merged."""
        return self.database.value("SELECT 1 FROM push WHERE state = ? AND doubt > 0 LIMIT 1", SENT) is not None

    def thaw(self, push: Frozen) -> None:
        """Rebuilds a push with a new key, in one transaction, because no part of it was written."""
        with self.database.transaction("thaw"):
            self._check_lease()
            if not self._is_under_way(push):
                return
            self._reopen(push.seq)
            self.database.set_meta("rulesDue", True)
            self._drop_kept()

    def _is_under_way(self, push: Frozen) -> bool:
        """Returns whether an answer belongs to the current form of a push, which may have been rebuilt since."""
        row = self.database.row("SELECT state, key FROM push WHERE seq = ?", push.seq)
        return row is not None and row[0] == SENT and row[1] == push.key


def _text(push: Json) -> bytes:
    return json.dumps(push, ensure_ascii=False, separators=(",", ":")).encode()


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
