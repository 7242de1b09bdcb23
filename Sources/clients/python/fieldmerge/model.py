"""What a store keeps: records in three layers, pushes in their order, and the transactions that change them.

`base` is as the server last told it, `sent` the edits whose bytes are frozen, `draft` those that are not; an app
reads all three, one over the other. Every function that ends in one transaction says so by its first line.
"""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import changes as row_changes
from .changes import Json, RowChange
from .clock import Clock
from .database import Database
from .errors import InvalidEdit, RecordNotFound, RulesUnknown
from .ids import is_temporary, key_of, order_of
from .rules import Resource, Rules

UNSENT, SENT, KEPT, REFUSED = 0, 1, 2, 3

PUSHES_IN_A_REQUEST = 100
TICKETS_KEPT_SECONDS = 90 * 24 * 3600
EVENTS_KEPT = 10_000
BEAT_SECONDS = 5.0
MISSED_BEATS = 3

Place = tuple[str, str]
"""A record: resource, and its id as text."""


class LeaseLost(Exception):
    """Another process has taken over the sync: what this one was told counts no more."""


@dataclass(frozen=True)
class Draft:
    """An edit of one record, as an app has made it."""

    resource: str
    id: Any
    changes: list[RowChange]
    rules_version: str


@dataclass(frozen=True)
class Frozen:
    """A push as it goes over the wire, always in the same bytes."""

    seq: int
    key: str
    body: bytes
    is_kept: bool
    edits: int


@dataclass(frozen=True)
class StoredEdit:
    """One record's part of a push."""

    push: int
    place: int
    state: int
    resource: str
    key: str
    id: Any
    changes: list[RowChange]


@dataclass(frozen=True)
class Change:
    """A record that the server told anew, before it is stored; its functions add edits to the same
    transaction."""

    resource: str
    id: Any
    before: Any
    after: Any
    transaction: Any = field(repr=False, compare=False)

    def edit(self, resource: str | None = None, record_id: Any = None) -> Any:
        """Edits a record, this one if none is named: `with change.edit() as s:`."""
        return self.transaction.edit(resource or self.resource, self.id if resource is None else record_id)

    def create(self, resource: str, record_id: Any = None) -> Any:
        """Creates a record."""
        return self.transaction.create(resource, record_id)

    def delete(self, resource: str | None = None, record_id: Any = None) -> None:
        """Deletes a record, this one if none is named."""
        self.transaction.delete(resource or self.resource, self.id if resource is None else record_id)


