"""Records as an app reads them, and as it edits them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, MutableSequence
from typing import Any, NoReturn, overload

from .errors import InvalidEdit, InvalidValue, UnknownName, UnknownValue
from .ids import key_of, plain, temporary_id
from .rules import Resource, Section, nearest
from .values import encodable, same, wire_value

Json = dict[str, Any]


class ReadOnlyError(TypeError):
    """A record that was read was assigned to, which would have no effect: edit it in `with store.edit(…)`."""


def _refuse(*_: object, **__: object) -> NoReturn:
    raise ReadOnlyError("what was read is a copy: edit it in “with store.edit(…) as s:”")


class Row(dict[str, Any]):
    """An object of a record as it was read: a dictionary whose members can also be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            if name == "problem":
                return None  # of a record that the server can read
            near = nearest(name, self)
            raise AttributeError(f"there is no “{name}”" + (f"; did you mean “{near}”?" if near else "")) from None

    __setattr__ = __delattr__ = _refuse
    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse
    __ior__ = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __copy__(self) -> Json:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Json:
        return {name: copy.deepcopy(value, memo) for name, value in self.items()}


class Rows(list[Any]):
    """A list of a record as it was read."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]


def as_read(value: Any) -> Any:
    """Returns read-only JSON for an app, with attributes and `[]`."""
    if isinstance(value, dict):
        return Row((name, as_read(one)) for name, one in value.items())
    if isinstance(value, list):
        return Rows(as_read(one) for one in value)
    return value


def as_plain(value: Any) -> Any:
    """Returns a deep copy as plain JSON, of a read record, an edited record, or JSON."""
    if isinstance(value, EditableRow):
        return as_plain(value._values)
    if isinstance(value, EditableList):
        return [as_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: as_plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(one) for one in value]
    return value


class EditableRow:
    """A row inside an edit: fields are read and assigned as attributes or with `[]`."""

    __slots__ = ("_section", "_path", "_values", "_is_new", "_is_form")

    def __init__(
        self, section: Section, path: str, values: Json, *, is_new: bool = False, is_form: bool = False
    ) -> None:
        object.__setattr__(self, "_section", section)
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_is_new", is_new)
        object.__setattr__(self, "_is_form", is_form)

    _section: Section
    _path: str
    _values: Json
    _is_new: bool
    _is_form: bool
    """Whether values are checked only when the form is saved: what is typed may not fit yet."""

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        if name == "id":
            raise UnknownName(f"{self._path}.id", "id", None)
        if name in self._section.fields or name in self._section.read_only:
            if not self._is_new:
                raise UnknownValue(f"{self._path}.{name}")
            return None
        raise UnknownName(f"{self._path}.{name}", name, nearest(name, self._section.fields))

    def __setitem__(self, name: str, value: Any) -> None:
        path = f"{self._path}.{name}"
        if name == "id" and self._section.is_list:
            if key_of(value) != key_of(self._values["id"]):
                raise InvalidValue(path, "the id of a row does not change")
            return
        if name in self._section.read_only:
            if value == self._values.get(name):
                return
            raise InvalidValue(path, "it is read-only")
        field = self._section.field(name, path=self._path)
        value = as_plain(value)
        if name in self._values and same(field, self._values[name], value):
            return  # an echo, also of a value that could not be written anew
        self._values[name] = value if self._is_form else wire_value(field, value, path=path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def update(self, values: Mapping[str, Any] | None = None, **more: Any) -> None:
        """Assigns several fields."""
        for name, value in {**(values or {}), **more}.items():
            self[name] = value

    def keys(self) -> Iterable[str]:
        return self._values.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a field, or the default if the row does not have it."""
        return self._values.get(name, default)

    def __eq__(self, other: object) -> bool:
        return bool(self._values == (other._values if isinstance(other, EditableRow) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._values)


class EditableList(MutableSequence[EditableRow]):
    """The items of a list inside an edit: append objects, delete and change items as in any list."""

    def __init__(self, section: Section, items: list[Json], *, is_form: bool = False) -> None:
        self._section = section
        self._is_form = is_form
        self._items = [
            EditableRow(section, f"{section.name}[{index}]", item, is_form=is_form) for index, item in enumerate(items)
        ]
        self._known = {key_of(item["id"]): item for item in items}

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> EditableRow: ...

    @overload
    def __getitem__(self, index: slice) -> list[EditableRow]: ...

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self._items))
            if step != 1:
                raise InvalidEdit(self._section.name, "a part with steps cannot be assigned")
            rows = [self._row(one, start + offset) for offset, one in enumerate(value)]
            self._items[start:stop] = rows
            return
        item = self._items[index]
        values = as_plain(value)
        item_id = values.pop("id", None)
        if item_id is not None and key_of(item_id) != key_of(item["id"]):
            self._items[index] = self._row({"id": item_id, **values}, index)
            return
        item.update(values)

    def __delitem__(self, index: Any) -> None:
        del self._items[index]

    def insert(self, index: int, value: Any) -> None:
        """Adds a new row to the list; the server decides on its position."""
        self._items.insert(index, self._row(value, len(self._items)))

    def _row(self, value: Any, index: int) -> EditableRow:
        if isinstance(value, EditableRow) and value._section is self._section:
            return value
        path = f"{self._section.name}[{index}]"
        if not isinstance(value, Mapping):
            raise InvalidEdit(path, "a row is an object of fields")
        values = as_plain(value)
        item_id = values.pop("id", None)
        if item_id is None:
            if not self._section.is_generated:
                raise InvalidEdit(f"{path}.id", "the database does not number these rows: the row needs an id")
            item_id = temporary_id()
        encodable(key_of(item_id), f"{path}.id")
        known = self._known.get(key_of(item_id))
        row = EditableRow(
            self._section,
            path,
            copy.deepcopy(known) if known else {"id": plain(item_id)},
            is_new=known is None,
            is_form=self._is_form,
        )
        row.update(values)
        return row

    def __eq__(self, other: object) -> bool:
        return bool(as_plain(self) == as_plain(other))

    def __repr__(self) -> str:
        return repr(self._items)


