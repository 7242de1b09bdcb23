"""Values of fields: their form on the wire, which values a field can contain, and when two are equal."""

from __future__ import annotations

import base64
import binascii
import datetime
import ipaddress
import math
import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from .errors import InvalidValue
from .ids import is_temporary
from .rules import Field, Group

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIME_OF_DAY = r"(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?"
_DATETIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})[T ]" + _TIME_OF_DAY)
_TIMESTAMP = re.compile(_DATETIME.pattern + r"(Z|[+-]\d{2}:\d{2})")
_TIME = re.compile(r"(-?)(\d{2,3}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.0+)?")

SAFE_INTEGER = 2**53


def wire_value(field: Field, value: Any, *, path: str) -> Any:
    """Returns a value as the gateway would send it; throws `InvalidValue` if the field cannot contain it."""
    if value is None:
        if not field.nullable:
            raise InvalidValue(path, "it cannot be null")
        return None
    if field.references and is_temporary(value):
        return value
    check = _CHECKS.get(field.type)
    return value if check is None else check(field, value, path)


def _decimal(value: Any, path: str) -> Decimal:
    if isinstance(value, bool):
        raise InvalidValue(path, "it is a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidValue(path, "it is a finite number")
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise InvalidValue(path, f"“{value}” is no number")
    if not isinstance(value, (int, float, str, Decimal)):
        raise InvalidValue(path, "it is a number")
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation as error:
        raise InvalidValue(path, f"“{value}” is no number") from error
    if not number.is_finite():
        raise InvalidValue(path, "it is a finite number")
    return number


def _integer(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, str) and not _WHOLE_NUMBER.fullmatch(value):
        raise InvalidValue(path, f"“{value}” is no whole number")
    number = _decimal(value, path)
    if abs(number.adjusted()) > 40 or number != number.to_integral_value():
        raise InvalidValue(path, f"{value} is no whole number that it can hold")
    whole = int(number)
    minimum, maximum = field.limits.get("minimum"), field.limits.get("maximum")
    if minimum is not None and whole < int(minimum) or maximum is not None and whole > int(maximum):
        raise InvalidValue(path, f"{whole} is not between {minimum} and {maximum}")
    bits = field.limits.get("bits")
    if bits is not None and not 0 <= whole < 2 ** int(bits):
        raise InvalidValue(path, f"{whole} does not fit into {bits} bits")
    return whole if abs(whole) <= SAFE_INTEGER else str(whole)


def _decimal_text(field: Field, value: Any, path: str) -> Any:
    number = _decimal(value, path)
    precision, scale = field.limits.get("precision"), field.limits.get("scale")
    if scale is None:
        return format(number, "f")
    if number.is_zero():
        return format(Decimal(0).quantize(Decimal(1).scaleb(-int(scale))), "f")
    if number.adjusted() > 100:
        raise InvalidValue(path, f"{value} has too many digits")
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)  # it is finite
    while digits and digits[-1] == 0 and exponent < -int(scale):
        digits, exponent = digits[:-1], exponent + 1
    if exponent < -int(scale):
        raise InvalidValue(path, f"{value} has more than {scale} decimals")
    if precision is not None and len(digits) + exponent > int(precision) - int(scale):
        raise InvalidValue(path, f"{value} has more digits than fit")
    whole = "".join(map(str, digits)) + "0" * max(0, exponent + int(scale))
    whole = whole.rjust(int(scale) + 1, "0")
    text = whole if int(scale) == 0 else f"{whole[: -int(scale)]}.{whole[-int(scale) :]}"
    return ("-" if sign else "") + text


def _floating(field: Field, value: Any, path: str) -> Any:
    number = _decimal(value, path)
    result = float(number)
    if not math.isfinite(result):
        raise InvalidValue(path, f"{value} is too great")
    return value if isinstance(value, (int, float)) else result


