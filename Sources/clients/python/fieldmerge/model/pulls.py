"""Changes and snapshots."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..changes import Json
from ..ids import key_of
from ..values import json_equal
from .histories import Histories
from .parts import SENT, SnapshotEnded, with_problem


class Pulls(Histories):
    """Stores the server's changes and snapshots, with their revision."""

    def store_page(self, page: Json, *, asked: tuple[str | None, int | None], shows: Iterable[int] = ()) -> int:
        """Stores a page of changes with its feed and revision, in one transaction. Returns the number of changes.

        `shows` are the large pushes whose answer was stored before the page was requested.
        Stores no change of a page of other rules. The rules are read first, and the changes come again.
        """
        with self.database.transaction("page"):
            self._check_lease()
            if self.place() != asked:
                return 0
            self._note_version(page.get("rules"))
            if self.database.meta("rulesDue"):
                return 0
            self._begin_pull()
            count = 0
            parts = self._partial()
            for change in page["changes"]:
                if not self._stays_here(change, parts):
                    count += self._take(change, change.get("by"))
            self._end_stays()
            if not page.get("more"):
                self._drop_above(shows)
            self.database.set_meta("feed", page["feed"])
            self.database.set_meta("revision", page["revision"])
            self.database.set_meta("lastSynced", self.clock.now())
            self._store_noted()
            if not self.database.meta("resnapshot"):
                self._rebuild()
            self._hooks()
            self._tell()
        return count

    def _begin_pull(self) -> None:
        """Counts pulls, so that a repeated answer can use the records that were read since."""
        self.database.set_meta("pulls", (self.database.meta("pulls") or 0) + 1)
        if self.database.value("SELECT 1 FROM push WHERE state = ? LIMIT 1", SENT) is None:
            self.database.write("DELETE FROM tombstone")

    def _note_version(self, version: Any) -> None:
        if version is not None and version != self.database.meta("rulesVersion"):
            self.database.set_meta("rulesDue", True)

    def _take(self, told: Json, by: Json | None = None) -> int:
        resource, record_id, record = told["resource"], told["id"], told["record"]
        if not self.keeps(resource):
            return 0
        key = key_of(record_id)
        held = self._base(resource, key)
        if told.get("problem"):
            record = with_problem(held, told["problem"])
        if json_equal(held, record):
            if held is not None:
                self.database.write(
                    "UPDATE base SET pulled = ? WHERE resource = ? AND key = ?",
                    *(self.database.meta("pulls") or 0, resource, key),
                )
            return 0
        if self.database.value("SELECT 1 FROM edit LIMIT 1") is None:
            self._put(resource, record_id, record, before=held, is_pulled=True)
            if record is None and held is not None:
                self._queue("gone", {"resource": resource, "id": held["id"], "record": held})
            return 1
        before = self._seen(resource, key)
        was = self.view(resource, record_id)
        self._put(resource, record_id, record, before=was, is_pulled=True)
        self._refuse_others((resource, key), held, record)
        self._rebase((resource, key), before, tells_gone=True, was=was, by=by)
        return 1

    def _stays_here(self, told: Json, parts: set[str]) -> bool:
        """Returns whether a record stays although the server reports it as deleted. It may only have left the
        filter."""
        if told["resource"] not in parts or not self.keeps(told["resource"]):
            return False
        is_lost = told["record"] is None and not told.get("problem")
        return self._stays(told["resource"], told["id"], is_lost=is_lost)

    def begin_snapshot(
        self, head: Json, *, goes_on: bool = False, subset: str | None = None, unless: str | None = None
    ) -> bool:
        """Notes that a snapshot begins, in one transaction. Returns false if it should continue an interrupted
        snapshot but
        is another one, or has other rules. Then the next snapshot begins at its first record.

        `subset` is its filter. With `unless`, the id of an event, it is the difference to the filter of that feed.
        """
        with self.database.transaction("snapshot begins"):
            self._check_lease()
            if goes_on:
                under_way = self.database.meta("snapshot") or {}
                is_same = is_same_snapshot(under_way, head)
                if not is_same:
                    self.database.set_meta("snapshot", None)
                return is_same
            self._begin_pull()
            generation = (self.database.meta("generation") or 0) + 1
            self.database.set_meta("generation", generation)
            names = ("feed", "revision", "rules", "records")
            note = {name: head.get(name) for name in names}
            note.update({"cursor": None, "done": 0, "filter": subset, "unless": unless})
            if unless is None:
                note["shows"] = self.kept_above()
                self.database.set_meta("refresh", None)
            else:
                self.database.set_meta("target", {"filter": subset})
            self.database.set_meta("snapshot", note)
            if self.database.meta("feed") is None:
                # The note stays until all records of this feed are replaced, even if another snapshot begins first.
                self.database.set_meta("feed", head["feed"])
        return True

    def forget_snapshot(self) -> None:
        """Makes the next snapshot begin at its first record, in one transaction."""
        with self.database.transaction("snapshot anew"):
            self._check_lease()
            self.database.set_meta("snapshot", None)

    def store_part(self, lines: list[Json], *, cursor: str | None) -> None:
        """Stores some records of a snapshot, and where it continues, in one transaction."""
        with self.database.transaction("snapshot"):
            self._check_lease()
            self._take_lines("snapshot", lines, cursor)

    def _take_lines(self, name: str, lines: list[Json], cursor: str | None) -> None:
        note = self._note_under_way(name)
        generation = self.database.meta("generation") or 0
        parts, is_difference = self._partial(), note.get("unless") is not None
        for line in lines:
            if not self.keeps(line["resource"]) or self._stays_here(line, parts):
                continue
            if is_difference and line["record"] is None and line["resource"] in parts:
                self._lose(line["resource"], line["id"], tells_gone=False)  # The app left the resource out.
            elif not self._take(line):
                self.database.write(
                    "UPDATE base SET generation = ? WHERE resource = ? AND key = ?",
                    *(generation, line["resource"], key_of(line["id"])),
                )
        note["done"] += len(lines)
        note["cursor"] = cursor or note["cursor"]
        self.database.set_meta(name, note)
        self._hooks()
        self._tell()

    def _note_under_way(self, name: str) -> Json:
        """Returns the note of a snapshot. Throws `SnapshotEnded` if another thread has reset the snapshot."""
        note: Json | None = self.database.meta(name)
        if note is None:
            raise SnapshotEnded("the snapshot has to begin anew")
        return note

    def drop_old(self, limit: int, *, resources: list[str] | None = None) -> bool:
        """Deletes some records that the snapshot does not contain, in one transaction. Returns false if none is
        left."""
        with self.database.transaction("snapshot drops"):
            self._check_lease()
            generation = self.database.meta("generation") or 0
            rows = self.database.rows(
                "SELECT resource, key, id FROM base WHERE generation < ? AND (? IS NULL OR resource IN"
                " (SELECT value FROM json_each(?))) ORDER BY resource, key LIMIT ?",
                *(generation, None if resources is None else "all", json.dumps(resources or []), limit),
            )
            parts = self._partial()
            for resource, key, text in rows:
                if not self.keeps(resource) or (
                    resource in parts and self._stays(resource, json.loads(text), is_lost=True)
                ):
                    self.database.write(
                        "UPDATE base SET generation = ? WHERE resource = ? AND key = ?", generation, resource, key
                    )
                    continue
                self._lose(resource, json.loads(text))
            self._hooks()
            self._tell()
        return bool(rows)

    def end_snapshot(self) -> None:
        """Stores feed and revision of a complete snapshot, in one transaction."""
        with self.database.transaction("snapshot ends"):
            self._check_lease()
            note = self._note_under_way("snapshot")
            self.database.set_meta("feed", note["feed"])
            self.database.set_meta("revision", note["revision"])
            self.database.set_meta("snapshot", None)
            self.database.set_meta("filter", note.get("filter"))
            self.database.set_meta("target", None)
            self._end_stays()
            if note.get("unless") is not None:
                self._hooks()
                return self._tell()
            self._drop_above(note.get("shows") or [])
            self.database.set_meta("resnapshot", None)
            self.database.set_meta("lastSynced", self.clock.now())
            self._store_noted()
            self._note_version(note.get("rules"))
            if self.database.meta("rulesDue"):
                self.database.set_meta("shapesOf", note.get("rules"))
                self.database.set_meta("shapes", None)
            else:
                self._note_read([name for name in self.rules.resources if self.keeps(name)] if self.rules else [])
            self._rebuild()
            self._tell()


def is_same_snapshot(under_way: Json, head: Json) -> bool:
    """Returns whether a snapshot continues another: both have the same feed, revision and rules."""
    return all(under_way.get(name) == head.get(name) for name in ("feed", "revision", "rules"))