class EditableRecord:
    """A record inside an edit: sections are attributes, or members with `[]`.

    `id` is the record's id, temporary until the gateway has assigned one; `ticket` is set when the edit is on
    disk.
    """

    def __init__(
        self, resource: Resource, record_id: Any, record: Json | None, *, is_form: bool = False
    ) -> None:
        set_own = object.__setattr__
        set_own(self, "_resource", resource)
        set_own(self, "_before", copy.deepcopy(record))
        set_own(self, "id", record_id)
        set_own(self, "ticket", None)
        set_own(self, "_is_deleted", False)
        parts: dict[str, Any] = {}
        for section in resource.sections:
            part = copy.deepcopy((record or {}).get(section.name))
            if section.is_list:
                parts[section.name] = EditableList(section, part or [], is_form=is_form)
            elif record is None and section is resource.root:
                parts[section.name] = EditableRow(section, section.name, {}, is_new=True, is_form=is_form)
            elif part is None:
                parts[section.name] = None
            else:
                parts[section.name] = EditableRow(section, section.name, part, is_form=is_form)
        set_own(self, "_parts", parts)
        set_own(self, "_offered", {})

    _resource: Resource
    _before: Json | None
    _parts: dict[str, Any]
    _offered: dict[str, EditableRow]
    _is_deleted: bool
    id: Any
    ticket: Any

    def __getitem__(self, name: str) -> Any:
        if name == "id":
            return self.id
        section = self._resource.section(name)
        part = self._parts[name]
        if part is None:
            # A field of a singleton without a row can be assigned: that creates the row.
            if name not in self._offered:
                self._offered[name] = _OfferedRow(section, name)
            return self._offered[name]
        return part

    def __setitem__(self, name: str, value: Any) -> None:
        section = self._resource.section(name)
        if value is self._parts[name]:
            return  # such as “s.groceries += […]”
        if section.is_list:
            if value is None or isinstance(value, (str, bytes, Mapping)):
                raise InvalidEdit(name, "a list is a list of objects")
            self._parts[name][:] = list(value)
            return
        if value is None:
            if section is self._resource.root:
                raise InvalidEdit(name, "the record itself is deleted with “store.delete(…)”")
            self._parts[name] = None
            self._offered.pop(name, None)
            return
        if not isinstance(value, (Mapping, EditableRow)):
            raise InvalidEdit(name, "a section is an object of fields")
        values = as_plain(value)
        values.pop("id", None)
        row = self._parts[name]
        if row is None:
            before = (self._before or {}).get(name)
            row = EditableRow(section, name, copy.deepcopy(before) if before else {}, is_new=before is None)
        row.update(values)
        self._parts[name] = row

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("id", "ticket"):
            raise InvalidEdit(name, "it is not yours to assign")
        self[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __repr__(self) -> str:
        return repr(as_plain(self._state()))

    def _state(self) -> Json | None:
        """The edited record, after a check of values that were changed in place."""
        if self._is_deleted:
            return None
        state: Json = {"id": self.id}
        for section in self._resource.sections:
            part = self._parts[section.name]
            if part is None:
                offered = self._offered.get(section.name)
                part = offered if offered is not None and offered._values else None
            if part is None:
                # A section that this client does not read is not in its records.
                if self._before is None or section.name in self._before:
                    state[section.name] = None
            elif isinstance(part, EditableList):
                if part or self._before is None or section.name in self._before:
                    state[section.name] = self._items(section, part)
            else:
                before = (self._before or {}).get(section.name)
                state[section.name] = _checked(section, part, before)
        return state

    def _items(self, section: Section, items: EditableList) -> list[Json]:
        known = {key_of(item["id"]): item for item in (self._before or {}).get(section.name) or []}
        seen: set[str] = set()
        result = []
        for index, item in enumerate(items):
            key = key_of(item["id"])
            if key in seen:
                raise InvalidEdit(f"{section.name}[{index}].id", "two items have this id")
            seen.add(key)
            result.append(_checked(section, item, known.get(key)))
        return result


class _OfferedRow(EditableRow):
    """The row of a singleton section without a row. An assignment to a field creates it."""

    __slots__ = ()

    def __init__(self, section: Section, path: str) -> None:
        super().__init__(section, path, {}, is_new=True)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __eq__(self, other: object) -> bool:
        return other is None if not self._values else super().__eq__(other)

    __hash__ = None


def _checked(section: Section, row: EditableRow, before: Json | None) -> Json:
    values = {}
    for name, value in row._values.items():
        field = section.fields.get(name)
        if field is None:
            values[name] = value
            continue
        value = as_plain(value)
        if before is None or name not in before or not same(field, before[name], value):
            value = wire_value(field, value, path=f"{row._path}.{name}")
        values[name] = value
    return values
