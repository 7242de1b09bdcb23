"""Pushes on their way: frozen as bytes with their key before the first byte leaves."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from datetime import datetime, timezone

from .. import changes as row_changes
from ..changes import Json
from ..errors import InvalidEdit, RulesUnknown
from ..rules import Rules
from .drafts import Drafts
from .editions import problem_of_edit
from .parts import KEPT, PUSHES_IN_A_REQUEST, SENT, UNSENT, Frozen, StoredEdit


class Sending(Drafts):
    """Pushes whose bytes are frozen."""

    def freeze(self, *, is_single: bool) -> list[Frozen]:
        """Gives every push of the next request its bytes and its key, in one transaction.

        None before a snapshot that pushes of another history wait for, or one of records of another shape. A push that
        cannot be built is refused.
        """
        with self.database.transaction("freeze"):
            self._check_lease()
            if self.database.meta("otherHistory") or self.stale():
                return []
            self._regroup()
            rules = self.rules
            limits = rules.limits if rules else {}
            batch: list[Frozen] = []
            self._store_offset()
            edits = 0
            size = 1_000
            for seq, state, key, body, atomic in self.database.rows(
                "SELECT seq, state, key, body, atomic FROM push WHERE state IN (0, 1) ORDER BY seq LIMIT ?",
                1 if is_single else PUSHES_IN_A_REQUEST,
            ):
                if state == UNSENT and self.database.value("SELECT state FROM push WHERE seq = ?", seq) != UNSENT:
                    continue  # refused with one before it
                stored = self.edits_of(seq)
                if batch and state == UNSENT and any(row_changes.has_unknown(edit.changes) for edit in stored):
                    break  # the answer to a creation before it tells its “old”
                if state == UNSENT:
                    if rules is None:
                        raise RulesUnknown("the rules are not known yet")
                    key = str(uuid.uuid4())
                    body = self._built(seq, key, rules, atomic, stored)
                    if body is None:
                        continue
                edits += len(stored)
                size += len(body) + 1
                if batch and (edits > limits.get("edits", 1_000) or size > limits.get("body", 1 << 20)):
                    break
                # The doubt ends with an answer that says that nothing was written.
                pulls = self.database.meta("pulls") or 0
                self.database.write(
                    "UPDATE push SET state = ?, key = ?, body = ?, doubt = doubt + 1,"
                    " pulls = CASE WHEN doubt = 0 THEN ? ELSE pulls END WHERE seq = ?",
                    *(SENT, key, body, pulls, seq),
                )
                batch.append(Frozen(seq, key, bytes(body), False, len(stored)))
            kept = self._needed(batch)
            self._tell()
        return kept + batch

    def _built(
        self, seq: int, key: str, rules: Rules, atomic: str | None, edits: list[StoredEdit]
    ) -> bytes | None:
        """Returns the bytes of a push; `None` if it cannot be built, and was refused."""
        for index, edit in enumerate(edits):
            try:
                row_changes.check(rules.resource(edit.resource), edit.changes)
                json.dumps(edit.changes, ensure_ascii=False, allow_nan=False).encode()
            except (InvalidEdit, LookupError, TypeError, ValueError, AttributeError) as error:
                self._refuse(seq, problem_of_edit(error), [], fault=index)
                return None
        return self._encode(key, rules, atomic, edits)

    def _encode(self, key: str, rules: Rules, atomic: str | None, edits: list[StoredEdit]) -> bytes:
        push: Json = {"key": key}
        if self.database.meta("feed"):
            push["feed"] = self.database.meta("feed")
        push["sent"] = _moment(self._server_time())
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
        return json.dumps(push, ensure_ascii=False, separators=(",", ":")).encode()

    def _needed(self, batch: list[Frozen]) -> list[Frozen]:
        """The settled pushes whose temporary ids frozen bytes name."""
        kept = self.database.rows("SELECT seq, key, body, creates FROM push WHERE state = ? ORDER BY seq", KEPT)
        texts = [push.body for push in batch]
        needed: dict[int, Frozen] = {}
        for seq, key, body, creates in reversed(kept):
            if any(one.encode() in text for one in json.loads(creates) for text in texts):
                needed[seq] = Frozen(seq, key, bytes(body), True, 0)
                texts.append(bytes(body))
        return [needed[seq] for seq in sorted(needed)]

    def nothing_written(self, seqs: Iterable[int]) -> None:
        """Notes that the last request wrote nothing of these pushes, in one transaction."""
        with self.database.transaction("doubt"):
            for seq in seqs:
                self.database.write("UPDATE push SET doubt = max(0, doubt - 1) WHERE seq = ?", seq)

    def is_in_doubt(self) -> bool:
        """Returns whether a push may have been merged of which no answer came."""
        return self.database.value("SELECT 1 FROM push WHERE state = ? AND doubt > 0 LIMIT 1", SENT) is not None

    def thaw(self, seq: int) -> None:
        """Has a push built anew with a new key, in one transaction: nothing of it was written."""
        with self.database.transaction("thaw"):
            self._check_lease()
            self.database.write(
                "UPDATE push SET state = ?, key = NULL, body = NULL, doubt = 0 WHERE seq = ? AND state = ?",
                *(UNSENT, seq, SENT),
            )
            self.database.set_meta("rulesDue", True)
            self._drop_kept()


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
