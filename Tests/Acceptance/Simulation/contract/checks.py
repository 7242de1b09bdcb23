"""The checks after the writes: the rules' checks, and that no written row is hidden by `where`."""

from .database import Refused


class Checks:
    """The part of a push's run that checks the rows written."""

    def check(self, edit, is_lost=False) -> None:
        """The rules' checks, and that no written row is hidden by `where`.

        In a push that is rolled back anyway, only `server-wins` has an effect on the outcomes.
        """
        for section, key in dict.fromkeys((s.name, k) for s, k in edit.touched):
            for fault in self.check_row(edit, edit.resource.section(section), key):
                if not is_lost:
                    edit.problem = edit.problem or fault

    def check_row(self, edit, section, key) -> list:
        """The failures of a row after `server-wins` has reverted its groups."""
        if (section.table.name, key) in self.softly_deleted:
            return []
        faults = []
        for check in section.checks:
            row = self.database.get(section.table, key)
            if row is None:
                return []
            before = self.initial.get((section.table.name, key))
            if not check.holds(row) and check.on_failure == "server-wins" and before is not None:
                try:
                    self.take_back(edit, section, key, check, before)
                except Refused as refusal:
                    faults.append(refusal.kind)
        row = self.database.get(section.table, key)
        if row is None:
            return []
        faults += ["check" for check in section.checks if not check.holds(row)]
        if not section.visible(row):
            faults.append("outside-where")
        return faults

    def take_back(self, edit, section, key, check, before) -> None:
        for group in section.groups:
            if not any(f.name in check.fields for f in group.fields):
                continue
            self.database.update(section.table, key, {f.column: before[f.column] for f in group.fields})
            outcomes = edit.outcomes if self.is_alone else [o for e in self.edits for o in e.outcomes]
            for outcome in outcomes:
                if outcome.group is group and outcome.key == key and outcome.outcome not in ("already", "server-won"):
                    outcome.outcome, outcome.conflict, outcome.is_taken_back = "server-won", True, True
