"""Rules, changes and snapshots: the reads of a sync."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from typing import Any

from ..changes import Json
from ..ids import in_url
from ..snapshot import RECORDS_IN_A_TRANSACTION, parts_of
from ..transport import Answer, BrokenOff, Response
from .exchange import Exchange


class Downloads(Exchange):
    """Reads rules, changes and snapshots, and stores them when they arrive."""

    def _read_rules(self) -> str | None:
        answer = self.requests.ask("GET", "/v1/rules")
        if answer.status != 200:
            return self._refusal(answer)
        try:
            self.model.store_rules(answer.body.decode())
        except ValueError as error:
            return self._lost(f"the answer is not the rules: {error}")
        self._fresh_after = None
        return None

    def _read_due_rules(self) -> str | None:
        """Reads the rules if they are due; returns an event instead of going on."""
        if self.model.rules is None or self.model.database.meta("rulesDue"):
            return self._read_rules()
        return None

    def _prepare(self) -> str | None:
        """Reads the rules if they are due, and records that these give another shape; returns an event instead of going
        on."""
        refusal = self._read_due_rules()
        return self._refresh() if refusal is None and self.model.stale() else refusal

    def _refresh(self) -> str | None:
        """Reads the records of stale resources again; `None` once nothing is stale."""
        if self.model.database.meta("otherHistory"):
            return None
        if self.model.database.meta("resnapshot"):
            event = self._snapshot()  # it replaces the stale records too
            return None if event == "answer.page" else event
        return self._refresh_visited() or self._refresh_kept()

    def _refresh_visited(self) -> str | None:
        read: list[tuple[str, object, Json | None]] = []
        visited = self.model.visited()
        for resource, text in visited:
            record_id = json.loads(text)
            answer = self.requests.ask("GET", f"/v1/records/{urllib.parse.quote(resource)}/{in_url(record_id)}")
            problem = answer.problem
            is_gone = answer.status == 404 and problem is not None and problem["code"] == "no-such-record"
            if not is_gone and (answer.status != 200 or not isinstance(answer.json, dict)):
                return self._refusal(answer)
            read.append((resource, record_id, None if is_gone else answer.json))
        if visited:
            self.model.store_visited(read)
        return None

    def _refresh_kept(self) -> str | None:
        resources = [name for name in self.model.stale() if self.model.keeps(name)]
        if not resources:
            return None
        note = self.model.database.meta("refresh") or {}
        cursor = note.get("cursor") if note.get("resources") == resources else None
        subset = self.model.feed_filter()
        query = {"resources": ",".join(resources), **({} if cursor is None else {"after": cursor})}
        query.update({} if subset is None else {"filter": subset})
        path = "/v1/snapshot?" + urllib.parse.urlencode(query, safe=",")
        response = self.requests.send("GET", path, accept="application/x-ndjson, application/problem+json")
        try:
            if response.status == 200:
                return self._take_refresh(response, resources, goes_on=cursor is not None)
            answer = self.requests.whole(response)
        finally:
            response.close()
        if answer.status in (400, 410) and cursor is not None:
            self.model.forget_refresh()
            return self._lost("the snapshot that broke off cannot go on")
        if answer.status == 400 and subset is not None and self.model.difference() is not None:
            return "answer.resync"  # the rules do not have the earlier filter any more
        # If a resource is unknown, the rules have changed again.
        return "answer.rules" if answer.status == 404 and answer.problem else self._refusal(answer)

    def _take_refresh(self, response: Response, resources: list[str], *, goes_on: bool) -> str | None:
        self._fresh_after = None
        for part in parts_of(_lines(response), error=BrokenOff):
            if part.head is not None:
                head = part.head["snapshot"]
                other = self._is_other(head)
                if other is not None:
                    return other
                if not self.model.begin_refresh(head, resources=resources, goes_on=goes_on):
                    raise BrokenOff("the snapshot that broke off cannot go on")
                self.on_status()
            elif part.is_last:
                self.model.end_refresh(part.records)
                return None
            else:
                self.model.store_refreshed(part.records, cursor=part.cursor)
                self._between_parts()
        raise BrokenOff("the snapshot broke off")

    def _is_other(self, head: Json) -> str | None:
        """Returns an event if a snapshot of stale resources has other rules or another feed."""
        if self._has_other_rules(head):
            return "answer.rules"
        if head["feed"] != self.model.place()[0]:
            return "answer.resync"
        return None

    def _has_other_rules(self, head: Json) -> bool:
        version = head.get("rules")
        return version is not None and version != self.model.database.meta("rulesVersion")

    def _pull(self) -> str:
        was_stale = bool(self.model.stale())
        refusal = self._prepare()
        if refusal is not None:
            return refusal
        if was_stale and self.model.has_unsent():
            self._last_more = True
            return "answer.page"  # pushes that have waited for these records are sent first
        self._noted.clear()
        if self.model.resources is not None and not self.model.asked():
            self._last_more = False
            self.model.rebuild()
            return "answer.page"  # nothing is kept here
        feed, revision = self.model.place()
        if feed is None or self.model.database.meta("resnapshot") or self.model.difference() is not None:
            return self._snapshot()
        query = {"feed": feed, "since": str(revision)}
        shows = self.model.kept_above()
        answer = self.requests.ask("GET", f"/v1/changes?{self._query(query, self.model.feed_filter())}")
        if answer.status == 410:
            self._fresh_after = None
            return "answer.resync"
        if answer.status != 200:
            return self._no_feed(answer) or self._refusal(answer)
        page = answer.json
        if not is_page(page):
            return self._lost("the answer is not that of a gateway")
        self._fresh_after = None
        self._report.changes += self.model.store_page(page, asked=(feed, revision), shows=shows)
        self._last_more = bool(page.get("more"))
        return self._rules_or_page()

    def _rules_or_page(self) -> str:
        return "answer.rules" if self.model.database.meta("rulesDue") else "answer.page"

    def _query(self, query: dict[str, str], subset: str | None) -> str:
        if subset is not None:
            query["filter"] = subset
        if self.model.resources is not None:
            query["resources"] = ",".join(self.model.asked())
        return urllib.parse.urlencode(query, safe=",")

    def _no_feed(self, answer: Answer) -> str | None:
        """A gateway without a journal reports no changes."""
        problem = answer.problem
        if answer.status == 404 and problem is not None and problem.get("code") == "no-feed":
            self._report.problem = problem
            self._last_more = False
            self.model.drop_above(self.model.kept_above())
            self.model.rebuild()
            return "answer.page"
        return None

    def _snapshot(self) -> str:
        note = self.model.database.meta("snapshot") or {}
        difference = self.model.difference() or {}
        unless: str | None = difference.get("unless")
        if note and note.get("unless") != unless:
            note = {}
        cursor = note.get("cursor")
        wanted = difference["filter"] if difference else self.model.database.meta("keep")
        subset: str | None = note["filter"] if "filter" in note else wanted
        members = {} if unless is None else {"unless": unless}
        query = self._query(members if cursor is None else {**members, "after": cursor}, subset)
        path = "/v1/snapshot" + (f"?{query}" if query else "")
        response = self.requests.send("GET", path, accept="application/x-ndjson, application/problem+json")
        if response.status != 200:
            answer = self.requests.whole(response)
            if answer.status in (400, 410) and cursor is not None:
                self.model.forget_snapshot()
                return "answer.resync"
            if answer.status == 410 and unless is not None:
                return "answer.resync"
            return self._no_feed(answer) or self._refusal(answer)
        self._fresh_after = None
        try:
            if self._store_snapshot(response, goes_on=cursor is not None, subset=subset, unless=unless):
                self._last_more = True  # changes since the snapshot began
            return self._rules_or_page()
        finally:
            response.close()

    def _store_snapshot(self, response: Response, *, goes_on: bool, subset: str | None, unless: str | None) -> bool:
        """Stores a snapshot while it arrives. Returns false if it has other rules."""
        for part in parts_of(_lines(response), error=BrokenOff):
            if part.head is not None:
                head = part.head["snapshot"]
                if self._has_other_rules(head):
                    self.model.note(rulesDue=True)
                    return False
                if not self.model.begin_snapshot(head, goes_on=goes_on, subset=subset, unless=unless):
                    raise BrokenOff("the snapshot that broke off cannot go on")
                self.on_status()
                continue
            self.model.store_part(part.records, cursor=part.cursor)
            self._report.changes += len(part.records)
            if part.is_last:
                while unless is None and self.model.drop_old(RECORDS_IN_A_TRANSACTION):
                    self._between_parts()
                self.model.end_snapshot()
                return True
            self._between_parts()
        raise BrokenOff("the snapshot broke off")

    def _between_parts(self) -> None:
        self.on_status()
        self._check_end()


def _lines(response: Response) -> Iterator[Json]:
    """Yields the lines of NDJSON; throws `OSError` if a line is not JSON."""
    rest = b""
    for part in response.parts():
        rest += part
        *whole, rest = rest.split(b"\n")
        for line in whole:
            if line.strip():
                yield _parsed(line)
    if rest.strip():
        yield _parsed(rest)


def _parsed(line: bytes) -> Json:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise BrokenOff("a line of the snapshot is no JSON") from error
    if not isinstance(value, dict):
        raise BrokenOff("a line of the snapshot is no object")
    return value


def is_page(page: Any) -> bool:
    return (
        isinstance(page, dict)
        and isinstance(page.get("changes"), list)
        and isinstance(page.get("feed"), str)
        and isinstance(page.get("revision"), int)
        and all(isinstance(change, dict) and "record" in change for change in page["changes"])
    )
