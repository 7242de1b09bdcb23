"""The option `keep`: a subset on the device, as the filter of requests."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

from .errors import InvalidQuery

Keep = Mapping[str, Mapping[str, Mapping[str, Any]]] | None


def filter_of(keep: Keep) -> str | None:
    """Returns the filter of a subset as JSON; `None` for all records. The gateway checks names and values.

    Throws `InvalidQuery` if the subset has a wrong form.
    """
    found = {}
    for resource, told in (keep or {}).items():
        path = f"keep.{resource}"
        if not isinstance(told, Mapping) or set(told) - {"where"} or not isinstance(told.get("where", {}), Mapping):
            raise InvalidQuery(path, "it must be a dictionary with “where”")
        where = {name: _condition(f"{path}.{name}", value) for name, value in told.get("where", {}).items()}
        if where:
            found[resource] = where
    return json.dumps(found, sort_keys=True, ensure_ascii=False) if found else None


def _condition(path: str, given: Any) -> Any:
    if isinstance(given, Mapping):
        for name in given:
            if name not in ("from", "before"):
                raise InvalidQuery(path, f"it cannot have “{name}”. Use a value, None, a list, from or before")
        return {name: _plain(path, value) for name, value in given.items()}
    return _plain(path, given)


def _plain(path: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(path, one) for one in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise InvalidQuery(path, f"a {type(value).__name__} is no value of a condition")
