"""Rules and shapes: which description of a resource is in use, and how drafts change with it.

A resource is *stale* while its bases have another shape than the rules. Until its records are read again, its earlier
description is in use, and no push is sent. Notes:

- `shapes`: the shape of the bases of each resource
- `stale`: the earlier description of each stale resource, null if unknown
- `edition`: the descriptions in use
- `named`: the descriptions whose names the edits use
- `shapesOf`: the rules of a snapshot in a file
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..errors import InvalidEdit, UnknownName
from ..renames import has_renames, renamed
from ..rules import Resource, Rules
from ..values import json_equal
from .parts import UNSENT, StoredEdit, new_problem
from .paths import renamed_path
from .refusals import Refusals


class Editions(Refusals):
    """Rules, and pushes that were built under earlier rules."""

    def store_rules(self, text: str) -> None:
        """Stores rules, and rebuilds unsent pushes for them, in one transaction."""
        rules = Rules.parse(text)
        with self.database.transaction("rules"):
            self._check_lease()
            former = self._descriptions()
            self.database.set_meta("rules", text)
            self.database.set_meta("rulesVersion", rules.version)
            self.database.set_meta("rulesDue", None)
            self._note_stale(rules, former)
            self._forget_removed(rules)
            self._regroup()
            self._tell()

    def note_shapes(self) -> None:
        """Notes which bases have another shape, if an earlier version of this library has read them."""
        text = self.database.meta("rules")
        if text is not None and self.database.meta("shapes") is None:
            self._note_stale(Rules.parse(text), {})

    def stale(self) -> list[str]:
        """Returns the resources whose records have to be read again before a push is sent."""
        return sorted(self.database.meta("stale") or {})

    def _descriptions(self) -> dict[str, Any]:
        """The descriptions in use, by resource; `None` for bases of an unknown shape."""
        text = self.database.meta("rules")
        stale = self.database.meta("stale") or {}
        described = json.loads(text)["resources"] if text is not None else []
        return {one["resource"]: stale.get(one["resource"], one) for one in described}

    def description(self, resource: str) -> Json:
        """Returns the gateway's description of a resource: the earlier one while its records have an earlier
        shape."""
        resources = json.loads(self.database.meta("rules"))["resources"]
        own: Json = next(one for one in resources if one["resource"] == resource)
        return (self.database.meta("stale") or {}).get(resource) or own

    def _note_stale(self, rules: Rules, former: dict[str, Any]) -> None:
        told = {name: one.shape for name, one in rules.resources.items()}
        shapes: dict[str, str] | None = self.database.meta("shapes")
        is_read = self.place()[0] is not None
        if not is_read or self.database.meta("shapesOf") == rules.version:
            shapes = told
        stale: dict[str, Any] = {}
        for name, shape in told.items():
            held = "" if shapes is None else shapes.get(name)
            if held != shape and (self.keeps(name) or self._has_base(name)):
                stale[name] = former.get(name)
        current = {name: shape for name, shape in told.items() if name not in stale}
        earlier = {name: shape for name, shape in (shapes or {}).items() if name in stale}
        self.database.set_meta("shapes", {**current, **earlier})
        self._set_stale(rules.version, stale)

    def _has_base(self, resource: str) -> bool:
        return self.database.value("SELECT 1 FROM base WHERE resource = ? LIMIT 1", resource) is not None

    def _set_stale(self, version: str, stale: dict[str, Any]) -> None:
        self.database.set_meta("stale", stale or None)
        self.database.set_meta("edition", ":".join([version, *sorted(stale)]))
        self._rules = None

    def _note_read(self, names: Iterable[str]) -> None:
        """Uses the new rules for resources whose bases all have the new shape."""
        text = self.database.meta("rules")
        if text is None:
            return
        rules = Rules.parse(text)
        stale = self.database.meta("stale") or {}
        shapes = self.database.meta("shapes") or {}
        for name in names:
            stale.pop(name, None)
            if name in rules.resources:
                shapes[name] = rules.resources[name].shape
            self._touched.add((name, "*"))
        self.database.set_meta("shapes", shapes)
        self._set_stale(rules.version, stale)
        self._regroup()

    def _forget_removed(self, rules: Rules) -> None:
        """Deletes the records of resources that the rules no longer have."""
        for (name,) in self.database.rows("SELECT DISTINCT resource FROM base"):
            if name not in rules.resources:
                self.database.write("DELETE FROM base WHERE resource = ?", name)
                self._touched.add((name, "*"))

    def _regroup(self) -> None:
        """Rebuilds each unsent push whose descriptions are no longer in use."""
        rules = self.rules
        if rules is None:
            return
        self._rename(rules)
        outdated = self.database.rows(
            "SELECT seq FROM push WHERE state = ? AND rules IS NOT ? ORDER BY seq", UNSENT, rules.edition
        )
        for (seq,) in outdated:
            if self.database.value("SELECT state FROM push WHERE seq = ?", seq) == UNSENT:
                self._regroup_push(seq, rules)

    def _rename(self, rules: Rules) -> None:
        """Replaces earlier names of fields and groups with the current names in edits, sent and refused edits, and
        list entries."""
        if self.database.meta("named") == rules.edition:
            return
        self.database.set_meta("named", rules.edition)
        for name, resource in rules.resources.items():
            if not has_renames(resource):
                continue
            self._rename_entries(resource)
            self._rename_faulty(resource)
            for edit in self._edits("e.resource = ? AND p.rules IS NOT ?", name, rules.edition):
                changes = renamed(resource, edit.changes)
                if not json_equal(changes, edit.changes):
                    self._write_changes(edit.push, edit.place, changes)
                    self._touched.add((edit.resource, edit.key))

    def _rename_faulty(self, resource: Resource) -> None:
        """Replaces earlier names of groups in the paths of refusals."""
        for seq, refusal, edits in self.refused():
            paths = refusal.get("faulty") or []
            if any(edit.resource == resource.name for edit in edits):
                refusal["faulty"] = [renamed_path(resource, path) for path in paths]
            if refusal.get("faulty", []) != paths:
                self.database.write("UPDATE push SET refusal = ? WHERE seq = ?", json.dumps(refusal), seq)

    def _regroup_push(self, seq: int, rules: Rules) -> None:
        """Rebuilds a push for the groups of the rules, or refuses it if the rules lack a name that it edits."""
        built: list[tuple[StoredEdit, list[RowChange]]] = []
        for index, edit in enumerate(self.edits_of(seq)):
            try:
                built.append((edit, self._regrouped(edit, rules)))
            except InvalidEdit as error:
                self._refuse(seq, problem_of_edit(error), [], fault=index)
                return
        for edit, changes in built:
            if changes:
                self._write_changes(seq, edit.place, changes)
            else:
                self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
        self.database.write("UPDATE push SET rules = ? WHERE seq = ?", rules.edition, seq)
        self._settle_cancelled(seq)

    def _regrouped(self, edit: StoredEdit, rules: Rules) -> list[RowChange]:
        resource = rules.resource(edit.resource)
        seen = self._seen(edit.resource, edit.key, before=edit.push)
        changes = row_changes.regroup(resource, seen, edit.changes)
        return self._marked(resource, edit.id, changes, before=edit.push)


def problem_of_edit(error: Exception) -> Json:
    """Returns the problem of an edit that cannot be built."""
    if isinstance(error, UnknownName):
        return new_problem("field-removed", 409, "Field removed", f"The rules no longer have what was edited. {error}")
    if isinstance(error, InvalidEdit):
        return new_problem("rules-changed", 409, "The rules have changed", str(error))
    return new_problem("cannot-build", 400, "Cannot be built", f"This edit cannot be sent: {error!r}")
