"""Prints what a device has changed and what became of it."""

from __future__ import annotations

import os
import sys
from typing import Any

from fieldmerge import Outcome

Json = dict[str, Any]

BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"
LABEL_WIDTH = 26


def paint(text: str, *codes: str) -> str:
    """Text in colour, where standard output is a terminal and NO_COLOR is not set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return text
    return f"\033[{';'.join(codes)}m{text}\033[0m"


def heading(text: str) -> None:
    print(f"\n{paint(text, BOLD)}")


def changes(before: Json, after: Json) -> None:
    """What is different in a record, one field or item a line."""
    for section, now in after.items():
        was = before.get(section)
        if isinstance(now, list):
            _item_changes(section, was or [], now)
        elif section != "id":
            _field_changes(section, was or {}, now or {})


def _item_changes(section: str, was: list[Json], now: list[Json]) -> None:
    old = {str(item["id"]): item for item in was}
    for item in now:
        before = old.pop(str(item["id"]), None)
        if before is None:
            _line(f"{section}, a new one", _show({name: value for name, value in item.items() if name != "id"}))
        else:
            _field_changes(f"{section} {item['id']}", before, item)
    for item in old.values():
        _line(f"{section} {item['id']}", f"{_show(item)} → nothing")


def _field_changes(label: str, was: Json, now: Json) -> None:
    for name, value in now.items():
        if value != was.get(name):
            _line(f"{label}.{name}", f"{_show(was.get(name))} → {_show(value)}")


def outcome(of_edit: Outcome) -> None:
    """What became of an edit, the conflicts in full."""
    _line(of_edit.status, paint("no conflict" if not of_edit.conflicts else "but for what follows, as sent", GREEN))
    for conflict in of_edit.conflicts:
        item = f"{conflict.section} {conflict.item}" if conflict.item is not None else str(conflict.section)
        label = f"{item}.{conflict.group}" if conflict.group else item
        _line(label, paint(f"{conflict.outcome} (a conflict, by {conflict.rule})", YELLOW))
        for name in ("old", "current", "new", "written"):
            _line("", f"{paint(f'{name:<8}', DIM)} {_show(getattr(conflict, name))}")


def record(merged: Json) -> None:
    for section, rows in merged.items():
        if section == "id":
            continue
        for row in rows if isinstance(rows, list) else [rows]:
            _line(section, _show(row))


def failure(text: str) -> None:
    print(paint(text, RED), file=sys.stderr)


def _line(label: str, text: str) -> None:
    print(f"  {label:<{LABEL_WIDTH}}  {text}")


def _show(value: Any) -> str:
    if isinstance(value, dict):
        shown = [_show(member) for member in value.values() if member not in (None, "", [], {})]
        return ", ".join(shown) or "nothing"
    if isinstance(value, list):
        return ", ".join(_show(element) for element in value) or "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == "":
        return "nothing"
    return str(value).replace("\n", " ⏎ ")
