"""The lists of a store that survive a restart: conflicts, unsent edits, refused edits."""

from __future__ import annotations

from typing import Any

from .changes import Json, changeset
from .decisions import Decisions
from .editing import as_read
from .errors import NotPossible
from .forms import RecordDraft
from .ids import key_of
from .tickets import Conflict, EditOfRecord, Overtaken, RefusedEdit, UnsentEdit, conflict_of, overtaken_of


class Lists(Decisions):
    """What waits for the gateway, or for a decision of the app."""

    def conflicts(self) -> list[Conflict | Overtaken]:
        """Returns the conflicts and the overtaken edits that the app has not decided, oldest first."""
        return [
            conflict_of(self, told) if told["kind"] == "conflict" else overtaken_of(self, told)
            for told in self._model.listed()
        ]

    def unsent(self) -> list[UnsentEdit]:
        """Returns the pushes without an answer, in the order in which they are sent."""
        return [
            UnsentEdit(
                name=str(push.seq),
                resource=push.edits[0].resource if push.edits else "",
                id=push.edits[0].id if push.edits else None,
                edits=_edits(push.edits),
                state="sending" if push.is_sent else "draft",
                _edits=push.edits,
                _store=self,
            )
            for push in self._model.unsent()
        ]

    def _discard_unsent(self, entry: UnsentEdit) -> bool:
        return self._model.discard_unsent(int(entry.name), entry._edits)

    def refused_edits(self) -> list[RefusedEdit]:
        """Returns the edits that were refused, and neither sent again nor discarded; they survive a
        restart."""
        return [self._refused(seq, refusal, edits) for seq, refusal, edits in self._model.refused()]

    def _refused(self, seq: int, refusal: Json, edits: list[Any]) -> RefusedEdit:
        fault = next((edit for edit in edits if edit.place == refusal["fault"]), edits[0] if edits else None)
        resource = fault.resource if fault else ""
        record_id = fault.id if fault else None
        record = refusal["record"]
        if not refusal["hasRecord"] or record is None:
            record = self._model._base(resource, key_of(record_id))
        return RefusedEdit(
            resource=resource,
            id=record_id,
            record=as_read(record),
            problem=refusal["problem"],
            edits=_edits(edits),
            name=str(seq),
            faulty=tuple(refusal.get("faulty") or ()),
            _seq=seq,
            _store=self,
        )

    def _resend(self, seq: int, paths: list[str]) -> bool:
        done = self._model.resend_without(seq, paths) if paths else self._model.resend(seq)
        if done:
            self._was_edited()
        return done

    def _discard(self, seq: int) -> bool:
        return self._model.discard(seq)

    def _restore(self, seq: int) -> RecordDraft:
        edits = next((edits for number, _, edits in self._model.refused() if number == seq), None)
        if edits is None:
            raise NotPossible("not-refused", "This edit was sent again or discarded meanwhile.")
        if len(edits) != 1:
            raise NotPossible("several-records", "It edits several records: send it again, or discard it.")
        (edit,) = edits
        return RecordDraft(self, edit.resource, edit.id, restores=(seq, edit.changes))  # type: ignore[arg-type]


def _edits(edits: list[Any]) -> tuple[EditOfRecord, ...]:
    return tuple(EditOfRecord(edit.resource, edit.id, changeset(edit.changes)) for edit in edits)
