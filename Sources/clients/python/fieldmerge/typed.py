"""Records as dataclasses that `fieldmerge types --language python` writes.

    orders = store.of(Orders)
    with orders.edit(7) as order:
        order.order.title = "Stools"
"""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Dict, Generic, List, TypeVar, Union

from .editing import as_plain
from .errors import NotPossible
from .ids import key_of
from .transaction import SingleEdit
from .values import json_equal

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .queries import LiveQuery
    from .queries.query import CountOptions, QueryOptions
    from .store import Store
    from .tickets import Ticket

JSONValue = Union[None, bool, int, float, str, List["JSONValue"], Dict[str, "JSONValue"]]
"""The value of a JSON column."""


class _WireText(str):
    """A date or time as the gateway sends it, so that dates such as `0000-00-00` survive."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class CalendarDate(_WireText):
    """A day such as `2026-11-20`."""

    __slots__ = ()

    @classmethod
    def of(cls, day: datetime.date) -> CalendarDate:
        """Returns the text of a day."""
        return cls(day.strftime("%Y-%m-%d").rjust(10, "0"))

    def date(self) -> datetime.date | None:
        """Returns the day; `None` for a date that no calendar has."""
        return _parsed(datetime.date.fromisoformat, self)


class LocalDateTime(_WireText):
    """A time without a time zone such as `2026-11-20T10:00:00`."""

    __slots__ = ()

    @classmethod
    def of(cls, time: datetime.datetime) -> LocalDateTime:
        """Returns the text of a time without a time zone; throws `ValueError` for another one."""
        if time.tzinfo is not None:
            raise ValueError("the time has a time zone")
        return cls(time.isoformat())

    def datetime(self) -> datetime.datetime | None:
        """Returns the time; `None` for a date that no calendar has."""
        return _parsed(datetime.datetime.fromisoformat, self)


class Timestamp(_WireText):
    """A moment such as `2026-11-20T10:00:00Z`, in UTC."""

    __slots__ = ()

    @classmethod
    def of(cls, moment: datetime.datetime) -> Timestamp:
        """Returns the text of a moment; throws `ValueError` for a time without a time zone."""
        if moment.tzinfo is None:
            raise ValueError("the time has no time zone")
        return cls(moment.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z"))

    def datetime(self) -> datetime.datetime | None:
        """Returns the moment in UTC; `None` for a date that no calendar has."""
        return _parsed(datetime.datetime.fromisoformat, self.replace("Z", "+00:00"))


class TimeSpan(_WireText):
    """A time such as `10:00:00`, from `-838:59:59` to `838:59:59`."""

    __slots__ = ()

    @classmethod
    def of(cls, time: datetime.time | datetime.timedelta) -> TimeSpan:
        """Returns the text of a time of day, or of a span."""
        if isinstance(time, datetime.time):
            return cls(time.replace(tzinfo=None).isoformat())
        micros = round(abs(time) / datetime.timedelta(microseconds=1))
        seconds, fraction = divmod(micros, 1_000_000)
        text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        sign = "-" if time < datetime.timedelta(0) else ""
        return cls(sign + text + (f".{fraction:06}".rstrip("0") if fraction else ""))

    def timedelta(self) -> datetime.timedelta:
        """Returns the span."""
        hours, minutes, seconds = self.lstrip("-").split(":")
        span = datetime.timedelta(hours=int(hours), minutes=int(minutes)) + _seconds(seconds)
        return -span if self.startswith("-") else span


def _seconds(text: str) -> datetime.timedelta:
    whole, _, fraction = text.partition(".")
    return datetime.timedelta(seconds=int(whole), microseconds=int(fraction.ljust(6, "0")) if fraction else 0)


_Parsed = TypeVar("_Parsed")


def _parsed(parse: Callable[[str], _Parsed], text: str) -> _Parsed | None:
    whole, dot, rest = text.partition(".")
    if dot:  # Python 3.10 reads fractions of three or six digits only.
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        text = f"{whole}.{digits.ljust(6, '0')[:6]}{rest[len(digits):]}"
    try:
        return parse(text)
    except ValueError:
        return None


def from_base64(text: str) -> bytes:
    """Returns the bytes of a binary field."""
    return base64.b64decode(text)


class _Values:
    """Equal if all values are equal. A field that is not known here yet is no attribute."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and json_equal(_values_of(other), _values_of(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in _values_of(self).items())
        return f"{type(self).__name__}({values})"


