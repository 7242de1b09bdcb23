"""Prints what a client sent and what became of it."""

from __future__ import annotations

import os
import sys
from typing import Any

from gateway import Json

BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"
LABEL_WIDTH = 26


def paint(text: str, *codes: str) -> str:
    """Text in colour, where standard output is a terminal and NO_COLOR is not set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return text
    return f"\033[{';'.join(codes)}m{text}\033[0m"


def heading(text: str) -> None:
    print(f"\n{paint(text, BOLD)}")


def sent(changeset: Json) -> None:
    """The changes of a changeset, one a line."""
    for section, change in changeset.items():
        for row in change if isinstance(change, list) else [change]:
            item = f"{section} {row['id']}" if "id" in row else section
            if "old" in row and "new" in row:
                _line(item, f"{_show(row['old'])} → {_show(row['new'])}")
                continue
            for group, value in row.items():
                if group != "id":
                    _line(f"{item}.{group}", f"{_show(value['old'])} → {_show(value['new'])}")


def outcomes(result: Json) -> None:
    """The outcomes of a push, the conflicts in full."""
    for outcome in result["outcomes"]:
        item = f"{outcome['section']} {outcome['id']}" if "id" in outcome else outcome["section"]
        label = f"{item}.{outcome['group']}" if "group" in outcome else item
        if not outcome.get("conflict"):
            _line(label, paint(outcome["outcome"], GREEN))
            continue
        _line(label, paint(f"{outcome['outcome']} (a conflict, by {outcome['rule']})", YELLOW))
        for name in ("old", "current", "new", "written"):
            _line("", f"{paint(f'{name:<8}', DIM)} {_show(outcome.get(name))}")


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