class Model:
    """The records and pushes of one store."""

    def __init__(self, database: Database, *, resources: Iterable[str] | None, clock: Clock) -> None:
        self.database = database
        self.clock = clock
        self.resources = None if resources is None else sorted(set(resources))
        self.owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4()}"
        self.on_touch: Callable[[set[Place]], None] = lambda places: None
        self.on_outcome: Callable[[], None] = lambda: None
        self.run_hooks: Callable[[list[tuple[str, Any, Json | None, Json | None]]], None] | None = None
        self._rules: Rules | None = None
        self._touched: set[Place] = set()
        self._incoming: list[tuple[str, Any, Json | None, Json | None]] = []
        database.on_rollback = self._reset

    def _reset(self) -> None:
        self._touched, self._incoming, self._rules = set(), [], None

    # Rules

    @property
    def rules(self) -> Rules | None:
        """The rules as the gateway last told them."""
        version = self.database.meta("rulesVersion")
        if version is None:
            return None
        if self._rules is None or self._rules.version != version:
            self._rules = Rules.parse(self.database.meta("rules"))
        return self._rules

    def resource(self, name: str) -> Resource:
        """Returns a resource by its name; throws `UnknownName`, or `RulesUnknown` before the first sync."""
        rules = self.rules
        if rules is None:
            raise RulesUnknown("the rules are not known yet: let the store sync once")
        return rules.resource(name)

    def _known(self, name: str) -> Resource | None:
        rules = self.rules
        return None if rules is None else rules.resources.get(name)

    def keeps(self, resource: str) -> bool:
        """Returns whether the records of a resource are kept here."""
        return self.resources is None or resource in self.resources

    def store_rules(self, text: str) -> None:
        """Stores rules, and groups what was not sent yet as they do, in one transaction."""
        rules = Rules.parse(text)
        with self.database.transaction("rules"):
            self._check_lease()
            self.database.set_meta("rules", text)
            self.database.set_meta("rulesVersion", rules.version)
            self.database.set_meta("rulesDue", None)
            self._rules = rules
            self._regroup()
            self._tell()

    def _regroup(self) -> None:
        rules = self.rules
        if rules is None:
            return
        stale = self.database.rows(
            "SELECT seq FROM push WHERE state = ? AND rules IS NOT ? ORDER BY seq", UNSENT, rules.version
        )
        for (seq,) in stale:
            problem = None
            for edit in self.edits_of(seq):
                try:
                    resource = rules.resource(edit.resource)
                    seen = self._seen(edit.resource, edit.key, before=seq)
                    changed = row_changes.regroup(resource, seen, edit.changes)
                except InvalidEdit as error:
                    problem = _problem("rules-changed", 400, "The rules have changed", str(error))
                    break
                if changed:
                    self._write_changes(seq, edit.place, changed)
                else:
                    self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
            if problem is not None:
                self._refuse(seq, problem, [], fault=0)
                continue
            self.database.write("UPDATE push SET rules = ? WHERE seq = ?", rules.version, seq)
            self._drop_if_empty(seq)

    # Reading

    def resolve(self, record_id: Any) -> Any:
        """Returns the real id where one is known for a temporary one."""
        if isinstance(record_id, (list, tuple)):
            return [self.resolve(part) for part in record_id]
        if not is_temporary(record_id):
            return record_id
        real = self.database.value("SELECT real FROM mapping WHERE temporary = ?", record_id)
        return record_id if real is None else json.loads(real)

    def view(self, resource: str, record_id: Any) -> Json | None:
        """Returns a record as an app reads it: base, sent and draft."""
        with self.database.lock:
            resolved = self.resolve(record_id)
            return self._layers(resource, key_of(resolved), resolved, (UNSENT, SENT))

    def _base(self, resource: str, key: str) -> Json | None:
        text = self.database.value("SELECT record FROM base WHERE resource = ? AND key = ?", resource, key)
        return None if text is None else json.loads(text)

    def pending(self, resource: str, key: str) -> list[StoredEdit]:
        """Returns the edits of a record that have no answer yet, in their order."""
        return self._edits("e.resource = ? AND e.key = ? AND p.state IN (0, 1)", resource, key)

    def edits_of(self, seq: int) -> list[StoredEdit]:
        """Returns the edits of a push."""
        return self._edits("e.push = ?", seq)

    def _edits(self, condition: str, *values: Any) -> list[StoredEdit]:
        rows = self.database.rows(
            "SELECT e.push, e.place, p.state, e.resource, e.key, e.id, e.changes FROM edit e"
            f" JOIN push p ON p.seq = e.push WHERE {condition} ORDER BY e.push, e.place",
            *values,
        )
        return [
            StoredEdit(push, place, state, resource, key, json.loads(record_id), json.loads(changes))
            for push, place, state, resource, key, record_id, changes in rows
        ]

    def _layers(self, resource: str, key: str, record_id: Any, states: tuple[int, ...]) -> Json | None:
        record = self._base(resource, key)
        edits = [edit for edit in self.pending(resource, key) if edit.state in states]
        return self._over(resource, record, record_id, edits)

    def _over(self, resource: str, record: Json | None, record_id: Any, edits: list[StoredEdit]) -> Json | None:
        known = self._known(resource)
        if known is None:
            return record
        for edit in edits:
            record = row_changes.apply(known, record, record_id, edit.changes)
        return record

    def _seen(self, resource: str, key: str, *, before: int | None = None) -> Json | None:
        """What lies beneath the drafts: base and sent, or everything before a push."""
        edits = self.pending(resource, key)
        below = [edit for edit in edits if edit.push < before] if before else [e for e in edits if e.state == SENT]
        return self._over(resource, self._base(resource, key), None, below)

    def all(self, resource: str) -> list[Json]:
        """Returns every record of a resource as an app reads it, in the order of keys."""
        with self.database.lock:
            found = {
                key: json.loads(text)
                for key, text in self.database.rows("SELECT key, record FROM base WHERE resource = ?", resource)
            }
            known = self._known(resource)
            if known is not None:
                for edit in self._edits("e.resource = ? AND p.state IN (0, 1)", resource):
                    record = row_changes.apply(known, found.get(edit.key), edit.id, edit.changes)
                    if record is None:
                        found.pop(edit.key, None)
                    else:
                        found[edit.key] = record
        return sorted(found.values(), key=lambda record: order_of(record["id"]))

    def counts(self) -> tuple[int, int]:
        """Returns how many edits have no answer yet, and how many pushes are refused."""
        unsent = self.database.value(
            "SELECT count(*) FROM edit e JOIN push p ON p.seq = e.push WHERE p.state IN (0, 1)"
        )
        refused = self.database.value("SELECT count(*) FROM push WHERE state = ?", REFUSED)
        return int(unsent), int(refused)

    def edit_count(self) -> int:
        """Returns a number that grows with each edit of the app, whichever process makes it."""
        return int(self.database.value("SELECT coalesce(max(seq), 0) FROM ticket"))

    def has_unsent(self) -> bool:
        """Returns whether a push is to be sent."""
        return self.database.value("SELECT 1 FROM push WHERE state IN (0, 1) LIMIT 1") is not None

    def state(self, resource: str, record_id: Any, path: tuple[Any, ...]) -> str:
        """Returns `clean`, `draft`, `sending` or `refused` for what the path names: a record, one of its
        sections, an item of a list, or a group."""
        with self.database.lock:
            key = key_of(self.resolve(record_id))
            edits = self._edits("e.resource = ? AND e.key = ? AND p.state <> 2", resource, key)
        states = {edit.state for edit in edits if any(_concerns(change, path, resource, self) for change in edit.changes)}
        for state, word in ((UNSENT, "draft"), (SENT, "sending"), (REFUSED, "refused")):
            if state in states:
                return word
        return "clean"

    # Edits of the app

    def commit(self, drafts: list[Draft], *, atomic: str | None) -> str:
        """Stores an edit of the app with its ticket, in one transaction; returns the ticket's token."""
        with self.database.transaction("edit"):
            edits = [self._prepared(draft) for draft in drafts]
            token = str(uuid.uuid4())
            number = int(self.database.value("SELECT coalesce(max(seq), 0) + 1 FROM ticket"))
            records = [[resource.name, key_of(record_id)] for resource, record_id, _ in edits]
            first_id = edits[0][1] if edits else None
            at = self.clock.now()
            self.database.write(
                "INSERT INTO ticket VALUES (?, ?, NULL, ?, ?, ?, NULL, ?)",
                *(token, number, json.dumps(first_id), key_of(first_id), json.dumps(records), at),
            )
            changed = [edit for edit in edits if edit[2]]
            if not changed:
                self._resolve(token, {"status": "merged", "conflicts": [], "problem": None, "record": self._first(records)})
            else:
                seq = self._join(changed, atomic) or self._append(changed, atomic)
                self.database.write("UPDATE ticket SET push = ? WHERE token = ?", seq, token)
                self._settle_cancelled(seq)
            self._touched.update((resource.name, key_of(record_id)) for resource, record_id, _ in edits)
            self._tell()
        return token

    def _prepared(self, draft: Draft) -> tuple[Resource, Any, list[RowChange]]:
        resource = self.resource(draft.resource)
        temporary = {one: self.resolve(one) for one in row_changes.used_ids(draft.id, draft.changes)}
        record_id, changes = row_changes.map_ids(draft.id, draft.changes, temporary)
        seen = self.view(resource.name, record_id)
        creates = row_changes.is_creation(changes, resource)
        if seen is None and changes and not creates:
            raise RecordNotFound(resource.name, record_id)
        if seen is not None and creates:
            raise InvalidEdit("id", f"there is a record {record_id!r} of {resource.name} already")
        assert self.rules is not None
        if self.rules.version != draft.rules_version:
            changes = row_changes.regroup(resource, seen, changes)
        return resource, record_id, changes

    def _join(self, edits: list[tuple[Resource, Any, list[RowChange]]], atomic: str | None) -> int | None:
        """Adds an edit to the unsent push that holds all of its records, if there is one that may take it."""
        places = [(resource.name, key_of(record_id)) for resource, record_id, _ in edits]
        seq: int | None = None
        for resource_name, key in places:
            for edit in self.pending(resource_name, key):
                seq = max(seq or 0, edit.push)
        if seq is None:
            return None
        state, push_atomic = self.database.row("SELECT state, atomic FROM push WHERE seq = ?", seq)
        if state != UNSENT or (push_atomic != atomic and (atomic is not None or len(edits) > 1)):
            return None
        held = {(edit.resource, edit.key): edit for edit in self.edits_of(seq)}
        if not all(place in held for place in places):
            return None
        for _, record_id, changes in edits:
            for temporary in row_changes.used_ids(record_id, changes):
                made = self.database.value("SELECT push FROM creation WHERE temporary = ?", temporary)
                if made is not None and made > seq:
                    return None
        composed: list[tuple[StoredEdit, Resource, list[RowChange]]] = []
        for place, (resource, record_id, changes) in zip(places, edits):
            joined = row_changes.compose(resource, held[place].changes, changes)
            if joined is None or self._drops_what_is_used(held[place], resource, joined):
                return None
            composed.append((held[place], resource, joined))
        if not self._fits(seq, {edit.place: joined for edit, _, joined in composed}):
            return None
        for edit, _, joined in composed:
            if joined:
                self._write_changes(seq, edit.place, joined)
            else:
                self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", seq, edit.place)
        self._note_creations(seq)
        return seq

    def _drops_what_is_used(self, edit: StoredEdit, resource: Resource, joined: list[RowChange]) -> bool:
        """Whether a row would never be created whose temporary id stands elsewhere."""
        root = resource.root.name
        before = set(row_changes.created_ids(edit.id, edit.changes, root))
        dropped = before - set(row_changes.created_ids(edit.id, joined, root))
        for temporary in dropped:
            if temporary in row_changes.used_ids(edit.id if joined else None, joined):
                return True
            users = self.database.value(
                "SELECT 1 FROM edit WHERE (id LIKE ?1 OR changes LIKE ?1) AND NOT (push = ?2 AND place = ?3)",
                *(f"%{temporary}%", edit.push, edit.place),
            )
            if users:
                return True
        return False

    def _fits(self, seq: int, joined: Mapping[int, list[RowChange]]) -> bool:
        limits = self.rules.limits if self.rules else {}
        rows = size = 0
        for edit in self.edits_of(seq):
            changes = joined.get(edit.place, edit.changes)
            rows += len(changes)
            size += len(json.dumps(changes)) + 200
        return rows <= limits.get("items", 10_000) and size <= limits.get("body", 1 << 20) * 0.8

    def _append(self, edits: list[tuple[Resource, Any, list[RowChange]]], atomic: str | None) -> int:
        rules = self.rules
        cursor = self.database.write(
            "INSERT INTO push (state, atomic, rules, at) VALUES (?, ?, ?, ?)",
            *(UNSENT, atomic, rules.version if rules else None, self.clock.now()),
        )
        seq = int(cursor.lastrowid or 0)
        for place, (resource, record_id, changes) in enumerate(edits):
            self.database.write(
                "INSERT INTO edit VALUES (?, ?, ?, ?, ?, ?)",
                *(seq, place, resource.name, key_of(record_id), json.dumps(record_id), json.dumps(changes)),
            )
        self._note_creations(seq)
        return seq

    def _write_changes(self, seq: int, place: int, changes: list[RowChange]) -> None:
        self.database.write(
            "UPDATE edit SET changes = ? WHERE push = ? AND place = ?", json.dumps(changes), seq, place
        )

    def _creations(self, seq: int) -> list[str]:
        made: list[str] = []
        for edit in self.edits_of(seq):
            known = self._known(edit.resource)
            if known is not None:
                made += row_changes.created_ids(edit.id, edit.changes, known.root.name)
        return made

    def _note_creations(self, seq: int) -> None:
        self.database.write("DELETE FROM creation WHERE push = ?", seq)
        made = self._creations(seq)
        for temporary in made:
            self.database.write("INSERT OR REPLACE INTO creation VALUES (?, ?)", temporary, seq)
        self.database.write("UPDATE push SET creates = ? WHERE seq = ?", json.dumps(made), seq)

    def _settle_cancelled(self, seq: int) -> None:
        """Settles the tickets of whose records nothing is left to send."""
        held = {(edit.resource, edit.key) for edit in self.edits_of(seq)}
        for token, records in self.database.rows("SELECT token, records FROM ticket WHERE push = ?", seq):
            places = json.loads(records)
            if not any((resource, key) in held for resource, key in places):
                outcome: Json = {"status": "merged", "conflicts": [], "problem": None, "record": self._first(places)}
                self._resolve(token, outcome)
        if not held:
            self._drop_if_empty(seq)

    def _drop_if_empty(self, seq: int) -> None:
        if self.database.value("SELECT 1 FROM edit WHERE push = ?", seq) is None:
            self.database.write("DELETE FROM creation WHERE push = ?", seq)
            self.database.write("DELETE FROM push WHERE seq = ?", seq)
            for token, records in self.database.rows(
                "SELECT token, records FROM ticket WHERE push = ? AND outcome IS NULL", seq
            ):
                record = self._first(json.loads(records))
                self._resolve(token, {"status": "merged", "conflicts": [], "problem": None, "record": record})

    def _first(self, places: list[list[str]]) -> Json | None:
        return self.view(places[0][0], self._id_of(*places[0])) if places else None

    def _id_of(self, resource: str, key: str) -> Any:
        text = self.database.value("SELECT id FROM base WHERE resource = ? AND key = ?", resource, key)
        return key.split("\x1f") if text is None and "\x1f" in key else key if text is None else json.loads(text)

    # Tickets

    def _resolve(self, token: str, outcome: Json | None, *, push: int | None = None) -> None:
        text = None if outcome is None else json.dumps(outcome)
        self.database.write("UPDATE ticket SET outcome = ?, push = ? WHERE token = ?", text, push, token)
        self.database.after_commit(self.on_outcome)

    def ticket_outcome(self, token: str) -> Json | None:
        """Returns what became of an edit; nil where nothing has yet."""
        text = self.database.value("SELECT outcome FROM ticket WHERE token = ?", token)
        return None if text is None else json.loads(text)

    def find_ticket(self, wanted: Any, *, resource: str | None) -> tuple[str, Any] | None:
        """Returns token and id of a ticket, by its token or by the id of its record (the latest one)."""
        row = self.database.row("SELECT token, id FROM ticket WHERE token = ?", str(wanted))
        if row is None:
            keys = {key_of(wanted), key_of(self.resolve(wanted))}
            for key in keys:
                for token, record_id, records in self.database.rows(
                    "SELECT token, id, records FROM ticket WHERE key = ? ORDER BY seq DESC", key
                ):
                    if resource is None or json.loads(records)[0][0] == resource:
                        return token, json.loads(record_id)
            return None
        return row[0], json.loads(row[1])

    def ticket_id(self, token: str) -> Any:
        """Returns the id of a ticket's record, the real one where it is known."""
        text = self.database.value("SELECT id FROM ticket WHERE token = ?", token)
        return None if text is None else self.resolve(json.loads(text))

    # Sending

    def freeze(self, *, is_single: bool) -> list[Frozen]:
        """Gives every push of the next request its bytes and its key, in one transaction."""
        with self.database.transaction("freeze"):
            self._check_lease()
            self._regroup()
            rules = self.rules
            limits = rules.limits if rules else {}
            batch: list[Frozen] = []
            edits = 0
            size = 1_000
            for seq, state, key, body, atomic, version in self.database.rows(
                "SELECT seq, state, key, body, atomic, rules FROM push WHERE state IN (0, 1) ORDER BY seq LIMIT ?",
                1 if is_single else PUSHES_IN_A_REQUEST,
            ):
                stored = self.edits_of(seq)
                if state == UNSENT:
                    if rules is None:
                        raise RulesUnknown("the rules are not known yet")
                    key, body = str(uuid.uuid4()), b""
                    body = self._encode(key, rules, atomic, stored)
                edits += len(stored)
                size += len(body) + 1
                if batch and (edits > limits.get("edits", 1_000) or size > limits.get("body", 1 << 20)):
                    break
                # The doubt ends with an answer that says that nothing was written.
                pulls = self.database.meta("pulls") or 0
                self.database.write(
                    "UPDATE push SET state = ?, key = ?, body = ?, doubt = doubt + 1,"
                    " pulls = CASE WHEN doubt = 0 THEN ? ELSE pulls END WHERE seq = ?",
                    *(SENT, key, body, pulls, seq),
                )
                batch.append(Frozen(seq, key, bytes(body), False, len(stored)))
            kept = self._needed(batch)
            self._tell()
        return kept + batch

    def _encode(self, key: str, rules: Rules, atomic: str | None, edits: list[StoredEdit]) -> bytes:
        push: Json = {"key": key, "rules": rules.version}
        if atomic is not None:
            push["atomic"] = atomic
        push["edits"] = [
            {
                "resource": edit.resource,
                "id": edit.id,
                "changeset": row_changes.changeset(rules.resource(edit.resource), edit.changes),
            }
            for edit in edits
        ]
        return json.dumps(push, ensure_ascii=False, separators=(",", ":")).encode()

    def _needed(self, batch: list[Frozen]) -> list[Frozen]:
        """The settled pushes whose temporary ids frozen bytes name."""
        kept = self.database.rows("SELECT seq, key, body, creates FROM push WHERE state = ? ORDER BY seq", KEPT)
        texts = [push.body for push in batch]
        needed: dict[int, Frozen] = {}
        for seq, key, body, creates in reversed(kept):
            if any(one.encode() in text for one in json.loads(creates) for text in texts):
                needed[seq] = Frozen(seq, key, bytes(body), True, 0)
                texts.append(bytes(body))
        return [needed[seq] for seq in sorted(needed)]

    def nothing_written(self, seqs: Iterable[int]) -> None:
        """Notes that the last request wrote nothing of these pushes, in one transaction."""
        with self.database.transaction("doubt"):
            for seq in seqs:
                self.database.write("UPDATE push SET doubt = max(0, doubt - 1) WHERE seq = ?", seq)

    def is_in_doubt(self) -> bool:
        """Returns whether a push may have been merged of which no answer came."""
        return self.database.value("SELECT 1 FROM push WHERE state = ? AND doubt > 0 LIMIT 1", SENT) is not None

    def thaw(self, seq: int) -> None:
        """Has a push built anew with a new key, in one transaction: nothing of it was written."""
        with self.database.transaction("thaw"):
            self._check_lease()
            self.database.write(
                "UPDATE push SET state = ?, key = NULL, body = NULL, doubt = 0 WHERE seq = ? AND state = ?",
                *(UNSENT, seq, SENT),
            )
            self.database.set_meta("rulesDue", True)
            self._drop_kept()

    # Answers

    def settle(self, seq: int, results: list[Json]) -> None:
        """Stores that a push was merged, whole or in part, in one transaction."""
        with self.database.transaction("settle"):
            self._check_lease()
            state, doubt, pulls = self.database.row("SELECT state, doubt, pulls FROM push WHERE seq = ?", seq) or (None, 0, 0)
            if state != SENT:
                return
            # An answer to bytes that were sent before may be as old as they are.
            newer_than = pulls if doubt > 1 else None
            edits = self.edits_of(seq)
            failed = [index for index, result in enumerate(results) if result.get("status") not in (None, "merged")]
            seen = self._seen_of(edits, results)
            views = {place: self.view(place[0], edit.id) for edit in edits for place in [(edit.resource, edit.key)]}

            # Outcomes are told by the ids that the edits had when they were made.
            conflicts = [_conflicts(edit, result) for edit, result in _pairs(edits, results)]
            self._resolve_tickets(seq, edits, results, conflicts, failed)

            ids: dict[str, Any] = {}
            for result in results:
                ids.update(result.get("ids") or {})
            self.database.write("DELETE FROM edit WHERE push = ?", seq)
            self.database.write("DELETE FROM creation WHERE push = ?", seq)
            self.database.write("UPDATE push SET state = ?, doubt = 0 WHERE seq = ?", KEPT, seq)
            self._map(ids, other_than=seq)

            for index, (edit, result) in enumerate(_pairs(edits, results)):
                if index not in failed or result.get("record") is not None:
                    self._store_result(edit, result, views.get((edit.resource, edit.key)), newer_than=newer_than)
            for told in conflicts:
                for conflict in told:
                    self._queue("conflict", conflict)
            if failed:
                self._refuse_part(edits, results, failed)
            for (resource_name, key), before in seen.items():
                real = "\x1f".join(key_of(ids.get(part, part)) for part in key.split("\x1f"))
                self._rebase((resource_name, real), _with_real_ids(before, ids))
            self._drop_kept()
            self._forget_visited(edits)
            self._hooks()
            self._tell()

    def _seen_of(self, edits: list[StoredEdit], results: list[Json]) -> dict[Place, Json | None]:
        places: dict[Place, Json | None] = {}
        for edit in edits:
            places[edit.resource, edit.key] = self._seen(edit.resource, edit.key)
        for result in results:
            if result.get("record"):
                place = str(result.get("resource")), key_of(result["record"]["id"])
                if place not in places:
                    places[place] = self._seen(*place)
        return places

    def _resolve_tickets(
        self,
        seq: int,
        edits: list[StoredEdit],
        results: list[Json],
        conflicts: list[list[Json]],
        failed: list[int],
    ) -> None:
        rows = self.database.rows("SELECT token, records FROM ticket WHERE push = ? AND outcome IS NULL", seq)
        for token, records in rows:
            mine = {(resource, key) for resource, key in json.loads(records)}
            concerned = [index for index, edit in enumerate(edits) if (edit.resource, edit.key) in mine]
            refused = [index for index in concerned if index in failed]
            told = [conflict for index in concerned if index < len(conflicts) for conflict in conflicts[index]]
            first = json.loads(records)[0]
            record = None
            for index in concerned:
                if index < len(results) and [edits[index].resource, edits[index].key] == first:
                    record = results[index].get("record")
            self._resolve(
                token,
                {
                    "status": "refused" if refused else "merged",
                    "conflicts": told,
                    "problem": results[refused[0]].get("problem") if refused else None,
                    "record": record,
                },
            )

    def _map(self, ids: Mapping[str, Any], *, other_than: int | None = None) -> None:
        """Replaces temporary ids everywhere but in frozen bytes."""
        for temporary, real in ids.items():
            if not is_temporary(temporary):
                continue
            self.database.write("INSERT OR REPLACE INTO mapping VALUES (?, ?)", temporary, json.dumps(real))
            self._touched.update(
                (resource, temporary)
                for (resource,) in self.database.rows("SELECT DISTINCT resource FROM edit WHERE key = ?", temporary)
            )
            for edit in self._edits("(e.id LIKE ?1 OR e.changes LIKE ?1)", f"%{temporary}%"):
                record_id, changes = row_changes.map_ids(edit.id, edit.changes, ids)
                self.database.write(
                    "UPDATE edit SET id = ?, key = ?, changes = ? WHERE push = ? AND place = ?",
                    *(json.dumps(record_id), key_of(record_id), json.dumps(changes), edit.push, edit.place),
                )
            for token, record_id, records in self.database.rows(
                "SELECT token, id, records FROM ticket WHERE id LIKE ?1 OR records LIKE ?1", f"%{temporary}%"
            ):
                mapped = json.loads(record_id)
                mapped = [ids.get(part, part) for part in mapped] if isinstance(mapped, list) else ids.get(mapped, mapped)
                places = [
                    [resource, "\x1f".join(key_of(ids.get(part, part)) for part in key.split("\x1f"))]
                    for resource, key in json.loads(records)
                ]
                self.database.write(
                    "UPDATE ticket SET id = ?, key = ?, records = ? WHERE token = ?",
                    *(json.dumps(mapped), key_of(mapped), json.dumps(places), token),
                )

    def _store_result(
        self, edit: StoredEdit, result: Json, before: Json | None, *, newer_than: int | None
    ) -> None:
        record = result.get("record")
        self._touched.add((edit.resource, edit.key))
        real_key = key_of(record["id"] if record is not None else self.resolve(edit.id))
        if newer_than is not None and self._was_pulled_since(edit.resource, real_key, newer_than):
            return
        if record is not None:
            self._put(edit.resource, record["id"], record, before=before)
            return
        real = self.resolve(edit.id)
        known = self._known(edit.resource)
        was_here = self._base(edit.resource, key_of(real)) is not None
        self._put(edit.resource, real, None, before=before)
        deleted = known is not None and row_changes.is_deletion(edit.changes, known)
        if was_here and not deleted:
            self._queue("gone", {"resource": edit.resource, "id": real})

    def _put(
        self, resource: str, record_id: Any, record: Json | None, *, before: Json | None, is_pulled: bool = False
    ) -> None:
        key = key_of(record_id)
        self._touched.add((resource, key))
        self._incoming.append((resource, record_id, before, record))
        pulls = (self.database.meta("pulls") or 0) if is_pulled else 0
        if record is None:
            self.database.write("DELETE FROM base WHERE resource = ? AND key = ?", resource, key)
            if is_pulled:
                self.database.write("INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?)", resource, key, pulls)
            return
        generation = self.database.meta("generation") or 0
        self.database.write(
            "INSERT OR REPLACE INTO base VALUES (?, ?, ?, ?, ?, ?)",
            *(resource, key, json.dumps(record["id"]), json.dumps(record), generation, pulls),
        )

    def refuse(self, seq: int, problem: Json, results: list[Json]) -> None:
        """Stores that a push was refused, with what builds on it, in one transaction."""
        with self.database.transaction("refuse"):
            self._check_lease()
            if self.database.value("SELECT state FROM push WHERE seq = ?", seq) not in (UNSENT, SENT):
                return
            edits = self.edits_of(seq)
            seen = self._seen_of(edits, results)
            fault = 0
            for index, result in enumerate(results[: len(edits)]):
                if result.get("problem") and result["problem"].get("code") != "rolled-back":
                    fault = index
                    break
            self._refuse(seq, problem, results, fault=fault)
            for result in results:
                record = result.get("record")
                if record is not None and self._stores(str(result["resource"]), key_of(record["id"])):
                    before = self.view(str(result["resource"]), record["id"])
                    self._put(str(result["resource"]), record["id"], record, before=before)
            for place, before in seen.items():
                self._rebase(place, before)
            self._drop_kept()
            self._hooks()
            self._tell()

    def _stores(self, resource: str, key: str) -> bool:
        return self.keeps(resource) or self._base(resource, key) is not None

    def _refuse(self, seq: int, problem: Json, results: list[Json], *, fault: int) -> None:
        edits = self.edits_of(seq)
        conflicts = [_conflicts(edit, result) for edit, result in _pairs(edits, results)]
        made = self._creations(seq)
        own = results[fault].get("problem") if fault < len(results) else None
        refusal = {
            "problem": own or problem,
            "fault": edits[fault].place if fault < len(edits) else 0,
            "record": results[fault].get("record") if fault < len(results) else None,
            "hasRecord": fault < len(results),
        }
        self.database.write(
            "UPDATE push SET state = ?, key = NULL, body = NULL, doubt = 0, refusal = ? WHERE seq = ?",
            *(REFUSED, json.dumps(refusal), seq),
        )
        self.database.write("DELETE FROM creation WHERE push = ?", seq)
        for token, records in self.database.rows(
            "SELECT token, records FROM ticket WHERE push = ? AND outcome IS NULL", seq
        ):
            mine = {(resource, key) for resource, key in json.loads(records)}
            told = [
                conflict
                for edit, one in zip(edits, conflicts)
                if (edit.resource, edit.key) in mine
                for conflict in one
            ]
            first = json.loads(records)[0]
            record = self._base(*first)
            for edit, result in _pairs(edits, results):
                if [edit.resource, edit.key] == first:
                    record = result.get("record")
            outcome = {"status": "refused", "conflicts": told, "problem": own or problem, "record": record}
            self._resolve(token, outcome, push=seq)
        for one in conflicts:
            for conflict in one:
                self._queue("conflict", conflict)
        self._queue("refused", {"entry": seq})
        for edit in edits:
            self._touched.add((edit.resource, edit.key))
        self._refuse_dependents(seq, edits[fault] if fault < len(edits) else None, made)

    def _refuse_dependents(self, seq: int, fault: StoredEdit | None, made: list[str]) -> None:
        for temporary in made:
            users = self.database.rows(
                "SELECT DISTINCT e.push FROM edit e JOIN push p ON p.seq = e.push"
                " WHERE p.state IN (0, 1) AND (e.id LIKE ?1 OR e.changes LIKE ?1) ORDER BY e.push",
                f"%{temporary}%",
            )
            for (user,) in users:
                if self.database.value("SELECT state FROM push WHERE seq = ?", user) not in (UNSENT, SENT):
                    continue
                what = f"{fault.resource} {fault.id}" if fault else temporary
                problem = _problem(
                    "depends-on-refused",
                    422,
                    "Depends on a refused edit",
                    f"It refers to {temporary}, which the refused edit of {what} would have created.",
                )
                problem["dependsOn"] = {"entry": seq, "id": temporary}
                index = next(
                    (
                        index
                        for index, edit in enumerate(self.edits_of(user))
                        if temporary in row_changes.used_ids(edit.id, edit.changes)
                    ),
                    0,
                )
                self._refuse(user, problem, [], fault=index)

    def _refuse_part(self, edits: list[StoredEdit], results: list[Json], failed: list[int]) -> None:
        """Has an entry for each refused edit of a push of which others were merged."""
        for index in failed:
            edit, result = edits[index], results[index]
            known = self.resource(edit.resource)
            seq = self._append([(known, edit.id, edit.changes)], None)
            tokens = self.database.rows(
                "SELECT token, records FROM ticket WHERE push IS NULL AND outcome LIKE ?",
                '{"status": "refused"%',
            )
            self._refuse(seq, result.get("problem") or {}, [{**result, "outcomes": []}], fault=0)
            for token, records in tokens:
                if [edit.resource, edit.key] in json.loads(records):
                    self.database.write("UPDATE ticket SET push = ? WHERE token = ?", seq, token)

    def _rebase(self, place: Place, before: Json | None, *, tells_gone: bool = False, was: Json | None = None) -> None:
        """Tells what a new base means for the drafts of a record."""
        resource_name, key = place
        known = self._known(resource_name)
        drafts = [edit for edit in self.pending(resource_name, key) if edit.state == UNSENT]
        after = self._seen(resource_name, key)
        if known is None:
            return
        if after is None and before is not None and self._base(resource_name, key) is None:
            is_drafted = False
            for draft in drafts:
                if self.database.value("SELECT state FROM push WHERE seq = ?", draft.push) != UNSENT:
                    continue
                if row_changes.is_creation(draft.changes, known):
                    break
                if row_changes.is_deletion(draft.changes, known):
                    self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", draft.push, draft.place)
                    self._settle_cancelled(draft.push)
                    continue
                if not is_drafted:
                    self._queue("gone", {"resource": resource_name, "id": draft.id})
                is_drafted = True
                detail = f"The record {draft.id} of {resource_name} is gone."
                index = [edit.place for edit in self.edits_of(draft.push)].index(draft.place)
                self._refuse(draft.push, _problem("gone", 410, "Gone", detail), [], fault=index)
            if tells_gone and not is_drafted and was is not None:
                self._queue("gone", {"resource": resource_name, "id": was["id"]})
            return
        told: set[tuple[str, str, str]] = set()
        for draft in drafts:
            for change in draft.changes:
                if change["do"] != "edit" or not known.has(change["section"]):
                    continue
                for name, values in change["groups"].items():
                    mark = change["section"], key_of(change["id"]) if "id" in change else "", name
                    if mark in told:
                        continue
                    told.add(mark)
                    self._tell_overtaken(known, draft, change, name, before=before, after=after, drafts=drafts)

    def _tell_overtaken(
        self,
        resource: Resource,
        draft: StoredEdit,
        change: RowChange,
        name: str,
        *,
        before: Json | None,
        after: Json | None,
        drafts: list[StoredEdit],
    ) -> None:
        section = resource.section(change["section"])
        group = next((one for one in section.groups if one.name == name), None)
        if group is None:
            return
        one, other = (_row_of(section.is_list, record, change) for record in (before, after))
        if one is None or other is None:
            return
        old = {each.name: one.get(each.name) for each in group.fields}
        current = {each.name: other.get(each.name) for each in group.fields}
        seen = change["groups"][name]["old"]
        if row_changes._equal(group, old, current) or row_changes._equal(group, current, seen):
            return
        new = change["groups"][name]["new"]
        for later in drafts:
            for again in later.changes:
                if row_changes._place(again) == row_changes._place(change) and name in again.get("groups", {}):
                    new = again["groups"][name]["new"]
        self._queue(
            "overtaken",
            {
                "resource": resource.name,
                "id": draft.id,
                "section": section.name,
                "item": change.get("id"),
                "group": name,
                "old": group.value(seen),
                "current": group.value(current),
                "new": group.value(new),
            },
        )

    def _drop_kept(self) -> None:
        """Deletes settled pushes that no frozen bytes need any more."""
        kept = self.database.rows("SELECT seq, body, creates FROM push WHERE state = ? ORDER BY seq DESC", KEPT)
        if not kept:
            return
        sent = [bytes(row[0]) for row in self.database.rows("SELECT body FROM push WHERE state = ?", SENT)]
        for seq, body, creates in kept:
            if any(one.encode() in text for one in json.loads(creates) for text in sent):
                sent.append(bytes(body))
            else:
                self.database.write("DELETE FROM push WHERE seq = ?", seq)

    def _forget_visited(self, edits: list[StoredEdit]) -> None:
        """Deletes records of resources that are not kept once nothing of them is pending."""
        for edit in edits:
            if not self.keeps(edit.resource):
                key = key_of(self.resolve(edit.id))
                if not self.pending(edit.resource, key):
                    self.database.write("DELETE FROM base WHERE resource = ? AND key = ?", edit.resource, key)

    # Changes and snapshots

    def place(self) -> tuple[str | None, int | None]:
        """Returns feed and revision up to which everything is stored."""
        return self.database.meta("feed"), self.database.meta("revision")

    def store_page(self, page: Json, *, asked: tuple[str | None, int | None]) -> int:
        """Stores a page of changes with its feed and revision, in one transaction; returns how many."""
        with self.database.transaction("page"):
            self._check_lease()
            if self.place() != asked:
                return 0
            self._begin_pull()
            count = 0
            for change in page["changes"]:
                count += self._take(change["resource"], change["id"], change["record"])
            self.database.set_meta("feed", page["feed"])
            self.database.set_meta("revision", page["revision"])
            self.database.set_meta("lastSynced", self.clock.now())
            self._note_version(page.get("rules"))
            self._hooks()
            self._tell()
        return count

    def _begin_pull(self) -> None:
        """Counts pulls, so that an answer that is told again can be told from what was read since."""
        self.database.set_meta("pulls", (self.database.meta("pulls") or 0) + 1)
        if self.database.value("SELECT 1 FROM push WHERE state = ? LIMIT 1", SENT) is None:
            self.database.write("DELETE FROM tombstone")

    def _was_pulled_since(self, resource: str, key: str, pulls: int) -> bool:
        """Whether a record was read since so many pulls, be it that it is gone."""
        for table in ("base", "tombstone"):
            pulled = self.database.value(f"SELECT pulled FROM {table} WHERE resource = ? AND key = ?", resource, key)
            if pulled is not None and pulled > pulls:
                return True
        return False

    def _note_version(self, version: Any) -> None:
        if version is not None and version != self.database.meta("rulesVersion"):
            self.database.set_meta("rulesDue", True)

    def _take(self, resource: str, record_id: Any, record: Json | None) -> int:
        if not self.keeps(resource):
            return 0
        key = key_of(record_id)
        held = self._base(resource, key)
        if held == record:
            if held is not None:
                self.database.write(
                    "UPDATE base SET pulled = ? WHERE resource = ? AND key = ?",
                    *(self.database.meta("pulls") or 0, resource, key),
                )
            return 0
        if self.database.value("SELECT 1 FROM edit LIMIT 1") is None:
            self._put(resource, record_id, record, before=held, is_pulled=True)
            if record is None and held is not None:
                self._queue("gone", {"resource": resource, "id": held["id"]})
            return 1
        before = self._seen(resource, key)
        was = self.view(resource, record_id)
        self._put(resource, record_id, record, before=was, is_pulled=True)
        self._rebase((resource, key), before, tells_gone=True, was=was)
        return 1

    def begin_snapshot(self, head: Json, *, goes_on: bool = False) -> bool:
        """Notes that a snapshot is being stored, in one transaction; false where one that broke off was to go on
        and this is another: then the next begins at its first record."""
        with self.database.transaction("snapshot begins"):
            self._check_lease()
            if goes_on:
                under_way = self.database.meta("snapshot") or {}
                is_same = (under_way.get("feed"), under_way.get("revision")) == (head["feed"], head["revision"])
                if not is_same:
                    self.database.set_meta("snapshot", None)
                return is_same
            self._begin_pull()
            generation = (self.database.meta("generation") or 0) + 1
            self.database.set_meta("generation", generation)
            names = ("feed", "revision", "rules", "records")
            note = {name: head.get(name) for name in names}
            self.database.set_meta("snapshot", {**note, "cursor": None, "done": 0})
        return True

    def forget_snapshot(self) -> None:
        """Has the next snapshot begin at its first record, in one transaction."""
        with self.database.transaction("snapshot anew"):
            self._check_lease()
            self.database.set_meta("snapshot", None)

    def store_part(self, lines: list[Json], *, cursor: str | None) -> None:
        """Stores some records of a snapshot, and from where it goes on, in one transaction."""
        with self.database.transaction("snapshot"):
            self._check_lease()
            note = self.database.meta("snapshot")
            generation = self.database.meta("generation") or 0
            for line in lines:
                if not self.keeps(line["resource"]):
                    continue
                if not self._take(line["resource"], line["id"], line["record"]):
                    self.database.write(
                        "UPDATE base SET generation = ? WHERE resource = ? AND key = ?",
                        *(generation, line["resource"], key_of(line["id"])),
                    )
            note["done"] += len(lines)
            note["cursor"] = cursor or note["cursor"]
            self.database.set_meta("snapshot", note)
            self._hooks()
            self._tell()

    def drop_old(self, limit: int) -> bool:
        """Deletes some records that the snapshot does not hold, in one transaction; false where none is left."""
        with self.database.transaction("snapshot drops"):
            self._check_lease()
            generation = self.database.meta("generation") or 0
            rows = self.database.rows(
                "SELECT resource, key, id FROM base WHERE generation < ? ORDER BY resource, key LIMIT ?",
                *(generation, limit),
            )
            for resource, key, text in rows:
                if not self.keeps(resource):
                    self.database.write(
                        "UPDATE base SET generation = ? WHERE resource = ? AND key = ?", generation, resource, key
                    )
                    continue
                before = self._seen(resource, key)
                was = self.view(resource, json.loads(text))
                self._put(resource, json.loads(text), None, before=was, is_pulled=True)
                self._rebase((resource, key), before)
            self._hooks()
            self._tell()
        return bool(rows)

    def end_snapshot(self) -> None:
        """Stores feed and revision of a snapshot that is whole, in one transaction."""
        with self.database.transaction("snapshot ends"):
            self._check_lease()
            note = self.database.meta("snapshot")
            self.database.set_meta("feed", note["feed"])
            self.database.set_meta("revision", note["revision"])
            self.database.set_meta("snapshot", None)
            self.database.set_meta("resnapshot", None)
            self.database.set_meta("lastSynced", self.clock.now())
            self._note_version(note.get("rules"))

    def visit(self, resource: str, record: Json) -> None:
        """Stores a record of a resource that is not kept, because it is to be edited, in one transaction."""
        with self.database.transaction("visit"):
            if not self.pending(resource, key_of(record["id"])):
                self._put(resource, record["id"], record, before=None)
                self._incoming.clear()
                self._tell()

    def note(self, **values: Any) -> None:
        """Notes values under their names, in one transaction."""
        with self.database.transaction("note"):
            for name, value in values.items():
                self.database.set_meta(name, value)

    # Refused pushes

    def refused(self) -> list[tuple[int, Json, list[StoredEdit]]]:
        """Returns number, refusal and edits of each refused push."""
        with self.database.lock:
            rows = self.database.rows("SELECT seq, refusal FROM push WHERE state = ? ORDER BY seq", REFUSED)
            return [(seq, json.loads(text), self.edits_of(seq)) for seq, text in rows]

    def resend(self, seq: int) -> bool:
        """Puts a refused push, and what was refused only because of it, behind the others, in one transaction.

        Returns false where it is refused no more.
        """
        with self.database.transaction("resend"):
            row = self.database.row("SELECT refusal FROM push WHERE seq = ? AND state = ?", seq, REFUSED)
            if row is None:
                return False
            made = self._creations(seq)
            new = self._renumber(seq)
            for other, refusal, edits in self.refused():
                depends = (refusal["problem"] or {}).get("dependsOn") or {}
                if depends.get("id") in made and depends.get("entry") == seq:
                    self.resend(other)
            self._regroup()
            for edit in self.edits_of(new):
                self._touched.add((edit.resource, edit.key))
            self._tell()
        return True

    def _renumber(self, seq: int) -> int:
        cursor = self.database.write(
            "INSERT INTO push (state, atomic, rules, at) SELECT ?, atomic, rules, ? FROM push WHERE seq = ?",
            *(UNSENT, self.clock.now(), seq),
        )
        new = int(cursor.lastrowid or 0)
        self.database.write("UPDATE edit SET push = ? WHERE push = ?", new, seq)
        self.database.write("UPDATE ticket SET push = ?, outcome = NULL WHERE push = ?", new, seq)
        self.database.write("DELETE FROM push WHERE seq = ?", seq)
        self._note_creations(new)
        return new

    def discard(self, seq: int) -> bool:
        """Deletes a refused push for good, in one transaction; false where it is refused no more."""
        with self.database.transaction("discard"):
            if self.database.value("SELECT 1 FROM push WHERE seq = ? AND state = ?", seq, REFUSED) is None:
                return False
            for edit in self.edits_of(seq):
                self._touched.add((edit.resource, edit.key))
            self._discard_tickets("push = ?", seq)
            self.database.write("DELETE FROM edit WHERE push = ?", seq)
            self.database.write("DELETE FROM push WHERE seq = ?", seq)
            self._tell()
        return True

    def _discard_tickets(self, condition: str, *values: Any) -> None:
        outcome: Json = {"status": "discarded", "conflicts": [], "problem": None, "record": None}
        for (token,) in self.database.rows(f"SELECT token FROM ticket WHERE {condition}", *values):
            self._resolve(token, outcome)

    # Overtaken edits

    def keep_mine(self, told: Json) -> bool:
        """Takes what stands now as seen by who made the draft, in one transaction; false without a draft."""
        return self._redraft(told, keeps=True)

    def take_theirs(self, told: Json) -> bool:
        """Drops the drafts of a group, in one transaction; false where there are none."""
        return self._redraft(told, keeps=False)

    def _redraft(self, told: Json, *, keeps: bool) -> bool:
        with self.database.transaction("overtaken"):
            resource = self.resource(told["resource"])
            section = resource.section(told["section"])
            key = key_of(self.resolve(told["id"]))
            item = None if told.get("item") is None else key_of(self.resolve(told["item"]))
            after = self._seen(resource.name, key)
            found = False
            for edit in self.pending(resource.name, key):
                if edit.state != UNSENT:
                    continue
                changes = []
                for change in edit.changes:
                    mark = key_of(change["id"]) if "id" in change else None
                    if (change["section"], mark) != (section.name, item) or told["group"] not in change.get("groups", {}):
                        changes.append(change)
                        continue
                    groups = dict(change["groups"])
                    values = groups.pop(told["group"])
                    row = _row_of(section.is_list, after, change)
                    if keeps and not found and row is not None:
                        group = section.group(told["group"])
                        old = {one.name: row.get(one.name) for one in group.fields}
                        if not row_changes._equal(group, old, values["new"]):
                            groups[told["group"]] = {"old": old, "new": values["new"]}
                    elif keeps:
                        groups[told["group"]] = values
                    found = True
                    if groups:
                        changes.append({**change, "groups": groups})
                if changes == edit.changes:
                    continue
                if changes:
                    self._write_changes(edit.push, edit.place, changes)
                else:
                    self.database.write("DELETE FROM edit WHERE push = ? AND place = ?", edit.push, edit.place)
                self._settle_cancelled(edit.push)
            self._touched.add((resource.name, key))
            self._tell()
        return found

    # Events, lease, end

    def _queue(self, kind: str, body: Json) -> None:
        self.database.write("INSERT INTO event (kind, body) VALUES (?, ?)", kind, json.dumps(body))
        self.database.write(
            "DELETE FROM event WHERE seq <= (SELECT max(seq) FROM event) - ?", EVENTS_KEPT
        )

    def next_event(self, kinds: Iterable[str], *, after: int) -> tuple[int, str, Json] | None:
        """Returns the next event of these kinds that nobody was told of."""
        kinds = list(kinds)
        marks = ", ".join("?" * len(kinds))
        row = self.database.row(
            f"SELECT seq, kind, body FROM event WHERE seq > ? AND kind IN ({marks}) ORDER BY seq LIMIT 1",
            *(after, *kinds),
        )
        return None if row is None else (row[0], row[1], json.loads(row[2]))

    def forget_event(self, seq: int) -> None:
        """Deletes an event that was told, in one transaction."""
        with self.database.transaction("event"):
            self.database.write("DELETE FROM event WHERE seq = ?", seq)

    def take_lease(self) -> bool:
        """Takes the right to sync, in one transaction; false while another process holds and beats it."""
        with self.database.transaction("lease"):
            row = self.database.row("SELECT owner, beat FROM lease")
            now = self.clock.now()
            is_strange = row is not None and row[0] != self.owner and not _is_dead(row[0])
            if is_strange and abs(now - row[1]) < BEAT_SECONDS * MISSED_BEATS:
                return False
            self.database.write("INSERT OR REPLACE INTO lease VALUES (1, ?, ?)", self.owner, now)
        return True

    def beat(self) -> None:
        """Says that the sync under way is alive, in one transaction."""
        with self.database.transaction("beat"):
            self.database.write("UPDATE lease SET beat = ? WHERE owner = ?", self.clock.now(), self.owner)

    def drop_lease(self) -> None:
        """Gives the right to sync back, in one transaction."""
        with self.database.transaction("lease ends"):
            self.database.write("DELETE FROM lease WHERE owner = ?", self.owner)

    def _check_lease(self) -> None:
        owner = self.database.value("SELECT owner FROM lease")
        if owner is not None and owner != self.owner:
            raise LeaseLost()

    def prune(self) -> None:
        """Deletes tickets that were settled long ago, in one transaction."""
        with self.database.transaction("prune"):
            self.database.write(
                "DELETE FROM ticket WHERE outcome IS NOT NULL AND push IS NULL AND at < ?",
                self.clock.now() - TICKETS_KEPT_SECONDS,
            )

    def discard_all(self, *, limit: int) -> int:
        """Empties the store, in one transaction, unless more edits than the limit were never answered; returns
        how many there are."""
        with self.database.transaction("sign out"):
            unsent, _ = self.counts()
            if unsent > limit:
                return unsent
            self._discard_tickets("outcome IS NULL")
            for table in ("edit", "push", "base", "creation", "mapping", "event", "meta", "lease"):
                self.database.write(f"DELETE FROM {table}")
            self._rules = None
        return 0

    def _hooks(self) -> None:
        """Lets the app add edits of its own to the transaction that stores what the server told."""
        incoming, self._incoming = self._incoming, []
        if self.run_hooks is not None and incoming:
            self.run_hooks(incoming)

    def _tell(self) -> None:
        touched, self._touched = self._touched, set()
        self._incoming = []
        if touched:
            self.database.after_commit(lambda: self.on_touch(touched))


