"""Edits of an app, from the first assignment until they are on disk."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from .changes import Json, difference
from .editing import EditableRecord, as_plain, as_read
from .errors import InvalidEdit, NotPossible, RecordNotFound
from .ids import key_of, plain, temporary_id
from .model import Draft, Model
from .renames import renamed_record
from .rules import Resource
from .values import encodable

if TYPE_CHECKING:
    from .store import Store
    from .tickets import Ticket


class RecordEdit(EditableRecord):
    """A record inside a transaction; may also be used with `with`, whose failure drops this part."""

    def __init__(self, owner: Transaction, *arguments: Any) -> None:
        super().__init__(*arguments)
        object.__setattr__(self, "_owner", owner)

    _owner: Transaction
    _base: Json | None = None

    def __enter__(self) -> RecordEdit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._owner._drop(self)


class Transaction:
    """Edits of several records that become one push."""

    def __init__(self, store: Store, *, atomic: str | None = None) -> None:
        if atomic not in (None, "push", "edit"):
            raise ValueError("atomic is “push” or “edit”")
        self._store = store
        self._atomic = None if atomic == "push" else atomic
        self._edits: dict[tuple[str, str], RecordEdit] = {}
        self._rules_version = store._rules_version()
        self.ticket: Ticket | None = None

    def edit(self, resource: str, record_id: Any, *, base: Any = None) -> RecordEdit:
        """Returns a record to change; throws `RecordNotFound`.

        With `base`, a record that was read before, the edit is the difference to it. Throws `NotPossible` for the base
        of another record.
        """
        resolved = self._store._model.resolve(plain(record_id))
        place = resource, key_of(resolved)
        if place in self._edits:
            if self._edits[place]._is_deleted:
                raise RecordNotFound(resource, record_id)
            return self._edits[place]
        known = self._store._model.resource(resource)
        if base is None:
            record = self._store._to_edit(resource, resolved)
        else:
            record = checked_base(self._store._model, known, resolved, as_plain(base))
        if record is None:
            raise RecordNotFound(resource, record_id)
        edit = RecordEdit(self, known, resolved, record)
        object.__setattr__(edit, "_base", None if base is None else record)
        self._edits[place] = edit
        return edit

    def create(self, resource: str, record_id: Any = None, *, id: Any = None) -> RecordEdit:
        """Returns a new record to fill in; it needs an id unless the database numbers it."""
        known = self._store._model.resource(resource)
        chosen = plain(record_id if record_id is not None else id)
        if chosen is None:
            if not known.root.is_generated:
                raise InvalidEdit("id", f"the database does not number {resource}: the record needs an id")
            chosen = temporary_id()
        else:
            encodable(key_of(chosen), "id")
        if (resource, key_of(chosen)) in self._edits or self._store._model.view(resource, chosen) is not None:
            raise InvalidEdit("id", f"there is a record {chosen!r} of {resource} already")
        edit = RecordEdit(self, known, chosen, None)
        self._edits[resource, key_of(chosen)] = edit
        return edit

    def delete(self, resource: str, record_id: Any) -> None:
        """Deletes a record; throws `RecordNotFound`."""
        edit = self.edit(resource, record_id)
        if edit._before is None:
            self._drop(edit)
        else:
            object.__setattr__(edit, "_is_deleted", True)

    def record(self, resource: str, record_id: Any) -> Any:
        """Returns a record as it is with the edits of this transaction."""
        resolved = self._store._model.resolve(plain(record_id))
        edit = self._edits.get((resource, key_of(resolved)))
        if edit is None:
            return self._store.record(resource, resolved)
        return as_read(as_plain(edit._state()))

    def _drop(self, edit: RecordEdit) -> None:
        self._edits = {place: one for place, one in self._edits.items() if one is not edit}

    def _drafts(self) -> list[Draft]:
        drafts = []
        for (resource, _), edit in self._edits.items():
            changes = difference(edit._resource, edit._before, edit._state())
            drafts.append(Draft(resource, edit.id, changes, self._rules_version, edit._base))
        return drafts

    def _commit(self) -> Ticket:
        ticket = self._store._commit(self._drafts(), self._atomic)
        self.ticket = ticket
        for edit in self._edits.values():
            object.__setattr__(edit, "ticket", ticket)
        return ticket

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._commit()


def checked_base(model: Model, resource: Resource, record_id: Any, record: Any) -> Json:
    """Returns a record that was read before, as the base of an edit; throws `NotPossible` if it is another record."""
    is_record = isinstance(record, dict) and resource.root.name in record
    if not is_record or key_of(model.resolve(record.get("id"))) != key_of(model.resolve(record_id)):
        raise NotPossible("other-record", f"The base is not the record {record_id!r} of {resource.name}.")
    return model.as_answered(resource, renamed_record(resource, record))


class SingleEdit:
    """The result of `store.edit` and `store.create`: a context manager over one record."""

    def __init__(self, store: Store, resource: str, record_id: Any, *, is_new: bool, base: Any = None) -> None:
        self._store = store
        self._resource = resource
        self._id = record_id
        self._is_new = is_new
        self._base = base
        self._transaction: Transaction | None = None

    def __enter__(self) -> RecordEdit:
        self._transaction = Transaction(self._store)
        if self._is_new:
            return self._transaction.create(self._resource, self._id)
        return self._transaction.edit(self._resource, self._id, base=self._base)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._transaction is not None:
            self._transaction._commit()
