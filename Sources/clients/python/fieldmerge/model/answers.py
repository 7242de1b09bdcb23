"""Answers to pushes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..ids import is_temporary, key_of
from ..renames import renamed_result
from .parts import (
    ADDED_KEPT,
    KEPT,
    SENT,
    Frozen,
    Place,
    StoredEdit,
    conflicts_of,
    new_problem,
    pairs,
    with_problem,
    with_real_ids,
)
from .rebasing import Rebasing


class Answers(Rebasing):
    """Answers to pushes, each stored in one transaction."""

    def settle(self, push: Frozen, results: list[Json]) -> None:
        """Stores that a push was merged, completely or in part, in one transaction."""
        with self.database.transaction("settle"):
            self._check_lease()
            if not self._is_under_way(push):
                return
            seq = push.seq
            # An answer is as old as its request. Newer pages may be stored already.
            newer_than = self.database.value("SELECT pulls FROM push WHERE seq = ?", seq)
            edits = self.edits_of(seq)
            results = self._renamed(edits, results)
            failed = [index for index, result in enumerate(results) if result.get("status") not in (None, "merged")]
            seen = self._seen_of(edits, results)
            views = {place: self.view(place[0], edit.id) for edit in edits for place in [(edit.resource, edit.key)]}

            # Outcomes use the ids that the edits had when they were made.
            conflicts = [
                [
                    self._enter("conflict", seq, edit.key, one)
                    for one in conflicts_of(edit, result, is_refused=index in failed)
                ]
                for index, (edit, result) in enumerate(pairs(edits, results))
            ]
            self._leave_overtaken(seq, is_merged=True)
            ids: dict[str, Any] = {}
            for result in results:
                ids.update(result.get("ids") or {})
            missing = _missing(edits, results, failed, ids)
            refused = {index: results[index].get("problem") or {} for index in failed}
            refused.update({index: _problem_of_missing(edits[index]) for index in missing})
            self._resolve_tickets(seq, edits, results, conflicts, refused)

            self._note_added(seq, [edit for index, edit in enumerate(edits) if index not in failed])
            self.database.write("DELETE FROM edit WHERE push = ?", seq)
            self.database.write("DELETE FROM creation WHERE push = ?", seq)
            self.database.write("UPDATE push SET state = ?, doubt = 0 WHERE seq = ?", KEPT, seq)
            self._map(ids, other_than=seq)
            if seq == self.large_under_way:
                merged = [index for index in range(len(edits)) if index not in failed]
                self._keep_above(seq, [(edits[index], results[index]) for index in merged if index < len(results)], ids)

            for index, (edit, result) in enumerate(pairs(edits, results)):
                if index not in failed and result.get("record") is not None:
                    self._keep_filled(edit, result["record"], ids)
                    self._fill_later(edit, result["record"])
                if index not in failed or result.get("record") is not None:
                    self._store_result(edit, result, views.get((edit.resource, edit.key)), newer_than=newer_than)
            for told in conflicts:
                for conflict in told:
                    self._queue("conflict", conflict)
            for index, problem in sorted(refused.items()):
                changes = missing.get(index, edits[index].changes)
                self._refuse_part(replace(edits[index], changes=changes), results[index], problem)
            for (resource_name, key), before in seen.items():
                real = "\x1f".join(key_of(ids.get(part, part)) for part in key.split("\x1f"))
                self._rebase((resource_name, real), with_real_ids(before, ids))
            self._drop_kept()
            self._forget_visited(edits)
            self._hooks()
            self._tell()

    def _keep_above(self, seq: int, merged: list[tuple[StoredEdit, Json]], ids: Mapping[str, Any]) -> None:
        """Keeps the values of a large push above the bases. A page that was requested earlier may lack them."""
        for edit, result in merged:
            known = self._known(edit.resource)
            if known is None or not self.keeps(edit.resource) or result.get("problem"):
                continue
            record_id, changes = row_changes.map_ids(edit.id, edit.changes, ids)
            written = row_changes.as_written(known, result.get("record"), changes)
            if written:
                self.database.write(
                    "INSERT INTO edit VALUES (?, ?, ?, ?, ?, ?)",
                    *(seq, edit.place, edit.resource, key_of(record_id), json.dumps(record_id), json.dumps(written)),
                )

    def kept_above(self) -> list[int]:
        """Returns the numbers of answered large pushes that no page contains yet."""
        return [seq for (seq,) in self.database.rows(
            "SELECT DISTINCT p.seq FROM push p JOIN edit e ON e.push = p.seq WHERE p.state = ?", KEPT
        )]  # fmt: skip

    def drop_above(self, seqs: Iterable[int]) -> None:
        """Drops the values of large pushes above the bases, because a page that was requested later is stored."""
        with self.database.transaction("page shows"):
            self._drop_above(seqs)
            self._tell()

    def _drop_above(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            for edit in self.edits_of(seq):
                self._touched.add((edit.resource, edit.key))
            self.database.write("DELETE FROM edit WHERE push = ?", seq)
        self._drop_kept()

    def _renamed(self, edits: list[StoredEdit], results: list[Json]) -> list[Json]:
        """Returns results with the current names of groups. The answer may use the names of earlier rules."""
        renamed: list[Json] = list(results)
        for index, (edit, result) in enumerate(pairs(edits, results)):
            known = self._known(edit.resource)
            if known is not None:
                renamed[index] = renamed_result(known, result)
        return renamed

    def _seen_of(self, edits: list[StoredEdit], results: list[Json]) -> dict[Place, Json | None]:
        places: dict[Place, Json | None] = {}
        for edit in edits:
            places[edit.resource, edit.key] = self._seen(edit.resource, edit.key)
        for result in results:
            if result.get("record"):
                place = str(result.get("resource")), key_of(result["record"]["id"])
                if place not in places:
                    places[place] = self._seen(*place)
        return places

    def _resolve_tickets(
        self,
        seq: int,
        edits: list[StoredEdit],
        results: list[Json],
        conflicts: list[list[Json]],
        refused: Mapping[int, Json],
    ) -> None:
        rows = self.database.rows("SELECT token, records FROM ticket WHERE push = ? AND outcome IS NULL", seq)
        for token, records in rows:
            mine = {(resource, key) for resource, key in json.loads(records)}
            concerned = [index for index, edit in enumerate(edits) if (edit.resource, edit.key) in mine]
            faults = [index for index in concerned if index in refused]
            told = [conflict for index in concerned if index < len(conflicts) for conflict in conflicts[index]]
            first = json.loads(records)[0]
            record = None
            for index in concerned:
                if index < len(results) and [edits[index].resource, edits[index].key] == first:
                    record = results[index].get("record")
            self._resolve(
                token,
                {
                    "status": "refused" if faults else "merged",
                    "conflicts": told,
                    "problem": refused[faults[0]] if faults else None,
                    "record": record,
                },
            )

    def _map(self, ids: Mapping[str, Any], *, other_than: int | None = None) -> None:
        """Replaces temporary ids everywhere except in frozen bytes."""
        for temporary, real in ids.items():
            if not is_temporary(temporary):
                continue
            self.database.write("INSERT OR REPLACE INTO mapping VALUES (?, ?)", temporary, json.dumps(real))
            self._touched.update(
                (resource, temporary)
                for (resource,) in self.database.rows("SELECT DISTINCT resource FROM edit WHERE key = ?", temporary)
            )
            self._map_entries(ids, temporary)
            for edit in self._edits("(e.id LIKE ?1 OR e.changes LIKE ?1)", f"%{temporary}%"):
                record_id, changes = row_changes.map_ids(edit.id, edit.changes, ids)
                self.database.write(
                    "UPDATE edit SET id = ?, key = ?, changes = ? WHERE push = ? AND place = ?",
                    *(json.dumps(record_id), key_of(record_id), json.dumps(changes), edit.push, edit.place),
                )
            for token, record_id, records in self.database.rows(
                "SELECT token, id, records FROM ticket WHERE id LIKE ?1 OR records LIKE ?1", f"%{temporary}%"
            ):
                mapped = json.loads(record_id)
                mapped = (
                    [ids.get(part, part) for part in mapped] if isinstance(mapped, list) else ids.get(mapped, mapped)
                )
                places = [
                    [resource, "\x1f".join(key_of(ids.get(part, part)) for part in key.split("\x1f"))]
                    for resource, key in json.loads(records)
                ]
                self.database.write(
                    "UPDATE ticket SET id = ?, key = ?, records = ? WHERE token = ?",
                    *(json.dumps(mapped), key_of(mapped), json.dumps(places), token),
                )

    def _note_added(self, seq: int, edits: list[StoredEdit]) -> None:
        """Notes that a push has changed a counter, so that `take_theirs` can undo the change."""
        for edit in edits:
            known = self._known(edit.resource)
            names = [(change["section"], name) for change in edit.changes for name in change.get("groups", {})]
            if known is not None and any(
                group.name == name and group.merge == "add"
                for section, name in names
                if known.has(section)
                for group in known.section(section).groups
            ):
                self.database.set_meta("added", [*(self.database.meta("added") or []), seq][-ADDED_KEPT:])
                return

    def was_sent(self, seq: int) -> bool:
        """Returns whether a push with a counter was sent."""
        state = self.database.value("SELECT state FROM push WHERE seq = ?", seq)
        return state == SENT or seq in (self.database.meta("added") or [])

    def _keep_filled(self, edit: StoredEdit, record: Json, ids: Mapping[str, Any]) -> None:
        """Stores the values that the database filled into a new row, for readers with an earlier version of it. Omits
        a field that a waiting edit has set, because a reader may have read its null. Omits a row that a waiting edit
        creates again."""
        known = self._known(edit.resource)
        waiting = self.pending(edit.resource, key_of(record["id"]))
        later = [change for one in waiting if one.push != edit.push for change in one.changes]
        for change, real in zip(edit.changes, row_changes.map_ids(None, edit.changes, ids)[1]):
            if known is None or change["do"] != "create" or not known.has(change["section"]):
                continue
            section, item = row_changes.place_of_row(change)
            row = row_changes.row_of(known.section(section), record, real)
            place = row_changes.place_of_row(real)
            since = [one for one in later if row_changes.place_of_row(one) == place]
            if row is None or any(one["do"] == "create" for one in since):
                continue
            unknown = row_changes.unnamed(known, [[real], since]).get(place, set())
            fields = {
                name: row[name]
                for name, field in known.section(section).fields.items()
                if name in row and name not in real["new"] and (name in unknown or not field.nullable)
            }
            self.database.write(
                "INSERT OR REPLACE INTO filled VALUES (?, ?, ?, ?, ?)",
                *(edit.resource, edit.key, section, item or "", json.dumps(fields)),
            )

    def _fill_later(self, edit: StoredEdit, record: Json) -> None:
        """Adds the values that the database filled into a new row to waiting and refused edits of the row."""
        known = self._known(edit.resource)
        if known is None or not any(change["do"] == "create" for change in edit.changes):
            return
        behind = self._edits("e.resource = ? AND e.key = ? AND p.state IN (0, 3)", edit.resource, key_of(record["id"]))
        for later in behind:
            if row_changes.has_unknown(later.changes):
                self._fill(later, known, record)

    def _store_result(self, edit: StoredEdit, result: Json, before: Json | None, *, newer_than: int) -> None:
        record = result.get("record")
        self._touched.add((edit.resource, edit.key))
        real_key = key_of(record["id"] if record is not None else self.resolve(edit.id))
        if self._was_pulled_since(edit.resource, real_key, newer_than):
            return
        if record is not None:
            self._put(edit.resource, record["id"], record, before=before)
            return
        real = self.resolve(edit.id)
        known = self._known(edit.resource)
        held = self._base(edit.resource, key_of(real))
        if result.get("problem"):
            if held is not None:
                self._put(edit.resource, real, with_problem(held, result["problem"]), before=before)
            return
        self._put(edit.resource, real, None, before=before)
        deleted = known is not None and row_changes.is_deletion(edit.changes, known)
        if held is not None and not deleted:
            self._queue("gone", {"resource": edit.resource, "id": real, "record": held})

    def refuse(self, push: Frozen, problem: Json, results: list[Json]) -> None:
        """Stores that a push was refused, with the pushes that depend on it, in one transaction."""
        with self.database.transaction("refuse"):
            self._check_lease()
            if not self._is_under_way(push):
                return
            seq = push.seq
            newer_than = self.database.value("SELECT pulls FROM push WHERE seq = ?", seq)
            edits = self.edits_of(seq)
            results = self._renamed(edits, results)
            seen = self._seen_of(edits, results)
            fault = 0
            for index, result in enumerate(results[: len(edits)]):
                if result.get("problem") and result["problem"].get("code") != "rolled-back":
                    fault = index
                    break
            self._refuse(seq, problem, results, fault=fault)
            for result in results:
                record = result.get("record")
                if record is None or self._was_pulled_since(str(result["resource"]), key_of(record["id"]), newer_than):
                    continue
                if self._stores(str(result["resource"]), key_of(record["id"])):
                    before = self.view(str(result["resource"]), record["id"])
                    self._put(str(result["resource"]), record["id"], record, before=before)
            for place, before in seen.items():
                self._rebase(place, before)
            self._drop_kept()
            self._hooks()
            self._tell()

    def _refuse_part(self, edit: StoredEdit, result: Json, problem: Json) -> None:
        """Adds an entry for a refused edit of a push whose other edits were merged."""
        record_id, changes = row_changes.map_ids(edit.id, edit.changes, result.get("ids") or {})
        seq = self._append([(edit.resource, record_id, changes)], None)
        tokens = self.database.rows(
            "SELECT token, records FROM ticket WHERE push IS NULL AND outcome LIKE ?",
            '{"status": "refused"%',
        )
        self._refuse(seq, problem, [{**result, "outcomes": [], "problem": problem}], fault=0)
        for token, records in tokens:
            if [edit.resource, key_of(record_id)] in json.loads(records):
                self.database.write("UPDATE ticket SET push = ? WHERE token = ?", seq, token)

    def _forget_visited(self, edits: list[StoredEdit]) -> None:
        """Deletes records of resources that are not kept, if no edit of them is pending."""
        for edit in edits:
            if not self.keeps(edit.resource):
                key = key_of(self.resolve(edit.id))
                if not self.pending(edit.resource, key):
                    self.database.write("DELETE FROM base WHERE resource = ? AND key = ?", edit.resource, key)

    def _was_pulled_since(self, resource: str, key: str, pulls: int) -> bool:
        """Returns whether a record was read, or reported as deleted, after this number of pulls."""
        for table in ("base", "tombstone"):
            pulled = self.database.value(f"SELECT pulled FROM {table} WHERE resource = ? AND key = ?", resource, key)
            if pulled is not None and pulled > pulls:
                return True
        return False


def _missing(
    edits: list[StoredEdit], results: list[Json], failed: list[int], ids: Mapping[str, Any]
) -> dict[int, list[RowChange]]:
    """Returns the changes whose row was deleted, for each merged edit, by the index of the edit."""
    found: dict[int, list[RowChange]] = {}
    for index, (edit, result) in enumerate(pairs(edits, results)):
        gone = [one for one in result.get("outcomes") or [] if one.get("outcome") == "missing"]
        if not gone or index in failed:
            continue
        _, changes = row_changes.map_ids(edit.id, edit.changes, ids)
        kept = [part for part in (_part_of(change, gone) for change in changes) if part is not None]
        if kept:
            found[index] = kept
    return found


def _part_of(change: RowChange, outcomes: list[Json]) -> RowChange | None:
    """Returns the part of a change that outcomes name: groups, or the complete row."""
    key = key_of(change["id"]) if "id" in change else None
    named = [
        one.get("group")
        for one in outcomes
        if one.get("section") == change["section"] and (key is None or key_of(one.get("id")) == key)
    ]
    if not named:
        return None
    if None in named or change["do"] != "edit":
        return change
    groups = {name: values for name, values in change["groups"].items() if name in named}
    return {**change, "groups": groups} if groups else None


def _problem_of_missing(edit: StoredEdit) -> Json:
    detail = f"A row of {edit.resource} {edit.id} that was edited does not exist any more."
    return new_problem("missing", 409, "Missing", detail)
