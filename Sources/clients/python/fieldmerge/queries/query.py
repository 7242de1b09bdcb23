"""A query: a test of a record, and the order in which records come. Scans, indexes and live queries use these two."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ..changes import Json
from ..errors import InvalidQuery, InvalidValue, UnknownName
from ..ids import is_temporary, plain
from ..rules import Field, Resource, nearest
from ..values import wire_value
from .keys import KINDS, NULL, NUMBERS, UNKNOWN, Place, id_key, keys_of, number, value_key, words_in, words_of

Range = tuple[bytes, bytes]
"""Encoded texts: the first one, and the end behind the last one."""

CONDITIONS = ("from", "before", "startsWith", "not")
_CHECKED = {"boolean", "date", "datetime", "timestamp", "time"}
_AFTER_ALL = b"\xff"  # UTF-8 never contains this byte.


def encoded(text: str) -> bytes:
    """Returns bytes with the order of texts."""
    return text.encode("utf-8", "surrogatepass")


class CountOptions(TypedDict, total=False):
    """The named arguments of `store.count`."""

    where: Mapping[str, Any] | None
    search: str | None


class QueryOptions(CountOptions, total=False):
    """The named arguments of `store.query` and `store.live`."""

    sort: Sequence[str]
    limit: int | None
    after: str | None
    follow: Mapping[str, str] | None


@dataclass(frozen=True)
class Options:
    """A query of the app."""

    where: Mapping[str, Any] | None = None
    search: str | None = None
    sort: Sequence[str] = ()
    limit: int | None = None
    after: str | None = None
    follow: Mapping[str, str] | None = None

    @property
    def names(self) -> Json:
        """Returns a description for reports, without values."""
        return {
            "where": list(self.where or ()),
            "sort": list(self.sort),
            "limit": self.limit,
            "search": bool(self.search),
        }


def place_of(resource: Resource, path: str) -> Place:
    """Returns the place of a path. Throws `UnknownName`."""
    name, _, field = path.partition(".")
    if path == "id":
        return Place(path, None, None, False, "", resource.root.key_types)
    if not resource.has(name):
        near = nearest(name, (one.name for one in resource.sections))
        raise UnknownName(path, name, near, code="unknown-section")
    section = resource.section(name)
    if section.is_list and field == "id":
        return Place(path, name, None, True, "", section.key_types)
    if field not in section.types:
        raise UnknownName(path, field, nearest(field, section.types), code="unknown-field")
    is_reference = field in section.fields and section.fields[field].references is not None
    return Place(path, name, field, section.is_list, section.types[field], is_reference=is_reference)


@dataclass(frozen=True)
class Followed:
    """A reference that a query follows: the place of its field, and the resource of its target."""

    place: Place
    resource: str

    def id_in(self, record: Json) -> Any:
        """Returns the id of the target; `None` if the field is null."""
        row = record.get(self.place.section or "")
        return row.get(self.place.field) if isinstance(row, dict) else None


def followed_by(resource: Resource, path: str) -> Followed:
    """Returns the reference of a path. Throws `UnknownName`, or `InvalidQuery` if the path names no reference."""
    place = place_of(resource, path)
    field = None if place.section is None else resource.section(place.section).fields.get(place.field or "")
    if field is None or field.references is None or place.is_list:
        raise InvalidQuery(path, "it is no reference of the root or of a singleton: follow a field with “references”")
    return Followed(place, field.references)


@dataclass(frozen=True)
class Condition:
    """A test of the texts of a place. If there are ranges, they contain a text of each record that matches."""

    place: Place
    test: Callable[[list[str]], bool]
    ranges: tuple[Range, ...] | None = None


@functools.total_ordering
class _Down:
    """A text of a column in descending order."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Down) and self.key == other.key

    def __lt__(self, other: _Down) -> bool:
        return other.key < self.key


