"""Rows that are created, deleted and edited (the table of rows in the protocol section 4)."""

from .database import Refused
from .edits import AnyTarget, BadPush, NothingCreated, Outcome
from .groups import Groups
from .merging import ABSENT, Hash, decide
from .reading import temporary
from .values import as_key, digest_of, shown_group, shown_section, stored

UNSURE = object()
"""A row of which the journal may know some fields."""


class Rows(Groups):
    """The part of a push's run that merges one edit, row by row."""

    def merge(self, edit) -> None:
        root = edit.resource.root
        edit.key = self.record_key(edit)
        edit.met = edit.key
        rest = [c for c in edit.changes if c.section is not root]
        for change in [c for c in rest if c.kind == "delete"]:
            self.try_row(edit, change)
        if edit.root_change and not self.try_row(edit, edit.root_change) and not self.has_record(edit):
            return
        for change in [c for c in rest if c.kind != "delete"]:
            self.try_row(edit, change)

    def try_row(self, edit, change) -> bool:
        """Merges one row. If the database refuses it, nothing of it is written, and its outcomes remain."""
        saved = self.database.copy()
        try:
            self.merge_row(edit, change)
            return True
        except Refused as refusal:
            self.database, edit.writes = saved, []
            edit.problem = edit.problem or refusal.kind
            edit.is_loose = True
            return False

    def record_key(self, edit):
        """The key of the record. None if the database numbers a new one."""
        root = edit.resource.root
        id = edit.sent.get("id")
        if temporary(root.table, id):
            if not edit.creates:
                return self.given_key(root.table, id)
            return self.twin(root, edit.root_change.new, None)
        if id is None:
            if not edit.creates:
                raise BadPush("missing-id")
            return self.twin(root, edit.root_change.new, None)
        key = as_key(id)
        if edit.creates and self.row(root, key) is None:
            return self.twin(root, edit.root_change.new, None) or key
        return key

    def twin(self, section, new, parent):
        """The key of the row that `identity` finds for a creation."""
        if not section.identity:
            return None
        wanted = {f.column: stored(f, self.real(f, new[f.name])) for f in section.fields if f.name in new}
        if any(wanted.get(c) is None for c in section.identity):
            return None
        for key, row in self.database.rows[section.table.name].items():
            if section.parent and row[section.parent] != parent:
                continue
            if all(row[c] == wanted[c] for c in section.identity):
                return key
        return None

    def real(self, field, value):
        """A value with temporary ids replaced."""
        if field.references and temporary(AnyTarget, value):
            key = self.given.get((field.references, value))
            if key is None:
                raise NothingCreated()
            return key[0]
        return value

    def reals(self, section, values: dict) -> dict:
        return {f.name: self.real(f, values[f.name]) for f in section.fields if f.name in values}

    def has_record(self, edit) -> bool:
        if edit.key is None:
            return False
        root = edit.resource.root
        if edit.has_written_root and (root.table.name, edit.key) not in self.softly_deleted:
            return self.database.get(root.table, edit.key) is not None
        return self.row(root, edit.key) is not None

    def row(self, section, key):
        """A row as clients read it. None if `where` hides it."""
        row = self.database.get(section.table, key) if key is not None else None
        return row if row is not None and section.visible(row) else None

    # MARK: One row

    def merge_row(self, edit, change) -> None:
        section = change.section
        is_root = section is edit.resource.root
        if not is_root and not self.has_record(edit):
            return self.merge_without_record(edit, change)
        key = self.row_key(edit, change)
        row = self.row(section, key)
        if row is not None and section.parent and row[section.parent] != edit.key[0]:
            row = None
        if change.kind == "create":
            self.create(edit, change, key, row)
        elif change.kind == "delete":
            self.delete(edit, change, key, row)
        else:
            self.edit_row(edit, change, key, row)

    def row_key(self, edit, change):
        section = change.section
        if section is edit.resource.root:
            return edit.key
        if not section.is_list:
            return edit.key
        if change.kind == "create":
            new = {**change.new}
            if temporary(section.table, change.id) or change.id is None:
                return self.twin(section, new, edit.key[0])
            key = as_key(change.id)
            if self.row(section, key) is None:
                return self.twin(section, new, edit.key[0]) or key
            return key
        if temporary(section.table, change.id):
            return self.given_key(section.table, change.id)
        return as_key(change.id)

    def given_key(self, table, id):
        """The key that a temporary id means. None if its creation was missing a record."""
        key = self.given.get((table.name, id))
        if key is None and (table.name, id) not in self.missing:
            raise NothingCreated()
        return key

    def merge_without_record(self, edit, change) -> None:
        """An item or a singleton whose record is missing."""
        key = edit.key if not change.section.is_list else None if change.id is None else as_key(change.id)
        if change.kind == "create":
            self.missing |= set(edit.creations())
            self.add_row_outcome(edit, change, key, self.without(change, "missing"), None)
        elif change.kind == "delete":
            self.add_row_outcome(edit, change, key, "already", None, conflict=False)
        elif not self.is_idle(change):
            self.add_row_outcome(edit, change, key, self.without(change, "missing"), None)

    def without(self, change, outcome) -> str:
        return "rejected" if change.section.on_missing == "reject" else outcome

    def is_idle(self, change) -> bool:
        return all(decide(change.section.group(n), base, edited, edited, digest_of)[0] == "unchanged"
                   for n, (base, edited) in change.groups.items())

    def give(self, edit, change, key) -> None:
        """Remembers the key that a temporary id means."""
        section = change.section
        id = edit.sent.get("id") if section is edit.resource.root else change.id
        if temporary(section.table, id) and key is not None:
            self.given[(section.table.name, id)] = key
            edit.ids[str(id)] = key[0]

    def create(self, edit, change, key, row) -> None:
        section = change.section
        if row is not None:
            self.give(edit, change, key)
            for group in section.groups:
                sent = {f.name: self.real(f, change.new[f.name]) for f in group.fields if f.name in change.new}
                if sent:
                    self.merge_group(edit, change, key, group, ABSENT, {**shown_group(group, row), **sent})
            self.flush(edit, section, key)
            return
        if key is not None and self.database.get(section.table, key) is not None:
            raise Refused("unique", "a row that is not this record's")
        values = {f.column: stored(f, self.real(f, change.new[f.name]))
                  for f in section.fields if f.name in change.new}
        if section.parent:
            values[section.parent] = edit.key[0]
        if section.table.numbered:
            # A row that was there when the push began may be made again.
            if key is not None and self.before.get(section.table, key) is None:
                raise BadPush("generated-key")
            id = edit.sent.get("id") if section is edit.resource.root else change.id
            key = key or (self.numbers(self.database, section.table, edit.index, id),)
        values.update(zip(section.table.key, key))
        self.database.insert(section.table, values)
        if section is edit.resource.root:
            edit.key = key
        self.give(edit, change, key)
        self.note(edit, section, key, None)
        edit.outcomes.append(Outcome(section, key, None, "inserted"))

    def delete(self, edit, change, key, row) -> None:
        section = change.section
        if row is None:
            self.add_row_outcome(edit, change, key, "already", None, conflict=False)
            return
        differs = any(stored(f, self.real(f, change.old[f.name])) != row[f.column]
                      for f in section.fields if f.name in change.old)
        outcome = "deleted"
        if differs:
            outcome = {"delete": "deleted", "keep": "kept", "reject": "rejected"}[section.on_delete_conflict]
        shown = row if differs or section is edit.resource.root else None
        self.add_row_outcome(edit, change, key, outcome, shown, conflict=differs)
        if outcome == "deleted":
            self.remove(edit, section, key)

    def remove(self, edit, section, key) -> None:
        """Deletes a row. A root that is really deleted is deleted with its lists and singletons."""
        if section is edit.resource.root and not section.soft:
            for other in edit.resource.sections[1:]:
                for held, row in list(self.database.rows[other.table.name].items()):
                    if row[other.parent] == key[0] and other.visible(row):
                        edit.outcomes.append(Outcome(
                            other, held, None, "deleted", current=shown_section(other, row)))
                        self.erase(edit, other, held)
        self.erase(edit, section, key)

    def erase(self, edit, section, key) -> None:
        if section.soft:
            self.database.update(section.table, key, section.soft)
            self.softly_deleted.add((section.table.name, key))
        else:
            edit.deleted[(section.name, key)] = self.database.get(section.table, key)
            self.database.delete(section.table, key)

    def edit_row(self, edit, change, key, row) -> None:
        section = change.section
        groups = {name: (base if isinstance(base, Hash) else self.reals(section, base), self.reals(section, edited))
                  for name, (base, edited) in change.groups.items()}
        if row is not None:
            for name, (base, edited) in groups.items():
                self.merge_group(edit, change, key, section.group(name), base, edited)
            self.flush(edit, section, key)
            return
        if self.is_idle(change):
            return
        outcome = {"drop": "missing", "restore": "restored", "reject": "rejected"}[section.on_missing]
        if key is None and outcome == "restored":
            # Its creation lacked a record, so there is no key to restore it, and the gateway assigns one.
            self.is_unsure, outcome = True, "missing"
        self.add_row_outcome(edit, change, key, outcome, None)
        if outcome == "restored":
            values = self.known.get((edit.resource.name, section.name, key), {})
            if self.database.get(section.table, key) is not None:
                # If the journal has the row as one of another record, it is missing instead.
                self.is_unsure |= values != {}
                raise Refused("unique", "a row that is hidden or of another record")
            if values is UNSURE:
                self.is_unsure, values = True, {}
            values = dict(values)
            for name, (_, edited) in groups.items():
                values.update((f.column, stored(f, edited[f.name])) for f in section.group(name).fields)
            if section.parent:
                values[section.parent] = edit.key[0]
            values.update(zip(section.table.key, key))
            self.database.insert(section.table, values)
            self.note(edit, section, key, None)
