"""Texts with the order of values. Conditions, orders and indexes compare only these texts.

The lesser of two values has the lesser text by code points, and equal values have equal texts. The first character is
`0` for null and `1` for a value. A missing field has the empty text.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..changes import Json

UNKNOWN, NULL = "", "0"

_NUMBER = re.compile(r"(-?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?")
_COMPLEMENT = str.maketrans("0123456789", "9876543210")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?([+-])(\d\d):?(\d\d)", re.ASCII)
_TIME = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class Place:
    """The target of a path: a field of a section, or an id if `field` is missing."""

    path: str
    section: str | None
    field: str | None
    is_list: bool
    type: str
    id_types: tuple[str, ...] = ()
    is_reference: bool = False
    """Whether its values are ids of records."""


def number(value: Any) -> str | None:
    """Returns the text of a number or of decimal digits; `None` for anything else."""
    if type(value) is int and value > 0:
        text = str(value)
        return f"2{len(text) + 500_000:07d}{text.rstrip('0')}"
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    match = _NUMBER.fullmatch(value if isinstance(value, str) else repr(value))
    if match is None or not (match[2] or match[3]):
        return None
    sign, whole, fraction, power = match[1], match[2].lstrip("0"), match[3], int(match[4] or 0)
    digits = (whole + fraction).strip("0")
    if not digits:
        return "1"
    point = power + (len(whole) or len(fraction.lstrip("0")) - len(fraction))
    key = f"{min(max(point, -499_999), 499_999) + 500_000:07d}{digits}"
    # Negative numbers: more digits and greater digits come first.
    return f"0{key.translate(_COMPLEMENT)}~" if sign else f"2{key}"


def _json(value: Any) -> str:
    if isinstance(value, bool):
        return f"1{value:d}"
    if isinstance(value, str):
        return f"3{value}"
    found = number(value)
    return "4" if found is None else f"2{found}"


def _numeric(value: Any) -> str:
    return number(value) or _json(value)  # Other values, such as a temporary id, follow all numbers.


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _boolean(value: Any) -> str:
    return str(int(value)) if isinstance(value, int) else _json(value)


def _datetime(value: Any) -> str:
    """Ignores zeros at the end of a fraction. A date is its midnight."""
    if not isinstance(value, str):
        return _json(value)
    if len(value) == 10:
        return f"{value}T00:00:00"
    text: str = value.replace(" ", "T", 1)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _timestamp(value: Any) -> str:
    match = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return _datetime(value.rstrip("Z") if isinstance(value, str) else value)
    second = f"{match[1]}T{match[2]}"
    offset = datetime.timedelta(hours=int(match[5]), minutes=int(match[6]))
    try:
        moment = datetime.datetime.fromisoformat(second)
        second = (moment - offset if match[4] == "+" else moment + offset).isoformat()
    except (ValueError, OverflowError):
        pass  # for example a day of zeros
    return _datetime(second + (match[3] or ""))


def _time(value: Any) -> str:
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return _numeric(value)
    seconds = int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4])
    return _numeric(f"{match[1]}{seconds}{match[5] or ''}")


NUMBERS = {"integer", "year", "bit", "decimal", "float", "double"}
KINDS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(NUMBERS, _numeric),
    "boolean": _boolean,
    "datetime": _datetime,
    "timestamp": _timestamp,
    "time": _time,
    "json": _json,
}
"""The texts of values by their type. All other types compare as texts."""


def value_key(value: Any, kind: str) -> str:
    """Returns the text of a value of a type."""
    return NULL if value is None else "1" + KINDS.get(kind, _text)(value)


def id_key(record_id: Any, types: tuple[str, ...]) -> str:
    """Returns the text of an id by the types of its columns."""
    parts = record_id if isinstance(record_id, (list, tuple)) else [record_id]
    kinds = (*types, *[""] * len(parts))
    keys = [KINDS.get(kind, _text)(part).replace("\0", "\0\x02") for part, kind in zip(parts, kinds)]
    return "1" + "\0\x01".join(keys)  # If a text is a prefix of another, it comes first.


def keys_of(record: Json, place: Place) -> list[str]:
    """Returns the texts of the values of a record at a place: one, except for a list or a set."""
    if place.section is None:
        return [id_key(record["id"], place.id_types)]
    if place.section not in record:
        return [UNKNOWN]
    part = record[place.section]
    if not place.is_list:
        return _of_row(part, place)
    return [key for row in part or [] for key in _of_row(row, place)]


def _of_row(row: Json | None, place: Place) -> list[str]:
    if place.field is None:
        return [id_key((row or {}).get("id"), place.id_types)]
    if row is None:
        return [NULL]
    if place.field not in row:
        return [UNKNOWN]
    value = row[place.field]
    return (
        [value_key(one, "text") for one in _members(value)] if place.type == "set" else [value_key(value, place.type)]
    )


def _members(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [one for one in value.split(",") if one]
    return value if isinstance(value, list) else [value]


def words_of(text: str) -> list[str]:
    """Returns the words of a text: runs of letters and digits, without case and accents."""
    if text.isascii():
        return re.findall("[a-z0-9]+", text.lower())
    plain = "".join(one for one in unicodedata.normalize("NFD", text) if unicodedata.category(one)[0] != "M")
    plain = plain.lower().replace("ß", "ss").replace("ς", "σ")
    return "".join(one if unicodedata.category(one)[0] in "LN" else " " for one in plain).split(" ")


def words_in(record: Json, places: Iterable[Place]) -> set[str]:
    """Returns the words of a record at some places."""
    found: set[str] = set()
    for place in places:
        part = record.get(place.section or "")
        for row in part or [] if place.is_list else [part]:
            value = (row or {}).get(place.field or "")
            for one in _members(value) if place.type == "set" else [value]:
                found.update(words_of(one) if isinstance(one, str) else ())
    found.discard("")
    return found
