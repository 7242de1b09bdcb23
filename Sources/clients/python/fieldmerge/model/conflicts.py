"""The list of conflicts, and the events that the app has not handled yet."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..changes import Json, RowChange
from ..errors import NotPossible
from ..ids import key_of
from ..owners import has_ended
from ..rules import Resource, Section
from .notes import Notes
from .parts import EVENTS_KEPT, StoredEdit

ENTRIES_KEPT = 1_000

CONFLICT, OVERTAKEN, MERGED, TAKEN = "conflict", "overtaken", "merged", "taken"
"""The kinds of entries. Merged ones (overtaken edits that were merged without a conflict) and taken ones (the app has
decided them) are in no list."""

_LISTED = (CONFLICT, OVERTAKEN)


class Conflicts(Notes):
    """Entries for groups that two edits changed."""

    def _enter(self, kind: str, push: int, key: str, told: Json) -> Json:
        """Adds an entry, or turns the overtaken edit of this group into it. Returns the entry with its name."""
        place = place_of(told["resource"], key, told["section"], told["item"], told["group"])
        seq = self.database.value(
            "SELECT seq FROM conflict WHERE push = ? AND place = ? AND kind = ?", push, place, OVERTAKEN
        )
        if seq is None:
            cursor = self.database.write(
                "INSERT INTO conflict (kind, push, place, body) VALUES (?, ?, ?, '{}')", kind, push, place
            )
            seq = int(cursor.lastrowid or 0)
        told = {**told, "name": str(seq), "kind": kind, "fields": self._fields_of_group(told)}
        self.database.write("UPDATE conflict SET kind = ?, body = ? WHERE seq = ?", kind, json.dumps(told), seq)
        self.database.write("DELETE FROM event WHERE entry = ? AND owner IS NULL", seq)
        return told

    def _fields_of_group(self, told: Json) -> list[str] | None:
        """The fields of the entry's group. They are needed to read its values under other rules."""
        known = self._known(told["resource"])
        if known is None or told["group"] is None or not known.has(str(told["section"])):
            return None
        groups = known.section(told["section"]).groups
        return next(([one.name for one in group.fields] for group in groups if group.name == told["group"]), None)

    def _leave(self, push: int, place: str) -> None:
        """Removes the overtaken edit of a group."""
        for (seq,) in self.database.rows(
            "SELECT seq FROM conflict WHERE push = ? AND place = ? AND kind = ?", push, place, OVERTAKEN
        ):
            self.database.write("DELETE FROM conflict WHERE seq = ?", seq)
            self.database.write("DELETE FROM event WHERE entry = ? AND owner IS NULL", seq)

    def _map_entries(self, ids: Mapping[str, Any], temporary: str) -> None:
        """Replaces a temporary id in the keys of overtaken edits."""
        for seq, place, body in self.database.rows(
            "SELECT seq, place, body FROM conflict WHERE kind = ? AND place LIKE ?", OVERTAKEN, f"%{temporary}%"
        ):
            resource, key, section, item, group = json.loads(place)
            key = "\x1f".join(key_of(ids.get(part, part)) for part in key.split("\x1f"))
            item = None if item is None else ids.get(item, item)
            told = json.loads(body)
            told["id"] = ids.get(told["id"], told["id"]) if isinstance(told["id"], str) else told["id"]
            told["item"] = ids.get(told["item"], told["item"]) if isinstance(told["item"], str) else told["item"]
            self.database.write(
                "UPDATE conflict SET place = ?, body = ? WHERE seq = ?",
                *(place_of(resource, key, section, item, group), json.dumps(told), seq),
            )

    def _rename_entries(self, resource: Resource) -> None:
        """Updates the names of renamed groups in entries and events."""
        for seq, place, body in self.database.rows("SELECT seq, place, body FROM conflict"):
            name, key, section, item, group = json.loads(place)
            if name != resource.name or group is None or not resource.has(section):
                continue
            present = resource.section(section).present_group(group)
            if present != group:
                text = json.dumps({**json.loads(body), "group": present})
                place = place_of(name, key, section, item, present)
                self.database.write("UPDATE conflict SET place = ?, body = ? WHERE seq = ?", place, text, seq)
                self.database.write("UPDATE event SET body = ? WHERE entry = ?", text, seq)

    def _queue(self, kind: str, body: Json) -> None:
        """Queues an event. It belongs to an entry if it has a name."""
        entry = int(body["name"]) if "name" in body else None
        self.database.write("INSERT INTO event (kind, body, entry) VALUES (?, ?, ?)", kind, json.dumps(body), entry)
        self.database.write("DELETE FROM event WHERE seq <= (SELECT max(seq) FROM event) - ?", EVENTS_KEPT)

    def _leave_overtaken(self, push: int, edits: Collection[StoredEdit] = (), *, is_merged: bool = False) -> None:
        """Removes the overtaken edits of a push from the list, except for groups that it still edits. The app can
        still decide merged edits."""
        rows = self.database.rows("SELECT seq, place FROM conflict WHERE push = ? AND kind = ?", push, OVERTAKEN)
        if not rows:
            return
        held = {place for edit in edits for change in edit.changes for place in _places(edit, change)}
        for seq, place in rows:
            if place not in held:
                if is_merged:
                    self.database.write("UPDATE conflict SET kind = ? WHERE seq = ?", MERGED, seq)
                else:
                    self.database.write("DELETE FROM conflict WHERE seq = ?", seq)
                self.database.write("DELETE FROM event WHERE entry = ? AND owner IS NULL", seq)

    def listed(self) -> list[Json]:
        """Returns the entries, oldest first."""
        rows = self.database.rows("SELECT body FROM conflict WHERE kind IN (?, ?) ORDER BY seq", *_LISTED)
        return [json.loads(body) for (body,) in rows]

    def take_entry(self, name: str, *, was: str) -> bool:
        """Removes an entry from the list in the current transaction. Returns false if the app has decided it already,
        or if its edit was never sent. Throws `NotPossible` for a conflict that is no longer kept."""
        kind = self.database.value("SELECT kind FROM conflict WHERE seq = ?", int(name))
        if kind is None and was == CONFLICT:
            raise NotPossible("not-listed", "Only the newest 1,000 conflicts are kept. Make the edit anew.")
        if kind in (None, TAKEN):
            return False
        self.database.write("UPDATE conflict SET kind = ? WHERE seq = ?", TAKEN, int(name))
        self.database.write("DELETE FROM event WHERE entry = ?", int(name))
        return True

    def next_event(
        self, kinds: Iterable[str], *, after: int, without: Collection[int] = ()
    ) -> tuple[int, str, Json] | None:
        """Returns the next event of these kinds that no other process delivers, and reserves it for this process."""
        kinds = list(kinds)
        marks = ", ".join("?" * len(kinds))
        rows = self.database.rows(
            f"SELECT seq, kind, body, owner FROM event WHERE seq > ? AND kind IN ({marks}) ORDER BY seq",
            *(after, *kinds),
        )
        for seq, kind, body, owner in rows:
            if seq not in without and self._claim_event(seq, owner):
                return seq, kind, json.loads(body)
        return None

    def _claim_event(self, seq: int, owner: str | None) -> bool:
        if owner == self.owner:
            return True
        if owner is not None and not has_ended(owner):
            return False
        with self.database.transaction("event is delivered"):
            cursor = self.database.write(
                "UPDATE event SET owner = ? WHERE seq = ? AND owner IS ?", self.owner, seq, owner
            )
        return cursor.rowcount == 1

    def forget_event(self, seq: int) -> None:
        """Deletes an event that the app has handled, in one transaction. Keeps the newest 1,000 listed entries and
        the newest 1,000 unlisted entries."""
        with self.database.transaction("event"):
            self.database.write("DELETE FROM event WHERE seq = ?", seq)
            for kinds in (_LISTED, (MERGED, TAKEN)):
                self.database.write(
                    "DELETE FROM conflict WHERE seq IN (SELECT c.seq FROM conflict c WHERE c.kind IN (?, ?) AND NOT EXISTS"
                    " (SELECT 1 FROM event e WHERE e.entry = c.seq) ORDER BY c.seq DESC LIMIT -1 OFFSET ?)",
                    *(*kinds, ENTRIES_KEPT),
                )


def place_of(resource: str, key: str, section: Any, item: Any, group: Any) -> str:
    """Returns the key of a group of a record as text."""
    return json.dumps([resource, key, section, None if item is None else key_of(item), group])


def told_fields(section: Section, told: Json, side: str) -> Json:
    """Returns a value of an entry as fields under their current names, even if the group had other fields then."""
    value, names = told.get(side), told.get("fields")
    if names is None:
        return section.group(section.present_group(told["group"])).spread(value)
    values = {names[0]: value} if len(names) == 1 else value if isinstance(value, Mapping) else {}
    present = {section.renames.get(name, name): one for name, one in values.items()}
    return {name: one for name, one in present.items() if name in section.fields}


def _places(edit: StoredEdit, change: RowChange) -> Iterable[str]:
    for group in change.get("groups", {}):
        yield place_of(edit.resource, edit.key, change["section"], change.get("id"), group)