def _values_of(one: object) -> dict[str, Any]:
    return {name: value for name, value in vars(one).items() if name not in ("_source", "ticket")}


class TypedRow(_Values):
    """A row of a section. Generated classes extend it."""

    _fields: ClassVar[dict[str, tuple[str, Any, str]]]
    """By attribute: the field, the conversion of its JSON, and its use."""


_Row = TypeVar("_Row", bound=TypedRow)


class TypedRecord(_Values):
    """A record. Generated classes extend it."""

    _sections: ClassVar[dict[str, tuple[str, type[TypedRow], bool]]]
    """By attribute: the section, the class of its rows, and whether it is a list."""

    _source: Any = None
    """The record as the store returned it."""

    if TYPE_CHECKING:

        @property
        def ticket(self) -> Ticket | None:
            """The ticket of the edit, once it is on disk."""

    else:
        ticket = None


R = TypeVar("R", bound=TypedRecord)
_Other = TypeVar("_Other", bound=TypedRecord)


class ResourceType(Generic[R]):
    """A resource with the class of its records."""

    def __init__(self, name: str, record: type[R]) -> None:
        self.name = name
        self.record = record

    def __repr__(self) -> str:
        return f"ResourceType({self.name!r}, {self.record.__name__})"


class TypedResults(List[R]):
    """The records of a result in their order. `next` is the `after` of the page behind them, `None` if nothing follows."""

    next: str | None = None
    followed: Sequence[Mapping[str, Any]] = ()
    """For each record, by the names of `follow`, the record that it refers to, or `None`."""

    def followed_as(self, name: str, kind: ResourceType[_Other]) -> list[_Other | None]:
        """Returns the records of one name of `follow`, typed: one for each record of the result, or `None`."""
        found = [one[name] for one in self.followed]
        return [None if one is None else _read_record(kind.record, one) for one in found]


