"""Groups of an existing row, and the row's one statement."""

from .edits import Outcome
from .merging import ABSENT, Hash, decide
from .values import digest_of, shown_group, shown_section, stored, wire


class Groups:
    """The part of a push's run that decides groups and adds outcomes."""

    def merge_group(self, edit, change, key, group, base, edited) -> None:
        """Decides a group on the current row. Its values wait for the row's one statement."""
        row = self.database.get(change.section.table, key)
        current = shown_group(group, row)
        outcome, written = decide(group, base, edited, current, digest_of)
        if outcome == "unchanged":
            return
        conflict = outcome not in ("already", "applied")
        edit.is_rejected |= outcome == "rejected"
        old = None if base is ABSENT or isinstance(base, Hash) else wire(group, base)
        edit.outcomes.append(Outcome(
            change.section, key, group, outcome, conflict, old, wire(group, current), wire(group, edited)))
        if written is not None:
            edit.writes.extend((f.column, stored(f, written[f.name])) for f in group.fields)

    def flush(self, edit, section, key) -> None:
        writes, edit.writes = dict(edit.writes), []
        before = self.database.get(section.table, key)
        if all(before[c] == v for c, v in writes.items()):
            return
        self.note(edit, section, key, before)
        self.database.update(section.table, key, writes)

    def note(self, edit, section, key, before) -> None:
        """Remembers a written row, with its values before the push."""
        self.initial.setdefault((section.table.name, key), before)
        edit.touched.append((section, key))
        edit.has_written_root |= section is edit.resource.root

    def add_row_outcome(self, edit, change, key, outcome, row, conflict=True) -> None:
        section = change.section
        edit.is_rejected |= outcome == "rejected"
        if change.kind == "edit":
            old = {n: v for b, _ in change.groups.values() if not isinstance(b, Hash) for n, v in b.items()}
            new = {n: v for _, e in change.groups.values() for n, v in e.items()}
        else:
            old, new = change.old, change.new
        old, new = (values and self.reals(section, values) for values in (old, new))
        current = None if row is None else shown_section(section, row)
        edit.outcomes.append(Outcome(section, key, None, outcome, conflict, old, current, new))
