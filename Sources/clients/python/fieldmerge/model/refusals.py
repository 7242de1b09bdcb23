"""Refused pushes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from .parts import REFUSED, SENT, UNSENT, Frozen, StoredEdit, conflicts_of, new_problem, pairs
from .paths import faulty_paths
from .pushes import Pushes


class Refusals(Pushes):
    """Refused pushes, with the pushes that depend on them."""

    def _refuse(self, seq: int, problem: Json, results: list[Json], *, fault: int) -> None:
        edits = self.edits_of(seq)
        conflicts = [
            [self._enter("conflict", seq, edit.key, one) for one in conflicts_of(edit, result, is_refused=True)]
            for edit, result in pairs(edits, results)
        ]
        self._leave_overtaken(seq)
        made = self._all_creations(seq)
        own = results[fault].get("problem") if fault < len(results) else None
        refusal = {
            "problem": own or problem,
            "fault": edits[fault].place if fault < len(edits) else 0,
            "record": results[fault].get("record") if fault < len(results) else None,
            "hasRecord": fault < len(results),
            "faulty": faulty_paths(edits, results, own or problem, self._known),
        }
        self.database.write(
            "UPDATE push SET state = ?, key = NULL, body = NULL, doubt = 0, refusal = ? WHERE seq = ?",
            *(REFUSED, json.dumps(refusal), seq),
        )
        self.database.write("DELETE FROM creation WHERE push = ?", seq)
        for token, records in self.database.rows(
            "SELECT token, records FROM ticket WHERE push = ? AND outcome IS NULL", seq
        ):
            mine = {(resource, key) for resource, key in json.loads(records)}
            told = [
                conflict for edit, one in zip(edits, conflicts) if (edit.resource, edit.key) in mine for conflict in one
            ]
            first = json.loads(records)[0]
            record = self._base(*first)
            for edit, result in pairs(edits, results):
                if [edit.resource, edit.key] == first:
                    record = result.get("record")
            outcome = {"status": "refused", "conflicts": told, "problem": own or problem, "record": record}
            self._resolve(token, outcome, push=seq)
        for one in conflicts:
            for conflict in one:
                self._queue("conflict", conflict)
        self._queue("refused", {"entry": seq})
        for edit in edits:
            self._touched.add((edit.resource, edit.key))
        self._refuse_dependents(seq, edits[fault] if fault < len(edits) else None, made)

    def _all_creations(self, seq: int) -> list[str]:
        """Returns the temporary ids that a push creates, also for resources that the rules no longer have."""
        noted = self.database.value("SELECT creates FROM push WHERE seq = ?", seq)
        return list(dict.fromkeys([*self._creations(seq), *json.loads(noted or "[]")]))

    def builds_on(self, push: Frozen, others: list[Frozen]) -> bool:
        """Returns whether the bytes of a push name a row that one of the other pushes creates."""
        return any(one.encode() in push.body for other in others for one in self._all_creations(other.seq))

    def _refuse_dependents(self, seq: int, fault: StoredEdit | None, made: list[str]) -> None:
        for temporary in made:
            users = self.database.rows(
                "SELECT DISTINCT e.push FROM edit e JOIN push p ON p.seq = e.push"
                " WHERE p.state IN (0, 1) AND (e.id LIKE ?1 OR e.changes LIKE ?1) ORDER BY e.push",
                f"%{temporary}%",
            )
            for (user,) in users:
                if self.database.value("SELECT state FROM push WHERE seq = ?", user) not in (UNSENT, SENT):
                    continue
                self._refuse_dependent(user, seq, temporary, fault=fault)

    def _refuse_dependent(self, user: int, seq: int, temporary: str, *, fault: StoredEdit | None = None) -> None:
        """Refuses a push that uses a temporary id of a refused push. The problem names the refused push."""
        if fault is None:
            refusal = json.loads(self.database.value("SELECT refusal FROM push WHERE seq = ?", seq))
            fault = next((edit for edit in self.edits_of(seq) if edit.place == refusal["fault"]), None)
        what = f"{fault.resource} {fault.id}" if fault else temporary
        problem = new_problem(
            "depends-on-refused",
            422,
            "Depends on a refused edit",
            f"It refers to {temporary}, which the refused edit of {what} would have created.",
        )
        problem["dependsOn"] = {"entry": seq, "id": temporary}
        used = [list(row_changes.used_ids(edit.id, edit.changes)) for edit in self.edits_of(user)]
        index = next((index for index, ids in enumerate(used) if temporary in ids), 0)
        self._refuse(user, problem, [], fault=index)

    def _refused_makers(
        self, edits: Iterable[tuple[Any, list[RowChange]]], *, other_than: int | None = None
    ) -> list[tuple[int, str]]:
        """Returns the refused pushes whose temporary ids the edits use, each with the temporary id."""
        makers = []
        for temporary in dict.fromkeys(one for edit in edits for one in row_changes.used_ids(*edit)):
            for seq, creates in self.database.rows(
                "SELECT seq, creates FROM push WHERE state = ? AND seq IS NOT ? AND creates LIKE ? ORDER BY seq",
                *(REFUSED, other_than, f"%{temporary}%"),
            ):
                if temporary in json.loads(creates):
                    makers.append((seq, temporary))
        return makers

    def refused(self) -> list[tuple[int, Json, list[StoredEdit]]]:
        """Returns number, refusal and edits of each refused push."""
        with self.database.lock:
            rows = self.database.rows("SELECT seq, refusal FROM push WHERE state = ? ORDER BY seq", REFUSED)
            return [(seq, json.loads(text), self.edits_of(seq)) for seq, text in rows]
