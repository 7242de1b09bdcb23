"""The store's file: SQLite, one connection, and atomic transactions. `schema` has its tables."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import StoreClosed, WrongStore
from .owners import end_owner, new_owner
from .schema import prepare

log = logging.getLogger("fieldmerge")

TRIGGERS = ("index_insert", "index_update", "index_delete")
"""Triggers of `base` that note changes for the indexes of queries."""


class Database:
    """One connection to a store's file, which one thread uses at a time."""

    def __init__(self, path: str | os.PathLike[str], *, reads_only: bool = False) -> None:
        self.path = os.fspath(path)
        self.lock = threading.RLock()
        self.owner = new_owner()
        """The name of this opening of the file."""
        self.on_step: Callable[[str], None] | None = None
        """For tests: called before each statement of a transaction, before and after it is committed."""
        self.on_rollback: Callable[[], None] = lambda: None
        self.on_begin: Callable[[], None] = lambda: None
        """Called as the first part of each transaction."""
        self._depth = 0
        self._is_closed = False
        self.is_left = False
        """Whether a process that has signed out was killed before it had deleted the file."""
        self._after: list[Callable[[], None]] = []
        self._writer: int | None = None
        """The thread of the transaction under way."""
        name = Path(self.path).absolute().as_uri() + "?mode=rw" if reads_only else self.path
        connection = sqlite3.connect(
            name, timeout=30, isolation_level=None, check_same_thread=False, cached_statements=256, uri=reads_only
        )
        self._connection = connection
        if reads_only:
            connection.execute("PRAGMA query_only = ON")
            return
        try:
            if self.path != ":memory:":
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = OFF")
            self._create()
        except sqlite3.DatabaseError as error:
            connection.close()
            raise WrongStore(f"{self.path} is no store: {error}") from error
        except BaseException:
            connection.close()
            raise

    def _create(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            prepare(self._connection, self.path)
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise

    def reader(self) -> Database:
        """Returns a connection that reads while this one writes; this one if the store is in memory."""
        return self if self.path == ":memory:" else Database(self.path, reads_only=True)

    @property
    def is_writing(self) -> bool:
        """Whether this thread has a transaction under way."""
        return self._writer == threading.get_ident()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Makes all reads in this context return one state of the store."""
        with self.lock:
            if self._is_closed:
                raise StoreClosed("the store is closed")
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if not self._is_closed and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def each(self, statement: str, *values: Any) -> Iterator[Any]:
        """Returns the rows of a query one by one, inside `snapshot`."""
        return self._connection.execute(statement, values)

    @contextmanager
    def transaction(self, name: str) -> Iterator[None]:
        """Runs statements in a transaction: all of them are on disk when it ends, or none if it throws."""
        with self.lock:
            if self._depth:
                yield from self._run_inside()
                return
            after = yield from self._run(name)
        # Without the lock, since apps are called from here. What fails here is no failure of the transaction.
        for call in after:
            try:
                call()
            except Exception:
                log.exception("what follows a transaction failed")

    def _run_inside(self) -> Generator[None, None, None]:
        """Runs the part of a transaction that may fail alone: an app may catch its exception and go on."""
        count = len(self._after)
        self._depth += 1
        self._connection.execute(f"SAVEPOINT part{self._depth}")
        try:
            yield
        except BaseException:
            del self._after[count:]
            if self._connection.in_transaction:
                self._connection.execute(f"ROLLBACK TO part{self._depth}")
            raise
        finally:
            if self._connection.in_transaction:
                self._connection.execute(f"RELEASE part{self._depth}")
            self._depth -= 1

    def _run(self, name: str) -> Generator[None, None, list[Callable[[], None]]]:
        if self._is_closed:
            raise StoreClosed("the store is closed")
        self._step(f"{name}: begin")
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")  # that of a transaction before failed
        self._connection.execute("BEGIN IMMEDIATE")
        self._depth = 1
        self._writer = threading.get_ident()
        self._after = []
        try:
            self.on_begin()
            yield
            self._step(f"{name}: commit")
            self._connection.execute("COMMIT")
        except BaseException:
            self._after = []
            self.on_rollback()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._depth = 0
            self._writer = None
        self._step(f"{name}: committed")
        after, self._after = self._after, []
        return after

    def after_commit(self, call: Callable[[], None]) -> None:
        """Runs a call after the commit of the current transaction."""
        self._after.append(call)

    def _step(self, name: str) -> None:
        if self.on_step is not None:
            self.on_step(name)

    def write(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Runs a statement that writes, inside a transaction."""
        assert self._depth, "writes stand in a transaction"
        self._check_transaction()
        if self.on_step is not None:
            self.on_step(statement.split("(")[0].strip())
        try:
            return self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            if " base " not in statement or not self._is_without_triggers():
                raise
            log.warning("the indexes of queries are built again: %s", error)
            return self._connection.execute(statement, values)

    def built_indexes(self) -> list[Any]:
        """Returns resource, paths and state of the indexes of queries, for support."""
        if not self.value("SELECT 1 FROM sqlite_master WHERE name = 'indexes'"):
            return []
        rows = self.rows("SELECT resource, definition, built IS NULL FROM indexes ORDER BY number")
        return [
            {"resource": resource, "paths": [place[0] for place in json.loads(text)[4]], "isWhole": bool(is_whole)}
            for resource, text, is_whole in rows
        ]

    def drop_triggers(self) -> None:
        """Drops the triggers, in the current transaction: no index is used any more."""
        for name in TRIGGERS:
            self.write(f"DROP TRIGGER IF EXISTS {name}")

    def has_triggers(self) -> bool:
        """Whether the indexes of queries count."""
        return self._trigger_count() == len(TRIGGERS)

    def _trigger_count(self) -> int:
        find = f"SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name IN {TRIGGERS}"
        return int(self.value(find))

    def index_tables(self) -> list[str]:
        """Returns the names of the tables of indexes."""
        find = "SELECT name FROM sqlite_master WHERE type = 'table' AND (name GLOB 'index_[0-9]*' OR name IN (?, ?))"
        return [name for (name,) in self.rows(find, "indexes", "changed")]

    def interrupt(self) -> None:
        """Breaks off a query that another thread runs."""
        if not self._is_closed:
            self._connection.interrupt()

    def write_many(self, statement: str, rows: list[Any]) -> None:
        """Runs a statement once for each row, inside a transaction."""
        self._check_transaction()
        self._step(statement.split("(")[0].strip())
        self._connection.executemany(statement, rows)

    def _is_without_triggers(self) -> bool:
        """Drops the triggers in which a statement may have failed. Returns false if there are none."""
        try:
            if not self._connection.in_transaction or not self._trigger_count():
                return False
            for name in TRIGGERS:
                self._connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        except sqlite3.DatabaseError:
            return False
        return True

    def _check_transaction(self) -> None:
        """Throws if SQLite has rolled back the current transaction: later statements would be stored alone."""
        if not self._connection.in_transaction:
            raise sqlite3.OperationalError("the transaction was rolled back")

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Returns all rows of a query."""
        with self.lock:
            if self._is_closed:
                raise StoreClosed("the store is closed")
            return self._connection.execute(statement, values).fetchall()

    def row(self, statement: str, *values: Any) -> Any:
        """Returns the first row of a query, or `None`."""
        with self.lock:
            if self._is_closed:
                raise StoreClosed("the store is closed")
            return self._connection.execute(statement, values).fetchone()

    def value(self, statement: str, *values: Any) -> Any:
        """Returns the first value of a query, or `None`."""
        row = self.row(statement, *values)
        return None if row is None else row[0]

    def meta(self, name: str) -> Any:
        """Returns the note under a name, or `None`."""
        value = self.value("SELECT value FROM meta WHERE name = ?", name)
        return None if value is None else json.loads(value)

    def set_meta(self, name: str, value: Any) -> None:
        """Stores a note under a name; `None` removes it."""
        self._check_transaction()
        if value is None:
            self._connection.execute("DELETE FROM meta WHERE name = ?", (name,))
        else:
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    @property
    def data_version(self) -> int:
        """A number that changes when another process has written."""
        return int(self.value("PRAGMA data_version"))

    def close(self) -> None:
        """Closes the file."""
        with self.lock:
            if not self._is_closed:
                self._is_closed = True
                self._connection.close()
                end_owner(self.owner)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def remove(self) -> None:
        """Closes the file and deletes it."""
        self.close()
        if self.path == ":memory:":
            return
        # The file itself is last, because a new file gets a new log.
        for suffix in ("-wal", "-shm", ""):
            try:
                os.unlink(self.path + suffix)
            except FileNotFoundError:
                pass
