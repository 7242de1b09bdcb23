"""A subset on the device: the store keeps only records that match the filter of `open`. The gateway filters.

Notes:

- `keep`: the filter of the app, as text. There is no note for all records.
- `filter`: the filter of the feed, as text. If it differs from `keep`, a snapshot with the difference is due.
- `target`: the filter of a difference that has begun. It is read to its end even if the app changes its filter.
- `left`: records that left the filter and have edits without an answer
"""

from __future__ import annotations

import json
from typing import Any

from ..changes import Json
from ..ids import key_of
from .reading import Reading


class Subsets(Reading):
    """The filters of a store, and records that left them but stay for their edits."""

    def keep(self, wanted: str | None) -> None:
        """Notes the app's current filter. All processes of a store use the filter of the latest `open`."""
        if self.database.meta("keep") == wanted:
            return
        self.database.set_meta("keep", wanted)
        if self.database.meta("revision") is None or self.database.meta("resnapshot"):
            self.database.set_meta("snapshot", None)  # of all records of another subset

    def feed_filter(self) -> str | None:
        """Returns the filter of the feed."""
        found: str | None = self.database.meta("filter")
        return found

    def difference(self) -> Json | None:
        """Returns the filter of the difference that is due, and its first feed; `None` if none is due."""
        meta = self.database.meta
        wanted = (meta("target") or {"filter": meta("keep")})["filter"]
        feed, revision = meta("feed"), meta("revision")
        if wanted == meta("filter") or feed is None or revision is None or meta("resnapshot"):
            return None
        return {"filter": wanted, "unless": f"{feed}:{revision}"}

    def _partial(self) -> set[str]:
        """Returns the resources of which the store keeps a part."""
        texts = [self.database.meta("keep"), self.database.meta("filter"), (self.database.meta("target") or {}).get("filter")]
        return {name for text in texts if text for name in json.loads(text)}

    def _stays(self, resource: str, record_id: Any, *, is_lost: bool) -> bool:
        """Returns whether a record that the server deletes or omits stays for its edits."""
        key = key_of(record_id)
        is_held = is_lost and not self.database.meta("otherHistory") and self._base(resource, key) is not None
        stays = is_held and bool(self.pending(resource, key))
        self._note_left(resource, record_id, stays)
        return stays

    def _note_left(self, resource: str, record_id: Any, has_left: bool) -> None:
        left = self._left()
        others = [place for place in left if (place[0], key_of(place[1])) != (resource, key_of(record_id))]
        noted = [*others, [resource, record_id]] if has_left else others
        if noted != left:
            self.database.set_meta("left", noted or None)

    def _left(self) -> list[list[Any]]:
        return self.database.meta("left") or []

    def _revive(self, resource: str, record_id: Any, base: Json | None) -> None:
        """Adds an edited or resent record that is not in the store to `left`. With a base, the record stays until the
        answer."""
        if resource not in self._partial() or self._base(resource, key_of(record_id)) is not None:
            return
        if base is not None:
            self.database.write(
                "INSERT INTO base VALUES (?, ?, ?, ?, ?, ?)",
                *(resource, key_of(record_id), json.dumps(record_id), json.dumps(base)),
                *(self.database.meta("generation") or 0, self.database.meta("pulls") or 0),
            )
            self._touched.add((resource, key_of(record_id)))
        self._note_left(resource, record_id, True)
