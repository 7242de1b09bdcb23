"""Reports for support."""

from __future__ import annotations

import json
import os

from .changes import Json
from .querying import Querying


class Support(Querying):
    """Descriptions and exports of a store."""

    _server: str
    _user: str

    def diagnose(self) -> Json:
        """Returns a report for support, without values of records and without the token."""
        status = self.status
        with self._database.lock:
            pushes = [
                {
                    "number": seq,
                    "state": ("unsent", "sent", "kept", "refused")[state],
                    "key": key,
                    "bytes": size,
                    "edits": [
                        {"resource": edit.resource, "id": edit.id, "sections": [one["section"] for one in edit.changes]}
                        for edit in self._model.edits_of(seq)
                    ],
                    "problem": (json.loads(refusal)["problem"] or {}).get("code") if refusal else None,
                }
                for seq, state, key, size, refusal in self._database.rows(
                    "SELECT seq, state, key, length(body), refusal FROM push ORDER BY seq"
                )
            ]
            records = dict(self._database.rows("SELECT resource, count(*) FROM base GROUP BY resource ORDER BY 1"))
            feed, revision = self._model.place()
            rules = self._model.rules
            built = self._database.built_indexes()
        return {
            "server": self._server,
            "user": self._user,
            "device": self._database.meta("device"),
            "resources": self._model.resources,
            "phase": status.phase,
            "unsent": status.unsent,
            "refused": status.refused,
            "feed": feed,
            "revision": revision,
            "rules": rules.version if rules else None,
            "lastSynced": status.last_synced,
            "nextTry": status.next_try,
            "error": status.error,
            "problem": status.problem,
            "records": records,
            "live": [
                {"resource": one.resource, **one.options.names, "runs": one.runs, "tests": one.tests}
                for one in (live._window for live in self._worker.lives())
            ],
            "slow": self._runner.reports,
            "indexes": built,
            "pushes": pushes,
            "events": self._database.value("SELECT count(*) FROM event"),
        }

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the complete content of the store into a file, one JSON value a line: first `diagnose()`, then the
        pushes with their edits, then the records."""
        with open(path, "w", encoding="utf-8") as file, self._database.lock:
            file.write(json.dumps({"export": self.diagnose()}, ensure_ascii=False) + "\n")
            for seq, state, key, body in self._database.rows("SELECT seq, state, key, body FROM push ORDER BY seq"):
                edits = [
                    {"resource": edit.resource, "id": edit.id, "changes": edit.changes}
                    for edit in self._model.edits_of(seq)
                ]
                text = bytes(body).decode() if body is not None else None
                push = {"number": seq, "state": state, "key": key, "body": text, "edits": edits}
                file.write(json.dumps({"push": push}, ensure_ascii=False) + "\n")
            for resource, record_id, record in self._database.rows("SELECT resource, id, record FROM base"):
                file.write(f'{{"resource":{json.dumps(resource)},"id":{record_id},"record":{record}}}\n')