class TypedLive(Generic[R]):
    """A live query whose records are typed."""

    def __init__(self, live: LiveQuery, record: type[R]) -> None:
        self._live = live
        self._record = record

    @property
    def value(self) -> TypedResults[R] | None:
        """The result; `None` until the first answer."""
        value = self._live.value
        return None if value is None else _results(self._record, value)

    def subscribe(self, callback: Callable[[TypedResults[R]], Any]) -> Callable[[], None]:
        """Calls back with the value and with each later one. Returns a function that ends it."""
        return self._live.subscribe(lambda value: callback(_results(self._record, value)))

    def __iter__(self) -> Iterator[TypedResults[R]]:
        """Yields the value and each later one."""
        return (_results(self._record, value) for value in self._live)

    def close(self) -> None:
        """Ends it."""
        self._live.close()

    def __enter__(self) -> TypedLive[R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TypedEdit(Generic[R]):
    """A context manager over one record. The edit is on disk when the block ends; an exception in it leaves nothing."""

    def __init__(self, edit: SingleEdit, record: type[R]) -> None:
        self._edit = edit
        self._type = record

    def __enter__(self) -> R:
        self._target = self._edit.__enter__()
        self._record = _read_record(self._type, {**as_plain(self._target._parts), "id": self._target.id})
        return self._record

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            _write_record(self._record, self._target)
        self._edit.__exit__(kind, error, trace)
        if kind is None:
            object.__setattr__(self._record, "ticket", self._target.ticket)


class TypedRecords(Generic[R]):
    """The records of one resource, as `store.of` returns them. Each method is that of the store."""

    def __init__(self, store: Store, kind: ResourceType[R]) -> None:
        self._store = store
        self._name = kind.name
        self._record = kind.record

    def record(self, record_id: Any) -> R | None:
        """Returns a record, with unsent edits; `None` if there is none."""
        found = self._store.record(self._name, record_id)
        return None if found is None else _read_record(self._record, found)

    def records(self) -> list[R]:
        """Returns every record, in the order of keys."""
        return [_read_record(self._record, one) for one in self._store.records(self._name)]

    def query(self, **options: Unpack[QueryOptions]) -> TypedResults[R]:
        """Returns the records that match, in order; `followed_as` of the result has the types of those that it follows."""
        found = self._store.query(self._name, **options)
        return _results(self._record, found)

    def count(self, **options: Unpack[CountOptions]) -> int:
        """Returns how many records match."""
        return self._store.count(self._name, **options)

    def live(self, **options: Unpack[QueryOptions]) -> TypedLive[R]:
        """Returns a query that follows the store."""
        live = self._store.live(self._name, **options)
        return TypedLive(live, self._record)

    def observe(self, record_id: Any, callback: Callable[[R | None], Any]) -> Callable[[], None]:
        """Calls back with a record now and whenever it changes. Returns a function that ends it."""

        def call(found: Any) -> None:
            callback(None if found is None else _read_record(self._record, found))

        return self._store.observe(self._name, record_id, call)

    def edit(self, record_id: Any, *, base: R | None = None) -> TypedEdit[R]:
        """Edits a record: `with orders.edit(7) as order: order.order.title = "Stools"`."""
        read = None
        if base is not None and (read := base._source) is None:
            raise NotPossible("other-record", "The base was not read from the store.")
        return TypedEdit(self._store.edit(self._name, record_id, base=read), self._record)

    def create(self, record: R) -> Ticket:
        """Creates a record. The database fills fields that are `None`."""
        identity = getattr(record, "id", None)
        edit = self._store.create(self._name, identity)
        with edit as target:
            _write_record(record, target)
        ticket = target.ticket
        object.__setattr__(record, "ticket", ticket)
        return ticket  # type: ignore[no-any-return]

    def delete(self, record_id: Any) -> Ticket:
        """Deletes a record."""
        return self._store.delete(self._name, record_id)


def _results(record: type[R], found: Any) -> TypedResults[R]:
    results = TypedResults(_read_record(record, one) for one in found)
    results.next, results.followed = found.next, found.followed
    return results


def _read_record(record: type[R], values: Any) -> R:
    made = record.__new__(record)
    object.__setattr__(made, "id", values["id"])
    object.__setattr__(made, "_source", values)
    for attribute, (section, row, is_list) in record._sections.items():
        part = values.get(section)
        if is_list:
            value: Any = [_read_row(row, item) for item in part or []]
        else:
            value = None if part is None else _read_row(row, part)
        object.__setattr__(made, attribute, value)
    return made


def _read_row(row: type[_Row], values: Any) -> _Row:
    made = row.__new__(row)
    if "id" in values:
        object.__setattr__(made, "id", values["id"])
    for attribute, (field, convert, use) in row._fields.items():
        if field in values:
            value = as_plain(values[field])
            object.__setattr__(made, attribute, value if value is None or convert is None else convert(value))
        elif use != "write":
            object.__setattr__(made, attribute, None)  # the database has not filled it yet
    return made


def _write_record(record: TypedRecord, target: Any) -> None:
    """Assigns the values of a record to an edit, which compares them group by group."""
    before = target._before or {}
    for attribute, (section, _, is_list) in record._sections.items():
        value = getattr(record, attribute)
        if is_list:
            if value or section in before or target._before is None:
                known = {key_of(item["id"]) for item in before.get(section) or []}
                target[section] = [_write_row(item, is_new=key_of(_id(item)) not in known) for item in value]
        elif value is not None:
            target[section] = _write_row(value, is_new=before.get(section) is None)
        elif before.get(section) is not None:
            target[section] = None


def _id(row: TypedRow) -> Any:
    return vars(row).get("id")


def _write_row(row: TypedRow, *, is_new: bool) -> dict[str, Any]:
    """Returns the fields that the app may set. In a new row, the database fills those that are `None`."""
    held = vars(row)
    values = {} if held.get("id") is None else {"id": held["id"]}
    for attribute, (field, _, use) in row._fields.items():
        if attribute in held and (use == "write" or is_new and use == "create"):
            if held[attribute] is not None or not is_new:
                values[field] = held[attribute]
    return values
