"""A small gateway in memory for the tests of an app."""

from __future__ import annotations

import copy
import json
import threading
import urllib.parse
from collections.abc import Mapping
from typing import Any

from ..clock import Clock
from ..ids import is_temporary, key_of
from ..rules import Group, Resource, Rules, Section
from ..transport import Request
from ..values import same_group
from .scripted import Reply, ScriptedServer

Json = dict[str, Any]


class _Refused(Exception):
    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


class MemoryGateway(ScriptedServer):
    """Serves rules, records, changes, snapshots and sync from memory, without a network; a script of errors may
    precede it.

    It merges group by group as in the contract, with the policies `client-wins`, `server-wins` and `reject`
    and the function `add`; for other functions it uses the policy. It checks no types and has no access rules.
    """

    def __init__(
        self, rules: Json, records: Mapping[str, list[Json]] | None = None, *, clock: Clock | None = None
    ) -> None:
        super().__init__(self._serve, clock=clock)
        self.rules_document = rules
        self.rules = Rules.parse(json.dumps(rules))
        self.records: dict[tuple[str, str], Json] = {}
        self.feed = "feed-1"
        self.revision = 1
        self.earliest = 1
        self.runs: list[str] = []
        """The keys of the pushes that were run, each as often as it was."""
        self._changes: dict[tuple[str, str], int] = {}
        self._kept: dict[str, tuple[str, Json]] = {}
        self._next_id = 1_000
        self._mutex = threading.RLock()
        for resource, rows in (records or {}).items():
            for record in rows:
                self.records[resource, key_of(record["id"])] = copy.deepcopy(record)

    def put(self, resource: str, record_id: Any, record: Json | None) -> None:
        """Changes a record, like another client; `None` deletes it."""
        with self._mutex:
            place = resource, key_of(record_id)
            if record is None:
                self.records.pop(place, None)
            else:
                self.records[place] = copy.deepcopy(record)
            self._touch(place)

    def get(self, resource: str, record_id: Any) -> Json | None:
        """Returns the current record."""
        with self._mutex:
            return copy.deepcopy(self.records.get((resource, key_of(record_id))))

    def begin_anew(self) -> None:
        """Begins another feed, so that every client needs a snapshot."""
        with self._mutex:
            self.feed = f"feed-{int(self.feed.split('-')[1]) + 1}"
            self.revision += 1
            self.earliest = self.revision
            self._changes.clear()

    def change_rules(self, rules: Json) -> None:
        """Serves other rules from now on."""
        with self._mutex:
            self.rules_document = rules
            self.rules = Rules.parse(json.dumps(rules))

    def _touch(self, place: tuple[str, str]) -> None:
        self.revision += 1
        self._changes[place] = self.revision

    # Requests

    def _serve(self, request: Request) -> Reply:
        address = urllib.parse.urlsplit(request.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        with self._mutex:
            if address.path == "/v1/rules":
                return Reply.of(self.rules_document)
            if address.path == "/v1/snapshot":
                return self._snapshot(query)
            if address.path == "/v1/changes":
                return self._page_reply(query)
            if address.path == "/v1/sync":
                return self._sync(json.loads(request.body or b"{}"))
            if address.path.startswith("/v1/records/"):
                return self._record(address.path)
        return Reply.problem(404, "no-such-address")

    def _record(self, path: str) -> Reply:
        _, _, _, resource, *rest = path.split("/")
        if rest:
            record_id = "\x1f".join(urllib.parse.unquote(part) for part in rest[0].split(","))
            record = self.records.get((urllib.parse.unquote(resource), record_id))
            return Reply.problem(404, "no-such-record") if record is None else Reply.of(record)
        rows = [record for (name, _), record in self.records.items() if name == resource]
        return Reply.of({"records": rows, "next": None})

    def _wanted(self, query: Mapping[str, Any]) -> set[str]:
        names = query.get("resources")
        if names is None:
            return set(self.rules.resources)
        return set(names.split(",") if isinstance(names, str) else names)

    def _snapshot(self, query: Mapping[str, str]) -> Reply:
        wanted = self._wanted(query)
        rows = sorted(place for place in self.records if place[0] in wanted)
        feed, revision, last = json.loads(query["after"]) if "after" in query else (self.feed, self.revision, None)
        if feed != self.feed:
            return Reply.problem(410, "resync", feed=self.feed, earliest=self.earliest)
        rows = [place for place in rows if last is None or list(place) > last]
        head = {"feed": feed, "revision": revision, "rules": self.rules.version, "records": len(rows)}
        lines: list[Json] = [{"snapshot": {**head, "resources": sorted(wanted)}}]
        for number, place in enumerate(rows, 1):
            record = self.records[place]
            lines.append({"resource": place[0], "id": record["id"], "record": record})
            if number % 2 == 0:
                lines.append({"cursor": json.dumps([feed, revision, list(place)])})
        lines.append({"end": {"records": len(rows)}})
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        return Reply(200, body, {"content-type": "application/x-ndjson"})

    def _page_reply(self, query: Mapping[str, str]) -> Reply:
        page = self._page(query)
        return Reply.of(page["problem"], 410) if page.get("changes") is None else Reply.of(page)

    def _page(self, query: Mapping[str, Any]) -> Json:
        place = {"feed": self.feed, "revision": self.revision, "more": False, "rules": self.rules.version}
        if query.get("since") is None:
            return {**place, "changes": []}
        since = int(query["since"])
        if query.get("feed") != self.feed or not self.earliest <= since <= self.revision:
            problem = json.loads(Reply.problem(410, "resync", feed=self.feed, earliest=self.earliest).body)
            return {**place, "changes": None, "problem": problem}
        wanted = self._wanted(query)
        limit = max(1, min(500, int(query.get("limit", 500))))
        due = sorted(
            (revision, name) for name, revision in self._changes.items() if revision > since and name[0] in wanted
        )
        changes = []
        for revision, (resource, key) in due[:limit]:
            record = self.records.get((resource, key))
            record_id = record["id"] if record else int(key) if key.lstrip("-").isdigit() else key
            told = {"revision": revision, "resource": resource, "id": record_id, "record": copy.deepcopy(record)}
            changes.append({**told, "by": None})
        if len(due) > limit:
            place.update(revision=due[limit - 1][0], more=True)
        return {**place, "changes": changes}

    # Pushes

    def _sync(self, body: Json) -> Reply:
        results = []
        ids: dict[str, Any] = {}
        refused: set[str] = set()
        for push in body.get("pushes", []):
            results.append(self._push(push, ids, refused))
        page = self._page(body)
        whole = all(result["code"] == 200 for result in results) and page["changes"] is not None
        return Reply.of({"results": results, **page}, 200 if whole else 207)

    def _push(self, push: Json, ids: dict[str, Any], refused: set[str]) -> Json:
        key, text = push["key"], json.dumps(push, sort_keys=True)
        if key in self._kept:
            known, answer = self._kept[key]
            if known != text:
                return _failed(key, 422, "key-reused")
            for result in answer["results"]:
                ids.update(result.get("ids") or {})
            if answer["status"] != "merged":
                refused |= self._creations(push)
            return copy.deepcopy(answer)
        if push.get("rules") not in (None, self.rules.version):
            return _failed(key, 409, "rules-changed")
        if any(one in json.dumps(push["edits"]) for one in refused):
            answer = _failed(key, 422, "depends-on-refused")
        else:
            answer = self._run(push, ids)
        if answer["status"] != "merged":
            refused |= self._creations(push)
        self._kept[key] = text, copy.deepcopy(answer)
        return answer

    def _creations(self, push: Json) -> set[str]:
        found = set()
        for edit in push["edits"]:
            for part in edit["changeset"].values():
                for row in part if isinstance(part, list) else [part]:
                    if "old" in row and row["old"] is None:
                        found.add(str(row.get("id", edit.get("id"))))
        return {one for one in found if is_temporary(one)}

    def _run(self, push: Json, ids: dict[str, Any]) -> Json:
        self.runs.append(push["key"])
        before = copy.deepcopy(self.records)
        own: dict[str, Any] = {one: self._number() for one in sorted(self._creations(push) - ids.keys())}
        known = {**ids, **own}
        results: list[Json] = []
        try:
            for edit in push["edits"]:
                results.append(self._edit(_mapped(edit, known), edit, own))
        except _Refused as refusal:
            self.records = before
            problem = json.loads(Reply.problem(refusal.status, refusal.code).body)
            status = "rejected" if refusal.status == 409 else "failed"
            results = []
            for edit in push["edits"]:
                record = self.records.get((edit["resource"], key_of(edit["id"])))
                told = {"resource": edit["resource"], "id": edit["id"], "status": status, "record": record}
                results.append({**told, "outcomes": [], "problem": problem})
            return {
                "key": push["key"],
                "status": status,
                "code": refusal.status,
                "results": results,
                "problem": problem,
            }
        for place in {**before, **self.records}:
            if before.get(place) != self.records.get(place):
                self._touch(place)
        for result in results:
            result["record"] = copy.deepcopy(self.records.get((result["resource"], key_of(result["id"]))))
        ids.update(own)
        return {"key": push["key"], "status": "merged", "code": 200, "revision": None, "results": results}

    def _number(self) -> int:
        self._next_id += 1
        return self._next_id

    def _edit(self, edit: Json, sent: Json, own: Mapping[str, Any]) -> Json:
        resource = self.rules.resources.get(edit["resource"])
        if resource is None:
            raise _Refused(400, "unknown-resource", edit["resource"])
        _no_temporary(edit)
        place = resource.name, key_of(edit["id"])
        outcomes: list[Json] = []
        for name, part in edit["changeset"].items():
            section = resource.section(name)
            rows = part if section.is_list else [part]
            for row in sorted(rows, key=lambda one: one.get("new", 0) is not None):
                outcomes += self._row(resource, section, place, edit["id"], row)
        ids = {one: real for one, real in own.items() if one in json.dumps(sent)}
        return {"resource": resource.name, "id": edit["id"], "status": "merged", "ids": ids, "outcomes": outcomes}

    def _row(
        self, resource: Resource, section: Section, place: tuple[str, str], record_id: Any, row: Json
    ) -> list[Json]:
        record = self.records.get(place)
        named = {"section": section.name, **({"id": row["id"]} if section.is_list else {})}
        creates, deletes = "old" in row and row["old"] is None, "new" in row and row["new"] is None
        if section is resource.root:
            if creates:
                if record is not None:
                    raise _Refused(422, "unique", "the record exists")
                self.records[place] = _record(resource, record_id, row["new"])
                return [{**named, "outcome": "inserted"}]
            if deletes:
                return [{**named, "outcome": "deleted" if self.records.pop(place, None) else "already"}]
            if record is None:
                return [{**named, "outcome": "missing", "conflict": True}]
            return self._groups(section, record[section.name], row, named)
        if record is None:
            return [{**named, "outcome": "missing", "conflict": True}]
        if not section.is_list:
            return self._singleton(section, record, row, named, creates=creates, deletes=deletes)
        items: list[Json] = record[section.name]
        index = next((index for index, one in enumerate(items) if key_of(one["id"]) == key_of(row["id"])), None)
        if creates:
            blank = {name: None for name in [*section.fields, *section.read_only]}
            items.append({"id": row["id"], **blank, **copy.deepcopy(row["new"])})
            return [{**named, "outcome": "inserted"}]
        if index is None:
            return [{**named, "outcome": "already"} if deletes else {**named, "outcome": "missing", "conflict": True}]
        if deletes:
            del items[index]
            return [{**named, "outcome": "deleted"}]
        return self._groups(section, items[index], row, named)

    def _singleton(
        self, section: Section, record: Json, row: Json, named: Json, *, creates: bool, deletes: bool
    ) -> list[Json]:
        held = record.get(section.name)
        if creates:
            blank = held or {name: None for name in [*section.fields, *section.read_only]}
            record[section.name] = {**blank, **copy.deepcopy(row["new"])}
            return [{**named, "outcome": "inserted"}]
        if deletes:
            record[section.name] = None
            return [{**named, "outcome": "deleted" if held else "already"}]
        if held is None:
            return [{**named, "outcome": "missing", "conflict": True}]
        return self._groups(section, held, row, named)

    def _groups(self, section: Section, held: Json, row: Json, named: Json) -> list[Json]:
        outcomes = []
        for name, values in row.items():
            if name == "id":
                continue
            group = section.group(name)
            old, new, current = values["old"], values["new"], group.value(held)
            if same_group(group, old, new):
                continue
            outcome, written = self._merge(section, group, old, current, new)
            held.update(copy.deepcopy(group.spread(written)))
            told = {**named, "group": name, "outcome": outcome}
            if outcome not in ("applied", "already"):
                told.update(conflict=True, old=old, current=current, new=new, written=written)
            outcomes.append(told)
        return outcomes

    def _merge(self, section: Section, group: Group, old: Any, current: Any, new: Any) -> tuple[str, Any]:
        adds = group.merge == "add" and all(isinstance(one, int) for one in (old, current, new))
        if same_group(group, new, current) and not adds:
            return "already", current
        if same_group(group, old, current):
            return "applied", new
        if adds:
            return "combined", current + new - old
        policy = self._policy(section, group)
        if policy == "reject":
            raise _Refused(409, "rejected", f"{section.name}.{group.name}")
        return ("server-won", current) if policy == "server-wins" else ("client-won", new)

    def _policy(self, section: Section, group: Group) -> str:
        for resource in self.rules_document["resources"]:
            for one in resource["sections"]:
                for each in one["groups"] if one["section"] == section.name else []:
                    if each["group"] == group.name:
                        return str(each.get("onConflict", "client-wins"))
        return "client-wins"


def _failed(key: str, status: int, code: str) -> Json:
    problem = json.loads(Reply.problem(status, code).body)
    return {"key": key, "status": "failed", "code": status, "results": [], "problem": problem}


def _mapped(value: Any, ids: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _mapped(one, ids) for name, one in value.items()}
    if isinstance(value, list):
        return [_mapped(one, ids) for one in value]
    return ids.get(value, value) if isinstance(value, str) else value


def _no_temporary(value: Any) -> None:
    if isinstance(value, dict):
        for one in value.values():
            _no_temporary(one)
    elif isinstance(value, list):
        for one in value:
            _no_temporary(one)
    elif is_temporary(value):
        raise _Refused(400, "unknown-temporary", str(value))


def _record(resource: Resource, record_id: Any, fields: Json) -> Json:
    record: Json = {"id": record_id}
    for section in resource.sections:
        blank = {name: None for name in [*section.fields, *section.read_only]}
        if section is resource.root:
            record[section.name] = {**blank, **copy.deepcopy(fields)}
        else:
            record[section.name] = [] if section.is_list else None
    return record
