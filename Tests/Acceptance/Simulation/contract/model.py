"""The effect of a push by sections 2 to 5 of the protocol and by the rules, slowly and obviously."""

from .checks import Checks
from .database import Database
from .edits import EditRun, NothingCreated
from .order import ordered
from .reading import temporary
from .rows import UNSURE, Rows
from .values import as_key


class PushRun(Rows, Checks):
    """Runs one push on a copy of the database.

    `numbers` returns the key of a new row for (database, table, edit index, temporary id). `known` has the last row that
    the journal contains, by resource, section and key.
    """

    def __init__(self, resources: dict, database: Database, known: dict, body: dict, numbers):
        self.resources = resources
        self.before = database
        self.database = database.copy()
        self.known = dict(known)
        self.edits = [EditRun(i, e, resources) for i, e in enumerate(body["edits"])]
        self.is_alone = body.get("atomic") == "edit"
        self.numbers = numbers
        self.given = {}
        self.initial = {}
        self.softly_deleted = set()
        self.missing = set()
        # The rows with keys of the client that refused edits would have created.
        self.unmade = set()
        self.is_unsure = False

    def run(self):
        for edit in ordered(self.edits):
            if self.is_alone:
                self.run_alone(edit)
            else:
                self.run_together(edit)
        if not self.is_alone:
            self.finish_together()
        return self

    @property
    def rolled_back(self) -> bool:
        return any(e.is_rejected or e.problem or e.is_lost for e in self.edits) and not self.is_alone

    def run_together(self, edit) -> None:
        """Later edits do not read the writes of a refused edit."""
        saved, given = self.database.copy(), dict(self.given)
        try:
            self.merge(edit)
        except NothingCreated:
            edit.is_lost = edit.is_loose = True
        if edit.is_rejected or edit.problem or edit.is_lost:
            self.database, self.given = saved, given
            self.missing -= set(edit.creations())
        else:
            self.learn([edit])

    def finish_together(self) -> None:
        is_lost = self.rolled_back
        for edit in self.edits:
            if not edit.is_rejected and not edit.problem and not edit.is_lost:
                self.check(edit, is_lost)
        self.final = self.before if self.rolled_back else self.database
        self.learn(self.edits)

    def learn(self, edits) -> None:
        """The journal contains all fields of a row if this section deleted it, otherwise only some."""
        for edit in edits:
            for outcome in edit.outcomes:
                if outcome.key is not None:
                    self.forget(outcome.section.table, outcome.key)
            for (section, key), row in edit.deleted.items():
                self.forget(edit.resource.section(section).table, key)
                self.known[(edit.resource.name, section, key)] = row

    def forget(self, table, key) -> None:
        """The journal may contain fields of a row through each section that shows its table."""
        for resource in self.resources.values():
            for section in resource.sections:
                if section.table is table:
                    self.known[(resource.name, section.name, key)] = UNSURE

    def run_alone(self, edit) -> None:
        saved, known, given = self.database.copy(), dict(self.known), dict(self.given)
        try:
            self.initial = {}
            if any(self.is_unmade(table, key) for table, key in edit.needed_keys()):
                raise NothingCreated()
            self.merge(edit)
            if not edit.is_rejected and not edit.problem and not edit.is_lost:
                self.check(edit)
        except NothingCreated:
            edit.problem, edit.is_loose = "depends-on-refused", True
            if edit.met is None and not temporary(edit.resource.root.table, edit.sent["id"]):
                edit.met = as_key(edit.sent["id"])  # the answer contains the record that exists
        if edit.is_rejected or edit.problem:
            self.database, self.known, self.given = saved, known, given
            self.missing -= set(edit.creations())
            self.unmade |= set(edit.chosen_keys())
        else:
            self.learn([edit])
        self.final = self.database

    def is_unmade(self, table: str, key: tuple) -> bool:
        return (table, key) in self.unmade and key not in self.database.rows[table]
