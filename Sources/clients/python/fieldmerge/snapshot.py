"""Snapshots that an app is shipped with: NDJSON, also packed with gzip, or SQLite."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .changes import Json
from .errors import FieldMergeError
from .ids import key_of
from .model import Model

RECORDS_IN_A_TRANSACTION = 500


class BadSnapshot(FieldMergeError):
    """A file that is not a complete snapshot."""


@dataclass(frozen=True)
class Part:
    """Some lines of a snapshot: its first line, or records that are stored together."""

    head: Json | None = None
    records: list[Json] = field(default_factory=list)
    cursor: str | None = None
    """The place from which the next reading can go on."""
    is_last: bool = False


def parts_of(lines: Iterator[Json], *, error: type[Exception]) -> Iterator[Part]:
    """Yields the parts of a snapshot. The last part is missing if the file is incomplete; throws `error` if it
    has no beginning.
    """
    records: list[Json] = []
    began = False
    for line in lines:
        if "snapshot" in line:
            began = True
            yield Part(head=line)
        elif not began:
            raise error("the snapshot has no beginning")
        elif "record" in line:
            records.append(line)
            if len(records) >= RECORDS_IN_A_TRANSACTION:
                yield Part(records=records)
                records = []
        elif "cursor" in line:
            yield Part(records=records, cursor=line["cursor"])
            records = []
        elif "end" in line:
            yield Part(records=records, is_last=True)
            return


def load(model: Model, path: str | os.PathLike[str]) -> None:
    """Fills a new store from a snapshot; throws `BadSnapshot`, and continues an interrupted try."""
    with open(path, "rb") as file:
        beginning = file.read(16)
    if beginning.startswith(b"SQLite format 3\x00"):
        lines = _of_sqlite(path)
    else:
        lines = _of_text(path, packed=beginning.startswith(b"\x1f\x8b"))
    _store(model, lines)


def _store(model: Model, lines: Iterator[Json]) -> None:
    rules: Any = None
    for part in parts_of(lines, error=BadSnapshot):
        if part.head is not None:
            model.begin_snapshot(part.head["snapshot"])
            rules = part.head.get("rules")
            continue
        if part.records:
            model.store_part(part.records, cursor=None)
        if part.is_last:
            if rules is not None:
                model.store_rules(rules)
            model.end_snapshot()
            return
    model.forget_snapshot()
    raise BadSnapshot("the snapshot is not whole")


def _of_text(path: str | os.PathLike[str], *, packed: bool) -> Iterator[Json]:
    with gzip.open(path, "rb") if packed else open(path, "rb") as file:
        try:
            for line in file:
                if line.strip():
                    value = json.loads(line)
                    if not isinstance(value, dict):
                        raise BadSnapshot("a line of the snapshot is no object")
                    yield value
        except (ValueError, OSError, EOFError) as error:
            raise BadSnapshot(f"the snapshot cannot be read: {error}") from error


def _of_sqlite(path: str | os.PathLike[str]) -> Iterator[Json]:
    connection = sqlite3.connect(f"file:{os.fspath(path)}?mode=ro", uri=True)
    try:
        meta = {name: json.loads(value) for name, value in connection.execute("SELECT name, value FROM meta")}
        count = connection.execute("SELECT count(*) FROM base").fetchone()[0]
        if "feed" not in meta or "revision" not in meta:
            raise BadSnapshot("the file has no feed and revision")
        head = {"feed": meta["feed"], "revision": meta["revision"], "rules": meta.get("rulesVersion"), "records": count}
        yield {"snapshot": head, "rules": meta.get("rules")}
        for resource, record_id, record in connection.execute("SELECT resource, id, record FROM base"):
            yield {"resource": resource, "id": json.loads(record_id), "record": json.loads(record)}
        yield {"end": {"records": count}}
    except (sqlite3.Error, ValueError) as error:
        raise BadSnapshot(f"the snapshot cannot be read: {error}") from error
    finally:
        connection.close()


def to_sqlite(source: str | os.PathLike[str], target: str | os.PathLike[str], *, rules: str | None = None) -> int:
    """Converts a snapshot from NDJSON to SQLite; returns the number of records.

    With `rules`, the text of `GET /v1/rules`, records can be edited before the first sync.
    """
    with open(source, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    count = 0
    connection = sqlite3.connect(os.fspath(target))
    try:
        with connection:
            connection.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
            connection.execute(
                "CREATE TABLE base (resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,"
                " generation INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (resource, key)) WITHOUT ROWID"
            )
            whole = False
            for line in _of_text(source, packed=packed):
                if "snapshot" in line:
                    head = line["snapshot"]
                    meta = {"feed": head["feed"], "revision": head["revision"], "rulesVersion": head.get("rules")}
                    if rules is not None:
                        meta["rules"] = rules
                    connection.executemany(
                        "INSERT INTO meta VALUES (?, ?)", [(name, json.dumps(value)) for name, value in meta.items()]
                    )
                elif "record" in line:
                    key = key_of(line["id"])
                    values = line["resource"], key, json.dumps(line["id"]), json.dumps(line["record"])
                    connection.execute("INSERT INTO base VALUES (?, ?, ?, ?, 0)", values)
                    count += 1
                whole = "end" in line
            if not whole:
                raise BadSnapshot("the snapshot is not whole")
    finally:
        connection.close()
    return count
