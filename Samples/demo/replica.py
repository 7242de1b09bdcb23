"""A client that keeps all records: one snapshot, and from then on one sync each time it is online."""

from __future__ import annotations

import uuid
from typing import Any

from gateway import Gateway, GatewayError, Json

Name = tuple[str, str]


class Replica:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.records: dict[Name, Json] = {}
        self._queue: list[Json] = []
        self._feed = ""
        self._revision = 0
        self._take_snapshot()

    def read(self, resource: str, record_id: int | str) -> Json:
        return self.records[resource, str(record_id)]

    def edit(self, resource: str, record_id: int | str, section: str, group: str, new: Any) -> None:
        """Queues the edit of one group; it takes effect once, however often it is sent."""
        old = self.read(resource, record_id)[section][group]
        changeset = {section: {group: {"old": old, "new": new}}}
        edit = {"resource": resource, "id": record_id, "changeset": changeset}
        self._queue.append({"key": str(uuid.uuid4()), "edits": [edit]})

    def sync(self) -> tuple[list[Json], list[Json]]:
        """Sends what is queued, takes over what changed, and answers results and changes."""
        results: list[Json] = []
        changes: list[Json] = []
        more = True
        while more:
            body = {"feed": self._feed, "since": self._revision, "pushes": self._queue}
            answer = self._gateway.sync(body)
            results += answer["results"]
            settled = {result["key"] for result in answer["results"] if not _may_succeed_later(result)}
            self._queue = [push for push in self._queue if push["key"] not in settled]
            if answer["changes"] is None:
                # Changes from here on are not kept any more; the pushes count all the same.
                self._take_snapshot()
                return results, changes
            for change in answer["changes"]:
                self._take_over(change)
            changes += answer["changes"]
            self._revision, more = answer["revision"], answer["more"]
        return results, changes

    def _take_snapshot(self) -> None:
        self.records = {}
        is_whole = False
        for line in self._gateway.snapshot():
            if "snapshot" in line:
                self._feed, self._revision = line["snapshot"]["feed"], line["snapshot"]["revision"]
            elif "record" in line:
                self._take_over(line)
            is_whole = "end" in line
        if not is_whole:
            raise GatewayError("the snapshot broke off")

    def _take_over(self, change: Json) -> None:
        name = change["resource"], str(change["id"])
        if change["record"] is None:
            self.records.pop(name, None)
        else:
            self.records[name] = change["record"]


def _may_succeed_later(result: Json) -> bool:
    problems = [result.get("problem")] + [edit.get("problem") for edit in result["results"]]
    return any(problem and problem.get("retry") for problem in problems)