def _boolean(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise InvalidValue(path, "it is true or false")


def _text(field: Field, value: Any, path: str) -> Any:
    if not isinstance(value, str):
        raise InvalidValue(path, "it is text")
    encodable(value, path)
    characters, octets = field.limits.get("maximumCharacters"), field.limits.get("maximumBytes")
    if characters is not None and len(value) > int(characters):
        raise InvalidValue(path, f"it has {len(value)} characters, and {characters} fit")
    if octets is not None and len(value.encode()) > int(octets):
        raise InvalidValue(path, f"it has {len(value.encode())} bytes, and {octets} fit")
    return value


def encodable(value: str, path: str) -> None:
    """Throws `InvalidValue` for text with half a surrogate pair, which no column and no request can contain."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidValue(path, "half a surrogate pair is no character") from error


def _member(field: Field, value: Any, path: str) -> Any:
    members = field.limits.get("members")
    if not isinstance(value, str) or members is not None and value not in members:
        raise InvalidValue(path, f"{value!r} is none of {', '.join(members or [])}")
    encodable(value, path)
    return value


def _set(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, str):
        value = value.split(",") if value else []
    elif isinstance(value, (set, frozenset)):
        value = sorted(value)
    elif isinstance(value, tuple):
        value = list(value)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidValue(path, "it is a list of texts")
    members = field.limits.get("members")
    for one in value:
        encodable(one, path)
        if members is not None and one not in members:
            raise InvalidValue(path, f"“{one}” is none of {', '.join(members)}")
    if members is not None:
        return [one for one in members if one in value]
    return list(value)


def _valid_day(parts: tuple[str, ...], text: str, path: str) -> None:
    if parts == ("0000", "00", "00"):
        return
    try:
        datetime.date(int(parts[0]) or 4, int(parts[1]), int(parts[2]))
    except ValueError as error:
        raise InvalidValue(path, f"“{text}” is no day") from error


def _fraction(field: Field, digits: str | None, path: str) -> str:
    length = field.limits.get("fraction")
    if length is None:
        return f".{digits}" if digits else ""
    digits = digits or ""
    if digits[int(length) :].strip("0"):
        raise InvalidValue(path, f"it has more than {length} digits of a second")
    return f".{digits[: int(length)].ljust(int(length), '0')}" if int(length) else ""


def _clock(parts: tuple[str, ...], text: str, path: str) -> None:
    if int(parts[0]) > 23 or int(parts[1]) > 59 or int(parts[2]) > 59:
        raise InvalidValue(path, f"“{text}” is no time of day")


def _date(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    match = _DATE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidValue(path, "it is a day such as “2026-11-20”")
    _valid_day(match.groups(), value, path)
    return value


def _date_time(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise InvalidValue(path, "it is a time without an offset")
        value = value.isoformat()
    match = _DATETIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidValue(path, "it is a time such as “2026-11-20T10:00:00”")
    parts = match.groups()
    _valid_day(parts[:3], value, path)
    _clock(parts[3:6], value, path)
    return f"{value[:10]}T{value[11:19]}{_fraction(field, parts[6], path)}"


def _timestamp(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, datetime.datetime):
        value = value.isoformat()
        value = value[:-6] + "Z" if value.endswith("+00:00") else value
    match = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidValue(path, "it is a time with its offset, such as “2026-11-20T10:00:00Z”")
    parts = match.groups()
    _valid_day(parts[:3], value, path)
    _clock(parts[3:6], value, path)
    fraction = _fraction(field, parts[6], path)
    if parts[7] in ("Z", "+00:00", "-00:00") or parts[0] == "0000":
        return f"{value[:10]}T{value[11:19]}{fraction}Z"
    moment = datetime.datetime.fromisoformat(f"{value[:10]}T{value[11:19]}{parts[7]}")
    try:
        universal = moment.astimezone(datetime.timezone.utc)
    except OverflowError as error:
        raise InvalidValue(path, f"“{value}” is out of range") from error
    return universal.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + fraction + "Z"


def _time(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, datetime.time) and value.tzinfo is None:
        value = value.isoformat()
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[3]) > 59 or int(match[4]) > 59 or int(match[2]) > 838:
        raise InvalidValue(path, "it is a time such as “10:00:00”")
    return f"{match[1]}{match[2]}:{match[3]}:{match[4]}{_fraction(field, match[5], path)}"


def _binary(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        octets = bytes(value)
    else:
        try:
            octets = base64.b64decode(value, validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise InvalidValue(path, "it is bytes, or base64 as text") from error
    maximum = field.limits.get("maximumBytes")
    if maximum is not None and len(octets) > int(maximum):
        raise InvalidValue(path, f"it has {len(octets)} bytes, and {maximum} fit")
    return base64.b64encode(octets).decode()


def _uuid(field: Field, value: Any, path: str) -> Any:
    try:
        return str(value if isinstance(value, uuid.UUID) else uuid.UUID(value))
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidValue(path, "it is a UUID") from error


def _address(version: int) -> Callable[[Field, Any, str], Any]:
    def check(field: Field, value: Any, path: str) -> Any:
        try:
            address = ipaddress.ip_address(value if not isinstance(value, int) else str(value))
        except ValueError as error:
            raise InvalidValue(path, f"it is an address of IPv{version}") from error
        if address.version != version and version == 4:
            raise InvalidValue(path, "it is an address of IPv4")
        return value if isinstance(value, str) else str(address)

    return check


def _json(field: Field, value: Any, path: str) -> Any:
    return json_value(value, path=path)


def json_value(value: Any, *, path: str) -> Any:
    """Returns a copy of a JSON value; throws `InvalidValue` if it is not JSON."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        encodable(value, path)
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidValue(path, "it is a finite number")
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise InvalidValue(path, "names of members are texts")
        for name in value:
            encodable(name, path)
        return {name: json_value(one, path=f"{path}.{name}") for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(one, path=f"{path}[{index}]") for index, one in enumerate(value)]
    raise InvalidValue(path, f"{type(value).__name__} is nothing that JSON has")


_CHECKS: dict[str, Callable[[Field, Any, str], Any]] = {
    "boolean": _boolean,
    "integer": _integer,
    "bit": _integer,
    "year": _integer,
    "decimal": _decimal_text,
    "float": _floating,
    "double": _floating,
    "text": _text,
    "geometry": _text,
    "enum": _member,
    "set": _set,
    "date": _date,
    "datetime": _date_time,
    "timestamp": _timestamp,
    "time": _time,
    "binary": _binary,
    "uuid": _uuid,
    "inet4": _address(4),
    "inet6": _address(6),
    "json": _json,
}


def json_equal(one: Any, other: Any) -> bool:
    """Returns whether two JSON values are equal: numbers by value, members in any order, `true` is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(json_equal(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return type(one) is type(other) and bool(one == other)


_NUMBERS = {"integer", "bit", "year", "decimal", "float", "double"}


def same(field: Field, one: Any, other: Any) -> bool:
    """Returns whether a field would store the same for two values."""
    if json_equal(one, other):
        return True
    if one is None or other is None:
        return False
    if field.type in _NUMBERS:
        try:
            return _decimal(one, "") == _decimal(other, "")
        except InvalidValue:
            return False
    if field.type == "boolean":
        return one in (0, 1) and other in (0, 1) and bool(one) == bool(other)
    return False


def without(group: Group, row: Mapping[str, Any], old: Any, new: Any) -> dict[str, Any] | None:
    """Returns the numbers of a group minus those that an edit has added; `None` if a value is not a number."""
    before, after = group.spread(old), group.spread(new)
    result: dict[str, Any] = {}
    try:
        for field in group.fields:
            now, one, other = (_decimal(part.get(field.name), field.name) for part in (row, before, after))
            left = now - (other - one)
            result[field.name] = float(left) if field.type in ("float", "double") else format(left, "f")
    except InvalidValue:
        return None
    return result


def same_group(group: Group, one: Any, other: Any) -> bool:
    """Returns whether a group would store the same for two of its values."""
    left, right = group.spread(one), group.spread(other)
    return all(same(each, left.get(each.name), right.get(each.name)) for each in group.fields)
