"""Ids of records and items: scalars, arrays for keys of several columns, and temporary ids."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote

PREFIX = "tmp:"


def temporary_id() -> str:
    """Returns a new temporary id: random, so that no two devices ever choose the same."""
    return PREFIX + str(uuid.uuid4())


def is_temporary(value: object) -> bool:
    """Returns whether a value is an id of a row that was not created yet."""
    return isinstance(value, str) and value.startswith(PREFIX)


def key_of(record_id: Any) -> str:
    """Returns an id as text. Equal ids have equal texts, and 7 equals "7"."""
    if isinstance(record_id, (list, tuple)):
        return "\x1f".join(_part(part) for part in record_id)
    return _part(record_id)


def _part(part: Any) -> str:
    if isinstance(part, bool):
        return "1" if part else "0"
    if isinstance(part, float) and part.is_integer():
        return str(int(part))
    return str(part)


def plain(record_id: Any) -> Any:
    """Returns an id in JSON: a tuple becomes a list."""
    return list(record_id) if isinstance(record_id, tuple) else record_id


def in_url(record_id: Any) -> str:
    """Returns an id as part of an address."""
    parts = record_id if isinstance(record_id, (list, tuple)) else [record_id]
    return ",".join(quote(_part(part), safe="") for part in parts)


def order_of(record_id: Any) -> tuple[Any, ...]:
    """Returns a sort key with the gateway's order of ids: numbers by value, new rows last."""
    parts = record_id if isinstance(record_id, (list, tuple)) else [record_id]
    order: list[Any] = []
    for part in parts:
        if is_temporary(part):
            order.append((2, 0, ""))
        elif isinstance(part, (int, float)):
            order.append((0, part, ""))
        else:
            order.append((1, 0, str(part)))
    return tuple(order)