class Query:
    """A query by the rules of a resource. Throws `UnknownName`, `InvalidQuery` and `InvalidValue`."""

    def __init__(
        self, resource: Resource, options: Options, *, searched: Sequence[str], resolve: Callable[[Any], Any]
    ) -> None:
        self.resource = resource.name
        self.temporary: dict[str, Any] = {}
        """The temporary ids in conditions, and the ids that they have now."""
        self._resolve = resolve
        self._check(options, searched)
        self.limit = options.limit
        self.conditions = [
            self._condition(place_of(resource, path), given) for path, given in (options.where or {}).items()
        ]
        self.sort = [(place_of(resource, path.removeprefix("-")), path.startswith("-")) for path in options.sort]
        for place, _ in self.sort:
            if place.is_list or place.type == "set":
                raise InvalidQuery(place.path, "it has several values: sort by a field of the root or of a singleton")
        if options.follow is not None and not isinstance(options.follow, Mapping):
            raise InvalidQuery("follow", "it is a dictionary of paths by name")
        self.follow = {name: followed_by(resource, path) for name, path in (options.follow or {}).items()}
        self.id_place = place_of(resource, "id")
        self.searched = [place_of(resource, path) for path in searched]
        self.words = [one for one in words_of(options.search or "") if one]
        self._columns = [*self.sort, (self.id_place, False)]
        self._sort = ",".join(options.sort)
        self.start_key: str | None = None
        """The first text of the place behind which the page begins."""
        self.start = None if options.after is None else self._place_after(options.after)

    @staticmethod
    def _check(options: Options, searched: Sequence[str]) -> None:
        if options.where is not None and not isinstance(options.where, Mapping):
            raise InvalidQuery("where", "it is a dictionary of conditions by path")
        if isinstance(options.sort, str) or not all(isinstance(path, str) for path in options.sort):
            raise InvalidQuery("sort", "it is a list of paths")
        limit = options.limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise InvalidQuery("limit", "it is an integer above zero")
        if options.search is not None and not isinstance(options.search, str):
            raise InvalidQuery("search", "it is a text")
        if options.search is not None and not searched:
            raise InvalidQuery("search", "it needs fields of this resource: name them in “search” at “open”")

    # Conditions

    def _condition(self, place: Place, given: Any) -> Condition:
        if not isinstance(given, Mapping):
            values = given if isinstance(given, (list, tuple, set, frozenset)) else [given]
            points = {self._key(place, one) for one in values}
            ranges = tuple((encoded(one), encoded(one) + b"\0") for one in sorted(points))
            return Condition(place, lambda keys: any(one in points for one in keys), ranges)
        for name in given:
            if name not in CONDITIONS:
                near = nearest(str(name), CONDITIONS)
                raise InvalidQuery(place.path, f"“{name}” is no condition: use {', '.join(CONDITIONS)}", near)
        parts: list[Condition] = []
        if "from" in given or "before" in given:
            parts.append(self._range(place, given))
        if "startsWith" in given:
            parts.append(self._prefix(place, given["startsWith"]))
        if "not" in given:
            refused = self._condition(place, given["not"]).test
            parts.append(Condition(place, lambda keys: not refused(keys)))
        if not parts:
            raise InvalidQuery(place.path, "it has no condition: use a value, a list, from, before, startsWith or not")
        ranges_of = [part.ranges for part in parts if part.ranges is not None]
        return Condition(
            place, lambda keys: all(part.test(keys) for part in parts), ranges_of[0] if ranges_of else None
        )

    def _range(self, place: Place, given: Mapping[str, Any]) -> Condition:
        if place.type == "json":
            raise InvalidQuery(place.path, "JSON has no ranges")
        low = self._key(place, given["from"], is_bound=True) if "from" in given else "1"
        high = self._key(place, given["before"], is_bound=True) if "before" in given else "2"
        return Condition(place, lambda keys: any(low <= one < high for one in keys), ((encoded(low), encoded(high)),))

    def _prefix(self, place: Place, given: Any) -> Condition:
        if place.field is None or place.type in KINDS or place.type == "date":
            raise InvalidQuery(place.path, "it is no text: use “startsWith” with texts")
        start = self._key(place, given, is_bound=True)
        span = encoded(start), encoded(start) + _AFTER_ALL
        return Condition(place, lambda keys: any(one.startswith(start) for one in keys), (span,))

    def _key(self, place: Place, value: Any, *, is_bound: bool = False) -> str:
        """Returns the text of a condition's value. Throws `InvalidValue` if the value does not fit the type."""
        if value is None and place.field is not None and not is_bound:
            return NULL
        value = plain(value)
        if place.field is None or place.is_reference:
            value = self._resolved(value)
        if place.field is None:
            parts = value if isinstance(value, list) else [value]
            is_id = len(parts) == max(len(place.id_types), 1) or is_temporary(value)
            if not is_id or not all(isinstance(one, (str, int, float)) and not isinstance(one, bool) for one in parts):
                raise InvalidValue(place.path, f"{value!r} is no id")
            return id_key(value, place.id_types)
        kind = "text" if place.type == "set" else place.type
        if place.is_reference and is_temporary(value):
            return value_key(value, kind)
        if kind in NUMBERS:
            value = str(value) if type(value).__name__ == "Decimal" else value
            if number(value) is None:
                raise InvalidValue(place.path, f"{value!r} is no number")
        elif kind == "json":
            if not isinstance(value, (str, int, float)):
                raise InvalidValue(place.path, "only a text, a number, a boolean or null is compared")
        elif kind in _CHECKED:
            if kind == "datetime" and isinstance(value, str) and len(value) == 10:
                value = f"{value}T00:00:00"
            if kind == "timestamp" and isinstance(value, str) and value[-5:-4] in ("+", "-") and ":" not in value[-5:]:
                value = f"{value[:-2]}:{value[-2:]}"
            value = wire_value(Field(place.path, kind, False, {}), value, path=place.path)
        elif not isinstance(value, str):
            value = wire_value(Field(place.path, kind, False, {}), value, path=place.path)
        return value_key(value, kind)

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._resolved(one) for one in value]
        if not is_temporary(value):
            return value
        self.temporary[value] = self._resolve(value)
        return self.temporary[value]

    # Records

    def matches(self, record: Json) -> bool:
        """Returns whether a record is in the result, on any page."""
        for condition in self.conditions:
            keys = keys_of(record, condition.place)
            if UNKNOWN in keys:
                keys = [one for one in keys if one]
                if not keys:
                    return False
            if not condition.test(keys):
                return False
        if not self.words:
            return True
        found = words_in(record, self.searched)
        return all(any(one.startswith(word) for one in found) for word in self.words)

    def order_of(self, record: Json) -> tuple[Any, ...]:
        """Returns the sort key of a record. It is unique."""
        keys = (keys_of(record, place)[0] for place, _ in self._columns)
        return self._ordered(keys)

    def _ordered(self, keys: Any) -> tuple[Any, ...]:
        return tuple(_Down(key) if is_down else key for key, (_, is_down) in zip(keys, self._columns))

    def is_behind(self, order: tuple[Any, ...]) -> bool:
        """Returns whether a sort key comes after the previous page."""
        return self.start is None or order > self.start

    def next_of(self, order: tuple[Any, ...]) -> str:
        """Returns the `next` of a page that ends with this sort key."""
        keys = [one.key if isinstance(one, _Down) else one for one in order]
        return json.dumps([*keys, self._sort])

    def _place_after(self, after: str) -> tuple[Any, ...]:
        try:
            keys = json.loads(after)
        except (TypeError, ValueError):
            keys = None
        is_known = isinstance(keys, list) and len(keys) == len(self._columns) + 1 and keys[-1] == self._sort
        if not is_known or not all(isinstance(one, str) for one in keys):
            raise InvalidQuery("after", "it is no “next” of this query")
        self.start_key = keys[0]
        return self._ordered(keys)
