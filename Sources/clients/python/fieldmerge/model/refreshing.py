"""Records that are read again because the rules have changed the shape of their resource."""

from __future__ import annotations

from ..changes import Json
from ..ids import key_of
from .pulls import Pulls, is_same_snapshot


class Refreshing(Pulls):
    """Snapshots of stale resources. They do not change the revision of the feed."""

    def begin_refresh(self, head: Json, *, resources: list[str], goes_on: bool) -> bool:
        """Notes that records are read again, in one transaction. Returns false if this snapshot does not continue the
        noted one. Then the next snapshot begins at its first record."""
        with self.database.transaction("refresh begins"):
            self._check_lease()
            note = self.database.meta("refresh") or {}
            if goes_on:
                is_same = note.get("resources") == resources and is_same_snapshot(note, head)
                if not is_same:
                    self.database.set_meta("refresh", None)
                return is_same
            self._begin_pull()
            self.database.set_meta("generation", (self.database.meta("generation") or 0) + 1)
            told = {name: head.get(name) for name in ("feed", "revision", "rules", "records")}
            self.database.set_meta("refresh", {**told, "resources": resources, "cursor": None, "done": 0})
        return True

    def forget_refresh(self) -> None:
        """Makes the next snapshot begin at its first record, in one transaction."""
        with self.database.transaction("refresh anew"):
            self._check_lease()
            self.database.set_meta("refresh", None)

    def store_refreshed(self, lines: list[Json], *, cursor: str | None) -> None:
        """Stores some records of the new shape, and where the snapshot continues, in one transaction."""
        with self.database.transaction("refresh"):
            self._check_lease()
            self._take_lines("refresh", lines, cursor)

    def end_refresh(self, lines: list[Json]) -> None:
        """Stores the last records of the new shape, deletes the missing records, and rebuilds the waiting pushes, in
        one transaction."""
        with self.database.transaction("refresh ends"):
            self._check_lease()
            self._take_lines("refresh", lines, None)
            resources = self.database.meta("refresh")["resources"]
            while self.drop_old(500, resources=resources):
                pass
            self.database.set_meta("refresh", None)
            self._note_read(resources)
            self._tell()

    def visited(self) -> list[tuple[str, str]]:
        """Returns the records of stale resources that are stored only for an edit: resource, and id as JSON."""
        names = [name for name in self.stale() if not self.keeps(name)]
        found: list[tuple[str, str]] = []
        for name in names:
            found += self.database.rows("SELECT resource, id FROM base WHERE resource = ? ORDER BY key", name)
        return found

    def store_visited(self, read: list[tuple[str, object, Json | None]]) -> None:
        """Stores the new versions of these records, in one transaction. Their resources then have the new shape."""
        with self.database.transaction("refresh visited"):
            self._check_lease()
            for resource, record_id, record in read:
                key = key_of(record_id)
                before = self._seen(resource, key)
                self._put(resource, record_id, record, before=before)
                self._rebase((resource, key), before)
            self._note_read([name for name in self.stale() if not self.keeps(name)])
            self._tell()
