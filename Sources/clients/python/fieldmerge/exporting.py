"""Exports of stores, also of a later version."""

from __future__ import annotations

import json
import os
import sqlite3
from typing import Any


def export_store(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Writes every row of a store's file into another file, one JSON value a line: `{"table": {column: value}}`.

    Works for any format of the store, and changes nothing.
    """
    connection = sqlite3.connect(f"file:{os.fspath(path)}?mode=ro", uri=True)
    try:
        with open(target, "w", encoding="utf-8") as file:
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            ).fetchall()
            for (table,) in names:
                cursor = connection.execute(f'SELECT * FROM "{table}"')
                columns = [column[0] for column in cursor.description]
                for row in cursor:
                    values = {name: _plain(value) for name, value in zip(columns, row)}
                    file.write(json.dumps({table: values}, ensure_ascii=False) + "\n")
    finally:
        connection.close()


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
