"""One edit while its push runs, and its outcomes."""

from .reading import changes, temporary
from .values import as_key


class NothingCreated(Exception):
    """An edit needs a row that the push would have created, but did not."""


class BadPush(Exception):
    """A push that is refused with 400 before anything is written."""

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


class Outcome:
    """The outcome of a group or a row. `written` is read at the end."""

    def __init__(self, section, key, group, outcome, conflict=False, old=None, current=None, new=None):
        self.section, self.key, self.group, self.outcome, self.conflict = section, key, group, outcome, conflict
        self.old, self.current, self.new = old, current, new
        self.is_taken_back = False


class AnyTarget:
    """Every table that is referred to numbers its rows."""

    numbered = True


def sent_values(change):
    """Every value with its field, bases too."""
    fields = {f.name: f for f in change.section.fields}
    if change.kind == "create":
        yield from ((fields[name], value) for name, value in change.new.items())
    elif change.kind == "delete":
        yield from ((fields[name], value) for name, value in change.old.items())
    else:
        for base, edited in change.groups.values():
            for side in (base, edited):
                if isinstance(side, dict):
                    yield from ((fields[name], value) for name, value in side.items())


def new_values(change):
    """Every value that is not the base, with its field."""
    fields = {f.name: f for f in change.section.fields}
    if change.kind == "create":
        yield from ((fields[name], value) for name, value in change.new.items())
    elif change.kind == "edit":
        for base, edited in change.groups.values():
            held = base if isinstance(base, dict) else {}
            yield from ((fields[name], value) for name, value in edited.items() if name not in held or held[name] != value)


class EditRun:
    """One edit while its push runs."""

    def __init__(self, index: int, sent: dict, resources: dict):
        self.index = index
        self.sent = sent
        self.resource = resources[sent["resource"]]
        self.changes = changes(self.resource, sent["changeset"])
        self.key = None
        self.met = None
        self.ids = {}
        self.outcomes = []
        self.is_rejected = False
        self.problem = None
        self.writes = []
        self.touched = []
        self.deleted = {}
        self.has_written_root = False
        self.is_loose = False
        self.is_lost = False
        self.root_change = next((c for c in self.changes if c.section is self.resource.root), None)

    @property
    def creates(self) -> bool:
        return self.root_change is not None and self.root_change.kind == "create"

    def ids_of(self, *kinds):
        """The ids of the rows that this edit changes in these ways, as (table, id)."""
        for change in self.changes:
            id = self.sent.get("id") if change.section is self.resource.root else change.id
            if change.kind in kinds and id is not None:
                yield change.section.table, id

    def creations(self):
        """The temporary ids of this edit, as (table, id)."""
        return ((table.name, id) for table, id in self.ids_of("create") if temporary(table, id))

    def chosen_keys(self):
        """The rows that this edit creates under keys of the client, as (table, key)."""
        return ((table.name, as_key(id)) for table, id in self.ids_of("create") if not temporary(table, id))

    def needed_keys(self):
        """The rows with keys of the client that this edit refers to, as (table, key)."""
        root = self.resource.root.table
        if not self.creates and self.sent.get("id") is not None:
            yield root.name, as_key(self.sent["id"])
        yield from ((table.name, as_key(id)) for table, id in self.ids_of("edit", "delete"))
        for change in self.changes:
            for field, value in new_values(change):
                if field.references and value is not None:
                    yield field.references, as_key(value)

    def references(self):
        """The temporary ids that this edit needs from elsewhere, as (table, id)."""
        root = self.resource.root.table
        if not self.creates and temporary(root, self.sent.get("id")):
            yield root.name, self.sent["id"]
        for change in self.changes:
            if change.kind in ("edit", "delete") and change.section.is_list and temporary(
                    change.section.table, change.id):
                yield change.section.table.name, change.id
            for field, value in sent_values(change):
                if field.references and temporary(AnyTarget, value):
                    yield field.references, value