def _is_dead(owner: str) -> bool:
    """Whether the process of a lease ran on this machine and has ended."""
    host, _, rest = owner.partition("/")
    number = rest.partition("/")[0]
    if host != socket.gethostname() or not number.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _problem(code: str, status: int, title: str, detail: str) -> Json:
    return {
        "type": f"urn:fieldmerge:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "retry": False,
    }


def _pairs(edits: list[StoredEdit], results: list[Json]) -> list[tuple[StoredEdit, Json]]:
    return list(zip(edits, results))


def _conflicts(edit: StoredEdit, result: Json) -> list[Json]:
    """The conflicts of a result as events tell them."""
    told = []
    for outcome in result.get("outcomes") or []:
        if not outcome.get("conflict"):
            continue
        conflict = {"resource": edit.resource, "id": result.get("id", edit.id), "item": outcome.get("id")}
        if conflict["id"] is None:
            conflict["id"] = edit.id
        for name in ("section", "group", "outcome", "rule", "old", "current", "new", "written", "by", "parts"):
            conflict[name] = outcome.get(name)
        told.append(conflict)
    return told


def _with_real_ids(record: Json | None, ids: Mapping[str, Any]) -> Json | None:
    """A record as it is once temporary ids are replaced."""
    if record is None or not ids:
        return record

    def real(value: Any) -> Any:
        if isinstance(value, list):
            return [real(part) if isinstance(part, (dict, str)) else part for part in value]
        if isinstance(value, dict):
            return {name: real(one) for name, one in value.items()}
        return ids.get(value, value) if isinstance(value, str) else value

    return {name: real(value) for name, value in record.items()}


def _row_of(is_list: bool, record: Json | None, change: RowChange) -> Json | None:
    part = (record or {}).get(change["section"])
    if not is_list:
        return part
    key = key_of(change["id"])
    return next((item for item in part or [] if key_of(item["id"]) == key), None)


def _concerns(change: RowChange, path: tuple[Any, ...], resource: str, model: Model) -> bool:
    """Whether a row change concerns what a path names: nothing, a section, an item, a group."""
    if not path:
        return True
    if change["section"] != path[0]:
        return False
    rest = list(path[1:])
    known = model._known(resource)
    section = known.section(change["section"]) if known is not None and known.has(change["section"]) else None
    if "id" in change and rest:
        if section is not None and rest[0] in [group.name for group in section.groups] and len(rest) == 1:
            return _has_group(change, rest[0])
        if key_of(change["id"]) != key_of(model.resolve(rest[0])):
            return False
        rest = rest[1:]
    return not rest or _has_group(change, rest[0])


def _has_group(change: RowChange, group: Any) -> bool:
    return change["do"] != "edit" or group in change["groups"]
