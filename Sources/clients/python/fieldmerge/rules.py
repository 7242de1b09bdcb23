"""The resources, sections, groups and fields of `GET /v1/rules`."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import UnknownName


@dataclass(frozen=True)
class Field:
    """A field with the limits by which its values are checked before they are sent."""

    name: str
    type: str
    nullable: bool
    limits: Mapping[str, Any]
    references: str | None = None
    formerly: tuple[str, ...] = ()
    """Its earlier names."""


@dataclass(frozen=True)
class Group:
    """The unit of merging: one or more fields that only have a meaning together."""

    name: str
    fields: tuple[Field, ...]
    merge: Any = None
    has_transitions: bool = False
    formerly: tuple[str, ...] = ()
    """Its earlier names."""

    def value(self, row: Mapping[str, Any]) -> Any:
        """Returns the group's value in a row: the value of a single field, otherwise an object of its fields."""
        if len(self.fields) == 1:
            return row.get(self.fields[0].name)
        return {one.name: row[one.name] for one in self.fields if one.name in row}

    def spread(self, value: Any) -> dict[str, Any]:
        """Returns the fields and values of a result of `value`."""
        if len(self.fields) == 1:
            return {self.fields[0].name: value}
        values = value if isinstance(value, Mapping) else {}
        return {one.name: values[one.name] for one in self.fields if one.name in values}


@dataclass(frozen=True)
class Section:
    """A part of a record: one row, or many rows in a list."""

    name: str
    kind: str
    groups: tuple[Group, ...]
    read_only: tuple[str, ...]
    is_generated: bool
    key_length: int
    key_types: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    """The types of all fields, read-only ones among them."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    group_of: Mapping[str, Group] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)
    """The names of fields by their earlier names."""
    group_renames: Mapping[str, str] = field(default_factory=dict)
    """The names of groups by their earlier names."""

    @property
    def is_list(self) -> bool:
        return self.kind == "list"

    def group(self, name: str) -> Group:
        """Returns a group by its name; throws `UnknownName`."""
        for group in self.groups:
            if group.name == name:
                return group
        raise UnknownName(self.name, name, nearest(name, (group.name for group in self.groups)))

    def present_group(self, name: str) -> str:
        """Returns the current name of a group for a current or earlier name."""
        return self.group_renames.get(name, name)

    def field(self, name: str, *, path: str) -> Field:
        """Returns a field by its name; throws `UnknownName` with the nearest name."""
        found = self.fields.get(name)
        if found is None:
            raise UnknownName(f"{path}.{name}", name, nearest(name, self.fields))
        return found


@dataclass(frozen=True)
class Resource:
    """A kind of record; its first section is its root."""

    name: str
    sections: tuple[Section, ...]
    shape: str = ""
    """A digest of the names and types of its sections, groups and fields; empty from a gateway without shapes."""

    @property
    def root(self) -> Section:
        return self.sections[0]

    def section(self, name: str) -> Section:
        """Returns a section by its name; throws `UnknownName` with the nearest name."""
        for section in self.sections:
            if section.name == name:
                return section
        raise UnknownName(name, name, nearest(name, (section.name for section in self.sections)))

    def has(self, name: str) -> bool:
        """Returns whether there is a section of this name."""
        return any(section.name == name for section in self.sections)


@dataclass(frozen=True)
class Rules:
    """The resources that this client may read, in one version of the rules."""

    version: str
    limits: Mapping[str, int]
    resources: Mapping[str, Resource]
    edition: str = ""
    """The version, with the resources that are still described as before it."""

    def resource(self, name: str) -> Resource:
        """Returns a resource by its name; throws `UnknownName` with the nearest name."""
        found = self.resources.get(name)
        if found is None:
            raise UnknownName(name, name, nearest(name, self.resources), code="unknown-resource")
        return found

    @staticmethod
    def parse(text: str | bytes, *, former: Mapping[str, Any] | None = None) -> Rules:
        """Reads an answer of `GET /v1/rules`; throws `ValueError` for another form.

        `former` has the earlier descriptions of resources whose records are still of an earlier shape. A resource
        whose earlier description is unknown (`None`) is described as the rules have it.
        """
        document = json.loads(text)
        former = former or {}
        try:
            described = [former.get(one["resource"]) or one for one in document["resources"]]
            resources = {one["resource"]: _resource(one) for one in described}
            version = str(document["version"])
            edition = ":".join([version, *sorted(former)])
            return Rules(version, dict(document.get("limits") or {}), resources, edition)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"these are no rules: {error!r}") from error


def _resource(described: Any) -> Resource:
    sections = tuple(_section(one) for one in described["sections"])
    return Resource(described["resource"], sections, str(described.get("shape") or ""))


def _section(described: Any) -> Section:
    groups = tuple(
        Group(
            one["group"],
            tuple(_field(each) for each in one["fields"]),
            one.get("merge"),
            bool(one.get("transitions")),
            tuple(one.get("formerly") or ()),
        )
        for one in described["groups"]
    )
    key = described.get("key") or [{}]
    return Section(
        name=described["section"],
        kind=described["kind"],
        groups=groups,
        read_only=tuple(one["field"] for one in described.get("readOnly") or []),
        is_generated=any(bool(column.get("generated")) for column in key),
        key_length=len(key),
        key_types=tuple(column.get("type", "") for column in key),
        types={
            **{one["field"]: one.get("type", "text") for one in described.get("readOnly") or []},
            **{one.name: one.type for group in groups for one in group.fields},
        },
        fields={one.name: one for group in groups for one in group.fields},
        group_of={one.name: group for group in groups for one in group.fields},
        renames=_renames(groups),
        group_renames=_group_renames(groups),
    )


def _renames(groups: tuple[Group, ...]) -> dict[str, str]:
    names = {one.name for group in groups for one in group.fields}
    earlier: dict[str, str] = {}
    for group in groups:
        if len(group.fields) == 1:
            earlier.update(dict.fromkeys(group.formerly, group.fields[0].name))
        for one in group.fields:
            earlier.update(dict.fromkeys(one.formerly, one.name))
    return {name: new for name, new in earlier.items() if name not in names}


def _group_renames(groups: tuple[Group, ...]) -> dict[str, str]:
    names = {group.name for group in groups}
    earlier: dict[str, str] = {}
    for group in groups:
        fields = group.fields[0].formerly if len(group.fields) == 1 else ()
        earlier.update(dict.fromkeys([*fields, *group.formerly], group.name))
    return {name: new for name, new in earlier.items() if name not in names}


def _field(described: Any) -> Field:
    known = {"field", "type", "nullable", "references", "formerly"}
    limits = {name: value for name, value in described.items() if name not in known}
    return Field(
        described["field"],
        described.get("type", "text"),
        bool(described.get("nullable", True)),
        limits,
        described.get("references"),
        tuple(described.get("formerly") or ()),
    )


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Returns the probable name."""
    by_fold = {one.lower(): one for one in names}
    if name.lower() in by_fold:
        return by_fold[name.lower()]
    found = difflib.get_close_matches(name.lower(), list(by_fold), n=1, cutoff=0.5)
    return by_fold[found[0]] if found else None
