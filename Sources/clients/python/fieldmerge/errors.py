"""Errors of the library. Answers of a server are not errors, but part of reports and outcomes."""

from __future__ import annotations

import sqlite3


class FieldMergeError(Exception):
    """Any error of this library."""


class InvalidEdit(FieldMergeError):
    """An edit that the rules do not permit; nothing of it was stored.

    `path` is the place, such as `customer.postCode` or `groceries[0].quantity`.
    """

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(f"{path}: {detail}")
        self.path = path
        self.detail = detail


class UnknownName(InvalidEdit, AttributeError, KeyError):
    """A resource, section or field that the rules do not have; `nearest` is the probable name."""

    def __init__(self, path: str, name: str, nearest: str | None, *, code: str = "unknown-name") -> None:
        hint = f"; did you mean “{nearest}”?" if nearest else ""
        super().__init__(path, f"there is no “{name}”{hint}")
        self.name = name
        self.nearest = nearest
        self.code = code

    def __str__(self) -> str:  # KeyError would quote the sentence
        return f"{self.path}: {self.detail}"


class UnknownValue(InvalidEdit, AttributeError, KeyError):
    """A field whose value is unknown: the record was read under rules without the field."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "its value is not known yet; let the store sync first")

    def __str__(self) -> str:  # KeyError would quote the sentence
        return f"{self.path}: {self.detail}"


class InvalidValue(InvalidEdit, ValueError):
    """A value that does not fit its field."""

    code = "invalid-value"


class InvalidQuery(FieldMergeError, ValueError):
    """A query that cannot be run. `path` is the path or the option at fault, `nearest` the probable name."""

    code = "invalid-query"

    def __init__(self, path: str, detail: str, nearest: str | None = None) -> None:
        super().__init__(f"{path}: {detail}" + (f"; did you mean “{nearest}”?" if nearest else ""))
        self.path = path
        self.detail = detail
        self.nearest = nearest


class RecordNotFound(FieldMergeError, LookupError):
    """The record to be edited does not exist for this client."""

    def __init__(self, resource: str, record_id: object) -> None:
        super().__init__(f"there is no record {record_id!r} of {resource}")
        self.resource = resource
        self.record_id = record_id


class RulesUnknown(FieldMergeError):
    """The store has no rules yet: sync once before the first edit."""


class Offline(FieldMergeError):
    """A record of a resource that is not kept was requested, and there was no answer."""


class RequestRefused(FieldMergeError):
    """The gateway refused a read of a record of a resource that is not kept; `problem` is the reason."""

    def __init__(self, status: int, problem: dict[str, object]) -> None:
        super().__init__(f"{status}: {problem.get('detail') or problem.get('title') or 'no details'}")
        self.status = status
        self.problem = problem


class UnsentEdits(FieldMergeError):
    """A sign-out would have lost edits: `unsent` is the number of edits that are not in the gateway's journal,
    including refused edits."""

    def __init__(self, unsent: int) -> None:
        plural = "edit" if unsent == 1 else "edits"
        super().__init__(f"{unsent} {plural} would be lost: not sent yet, or refused and in no journal")
        self.unsent = unsent


class WrongStore(FieldMergeError):
    """The file is the store of another server or user, or no store at all."""


class StorageError(FieldMergeError, sqlite3.OperationalError):
    """The store's file cannot be written, so the edit is not stored: for example, the disk is full."""

    code = "storage"


class NotPossible(FieldMergeError):
    """A call that cannot be done. `code` is the reason: `other-record`, `sending`, `changed`,
    `nothing-left`, `several-records`, `not-refused`, `not-listed`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class NewerStore(WrongStore):
    """The file was written by a later version of this library. `fieldmerge.export_store(path, target)` exports it."""

    code = "newer-store"

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(f"{path} has the format {found}, this version knows {known}: use a later one, or export it")


class StoreClosed(FieldMergeError):
    """The store was closed or signed out of."""
