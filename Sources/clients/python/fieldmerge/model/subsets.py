"""A subset on the device: only records that match the filter of `open` are kept. The gateway filters.

Notes: `keep` is the filter that the app wants, `filter` that of the feed, both as text, without a note for all records. If they
differ, a snapshot with the difference is due. `target` has the filter of a difference that has begun: it is read to its end,
also if the app wants another one by then. `left` has records that the filter does not contain any more while they have edits
without an answer.
"""

from __future__ import annotations

import json
from typing import Any

from ..changes import Json
from ..ids import key_of
from .reading import Reading


class Subsets(Reading):
    """The filters of a store, and records outside of them that stay for their edits."""

    def keep(self, wanted: str | None) -> None:
        """Notes the filter that the app wants from now on. All processes of a store have the one that was opened last."""
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
        """Returns the filter of the difference that is due, and the feed that it begins with; `None` if none is due."""
        meta = self.database.meta
        wanted = (meta("target") or {"filter": meta("keep")})["filter"]
        feed, revision = meta("feed"), meta("revision")
        if wanted == meta("filter") or feed is None or revision is None or meta("resnapshot"):
            return None
        return {"filter": wanted, "unless": f"{feed}:{revision}"}

    def _partial(self) -> set[str]:
        """Returns the resources that are only here in part."""
        texts = [self.database.meta("keep"), self.database.meta("filter"), (self.database.meta("target") or {}).get("filter")]
        return {name for text in texts if text for name in json.loads(text)}

    def _stays(self, resource: str, record_id: Any, *, is_lost: bool) -> bool:
        """Returns whether a record that the server tells as gone, or does not tell, stays for its edits."""
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
        """Takes a record as left that is not here, and is edited or sent again all the same; with a base, it is here until
        the answer."""
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
