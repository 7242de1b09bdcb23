"""Pushes that were refused for good, and rules that change what was not sent yet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..errors import InvalidEdit
from ..rules import Rules
from .parts import REFUSED, SENT, UNSENT, StoredEdit, conflicts_of, new_problem, pairs
from .pushes import Pushes


class Refusals(Pushes):
    """Refused pushes, and pushes that new rules group otherwise."""

    def _refuse(self, seq: int, problem: Json, results: list[Json], *, fault: int) -> None:
        edits = self.edits_of(seq)
        conflicts = [conflicts_of(edit, result) for edit, result in pairs(edits, results)]
        made = self._creations(seq)
        own = results[fault].get("problem") if fault < len(results) else None
        refusal = {
            "problem": own or problem,
            "fault": edits[fault].place if fault < len(edits) else 0,
            "record": results[fault].get("record") if fault < len(results) else None,
            "hasRecord": fault < len(results),
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
        """Refuses a push that uses an id which a refused one would have made, and names that."""
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
        """The refused pushes that would have created what edits use, each with the temporary id of that."""
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

    def resend(self, seq: int) -> bool:
        """Puts a refused push behind the others, in one transaction: behind what it builds on, where that was refused
        too, and before what was refused only because of it.

        Returns false where it is refused no more.
        """
        with self.database.transaction("resend"):
            row = self.database.row("SELECT refusal FROM push WHERE seq = ? AND state = ?", seq, REFUSED)
            if row is None:
                return False
            own = [(edit.id, edit.changes) for edit in self.edits_of(seq)]
            for maker, _ in self._refused_makers(own, other_than=seq):
                self.resend(maker)
            if self.database.value("SELECT 1 FROM push WHERE seq = ?", seq) is None:
                return True  # it went along
            made = self._creations(seq)
            new = self._renumber(seq)
            self._renew_unknown(new)
            for other, refusal, edits in self.refused():
                depends = (refusal["problem"] or {}).get("dependsOn") or {}
                if depends.get("id") in made and depends.get("entry") == seq:
                    self.resend(other)
            self._regroup()
            for edit in self.edits_of(new):
                self._touched.add((edit.resource, edit.key))
            self._tell()
        return True

    def _renew_unknown(self, seq: int) -> None:
        """Gives each `old` that stands for what the database fills in its value, or its mark, as things are now."""
        for edit in self.edits_of(seq):
            known = self._known(edit.resource)
            if known is None:
                continue
            changes = self._marked(known, edit.id, edit.changes, before=seq)
            if changes != edit.changes:
                self._write_changes(seq, edit.place, changes)
            base = self._base(edit.resource, edit.key)
            if base is not None and not row_changes.is_creation(changes, known):
                self._fill(replace(edit, changes=changes), known, base, is_late=True)

    def _renumber(self, seq: int) -> int:
        cursor = self.database.write(
            "INSERT INTO push (state, atomic, rules, at) SELECT ?, atomic, rules, ? FROM push WHERE seq = ?",
            *(UNSENT, self.clock.now(), seq),
        )
        new = int(cursor.lastrowid or 0)
        self.database.write("UPDATE edit SET push = ? WHERE push = ?", new, seq)
        self.database.write("UPDATE ticket SET push = ?, outcome = NULL WHERE push = ?", new, seq)
        self.database.write("DELETE FROM push WHERE seq = ?", seq)
        self._note_creations(new)
        return new

    def discard(self, seq: int) -> bool:
        """Deletes a refused push for good, in one transaction; false where it is refused no more."""
        with self.database.transaction("discard"):
            if self.database.value("SELECT 1 FROM push WHERE seq = ? AND state = ?", seq, REFUSED) is None:
                return False
            for edit in self.edits_of(seq):
                self._touched.add((edit.resource, edit.key))
            self._discard_tickets("push = ?", seq)
            self.database.write("DELETE FROM edit WHERE push = ?", seq)
            self.database.write("DELETE FROM push WHERE seq = ?", seq)
            self._tell()
        return True

    def store_rules(self, text: str) -> None:
        """Stores rules, and groups what was not sent yet as they do, in one transaction."""
        rules = Rules.parse(text)
        with self.database.transaction("rules"):
            self._check_lease()
            self.database.set_meta("rules", text)
            self.database.set_meta("rulesVersion", rules.version)
            self.database.set_meta("rulesDue", None)
            self._rules = rules
            self._regroup()
            self._tell()

    def _regroup(self) -> None:
        rules = self.rules
        if rules is None:
            return
        stale = self.database.rows(
            "SELECT seq FROM push WHERE state = ? AND rules IS NOT ? ORDER BY seq", UNSENT, rules.version
        )
        for (seq,) in stale:
            problem = None
            for edit in self.edits_of(seq):
                try:
                    resource = rules.resource(edit.resource)
                    seen = self._seen(edit.resource, edit.key, before=seq)
                    changed = row_changes.regroup(resource, seen, edit.changes)
                    changed = self._marked(resource, edit.id, changed, before=seq)
                except InvalidEdit as error:
                    problem = new_problem("rules-changed", 400, "The rules have changed", str(error))
                    break
                if changed:
                    self._write_changes(seq, edit.place, changed)
                else:
                    self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
            if problem is not None:
                self._refuse(seq, problem, [], fault=0)
                continue
            self.database.write("UPDATE push SET rules = ? WHERE seq = ?", rules.version, seq)
            self._drop_if_empty(seq)
