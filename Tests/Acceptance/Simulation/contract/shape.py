"""Tables and rules as values, of which the schema consists."""

from dataclasses import dataclass, field


@dataclass
class ForeignKey:
    """A column that refers to the single key column of another table; `on_delete` is plain, cascade or null."""

    column: str
    table: str
    on_delete: str = "plain"


@dataclass
class Table:
    """One table: its columns with their SQL types, its key, and its constraints."""

    name: str
    columns: dict
    key: tuple
    numbered: bool = False
    defaults: dict = field(default_factory=dict)
    required: tuple = ()
    uniques: tuple = ()
    foreign: tuple = ()
    checks: tuple = ()


@dataclass
class Field:
    """A client's name for a column; `kind` is integer, bigint, text, json or set."""

    name: str
    column: str
    kind: str
    values: tuple
    references: str = ""


@dataclass
class Group:
    """Fields that are merged together; `merge` is empty, add, max, min, set, text, json, or latest:FIELD."""

    name: str
    fields: tuple
    merge: str = ""
    on_conflict: str = "client-wins"

    @property
    def bare(self) -> bool:
        return len(self.fields) == 1


@dataclass
class Check:
    """A check of the rules: as SQL for the gateway, as a function of the row for the model."""

    name: str
    sql: str
    holds: object
    fields: tuple
    on_failure: str = "reject"


@dataclass
class Section:
    """One section of a resource; `shows` is the function of `where`."""

    name: str
    table: Table
    groups: tuple
    is_list: bool = False
    parent: str = ""
    where: str = ""
    shows: object = None
    soft: dict = field(default_factory=dict)
    identity: tuple = ()
    on_missing: str = "drop"
    on_delete_conflict: str = "delete"
    checks: tuple = ()

    def visible(self, row: dict) -> bool:
        return self.shows is None or self.shows(row)

    @property
    def fields(self) -> list:
        return [f for g in self.groups for f in g.fields]

    def group(self, name: str) -> Group:
        return next(g for g in self.groups if g.name == name)


@dataclass
class Resource:
    """One resource; its first section is the root."""

    name: str
    sections: tuple

    @property
    def root(self) -> Section:
        return self.sections[0]

    def section(self, name: str) -> Section:
        return next(s for s in self.sections if s.name == name)
