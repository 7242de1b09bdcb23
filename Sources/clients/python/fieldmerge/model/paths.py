"""Groups of an edit by their paths: `section`, `section.group`, `list[ID]`, `list[ID].group`, with the ID as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from .. import changes as row_changes
from ..changes import Json, RowChange
from ..errors import UnknownName
from ..ids import key_of
from ..rules import Resource, nearest
from .parts import StoredEdit

_PATH = re.compile(r"(?P<section>[^.\[]+)(?:\[(?P<item>.*?)\](?=\.|$))?(?:\.(?P<name>.+))?")
_FAULTS = {"rejected", "failed", "missing"}


def path_of(change: RowChange, group: str | None = None) -> str:
    """Returns the path of a row of an edit, or of one of its groups."""
    item = f"[{json.dumps(change['id'])}]" if "id" in change else ""
    return str(change["section"]) + item + ("" if group is None else f".{group}")


def renamed_path(resource: Resource, path: str) -> str:
    """Returns a path with the current name of its group."""
    match = _PATH.fullmatch(path)
    if match is None or match["name"] is None or not resource.has(match["section"]):
        return path
    name: str = match["name"]
    return path.removesuffix(name) + resource.section(match["section"]).present_group(name)


def split(resource: Resource, changes: list[RowChange], paths: list[str]) -> tuple[list[RowChange], list[RowChange]]:
    """Returns the changes without the groups of these paths, and those groups; throws `UnknownName`."""
    wanted = [_parsed(resource, changes, path) for path in paths]
    root = resource.root.name
    rest: list[RowChange] = []
    left: list[RowChange] = []
    for change in changes:
        groups: set[str] = set()
        for section, item, group in wanted:
            if section == change["section"] and (item is None or item == key_of(change.get("id"))):
                groups |= {one.name for one in resource.section(section).groups} if group is None else {group}
        kept, gone = _divided(resource, change, groups)
        rest += [kept] if kept else []
        left += [gone] if gone else []
    if any(change["section"] == root and change["do"] != "edit" for change in left):
        return [], changes  # without its record, no row is left
    return rest, left


def _divided(resource: Resource, change: RowChange, groups: set[str]) -> tuple[RowChange | None, RowChange | None]:
    section = resource.section(change["section"])
    if not groups:
        return change, None
    if change["do"] == "edit":
        kept = {name: one for name, one in change["groups"].items() if name not in groups}
        gone = {name: one for name, one in change["groups"].items() if name in groups}
        return ({**change, "groups": kept} if kept else None), ({**change, "groups": gone} if gone else None)
    if change["do"] == "delete" or groups == {one.name for one in section.groups}:
        return None, change
    gone = {}
    for group in section.groups:
        given = row_changes.fields_of(group, change["new"])
        if group.name in groups and given:
            gone[group.name] = {"old": dict.fromkeys(given), "new": given, "unknown": sorted(given)}
    new = {name: one for name, one in change["new"].items() if section.group_of[name].name not in gone}
    place: Json = {name: change[name] for name in ("section", "id") if name in change}
    return {**change, "new": new}, {**place, "do": "edit", "groups": gone} if gone else None


def _parsed(resource: Resource, changes: list[RowChange], path: str) -> tuple[str, str | None, str | None]:
    match = _PATH.fullmatch(path)
    if match is None:
        raise UnknownName(path, path, nearest(path, (one.name for one in resource.sections)))
    try:
        section = resource.section(match["section"])
    except UnknownName as error:
        raise UnknownName(path, match["section"], error.nearest) from None
    item = None
    if match["item"] is not None:
        try:
            item = key_of(json.loads(match["item"]))
        except ValueError:
            item = match["item"]
        held = [key_of(one["id"]) for one in changes if one["section"] == section.name and "id" in one]
        if item not in held:
            raise UnknownName(path, match["item"], None)
    name = match["name"]
    if name is None:
        return section.name, item, None
    names = [group.name for group in section.groups]
    name = section.present_group(name)
    if name not in names and name not in section.group_of:
        raise UnknownName(path, name, nearest(name, [*names, *section.fields]))
    return section.name, item, name if name in names else section.group_of[name].name


def faulty_paths(
    edits: list[StoredEdit], results: list[Json], problem: Json, known: Callable[[str], Resource | None]
) -> list[str]:
    """Returns the paths of the groups that a refusal names."""
    found: dict[str, None] = {}
    for index, edit in enumerate(edits):
        resource = known(edit.resource)
        if resource is None:
            continue
        result = results[index] if index < len(results) else {}
        told = [result["problem"]] if result.get("problem") else [problem] if len(edits) == 1 else []
        found.update(dict.fromkeys(_of_outcomes(edit, result)))
        for one in told:
            found.update(dict.fromkeys(_of_problem(resource, edit, one)))
    return list(found)


def _of_outcomes(edit: StoredEdit, result: Json) -> Iterator[str]:
    for outcome in result.get("outcomes") or []:
        if outcome.get("outcome") not in _FAULTS:
            continue
        for change in edit.changes:
            same = change["section"] == outcome.get("section")
            if same and ("id" not in change or key_of(change["id"]) == key_of(outcome.get("id"))):
                yield path_of(change, outcome.get("group"))


def _of_problem(resource: Resource, edit: StoredEdit, problem: Json) -> Iterator[str]:
    names = set(problem.get("fields") or [])
    text = str(problem.get("path") or "").rpartition("changeset.")[2]
    match = re.match(r"([^.\[]+)(?:\[(\d+)\])?(?:\.(.*))?$", text)
    rows = edit.changes
    if match is not None and resource.has(match[1]):
        rows = [change for change in rows if change["section"] == match[1]]
        rows = rows[int(match[2]) : int(match[2]) + 1] if match[2] else rows
        names |= set((match[3] or "").split("."))
    for change in rows:
        if not resource.has(change["section"]):
            continue
        for group in resource.section(change["section"]).groups:
            given: Any = change["groups"] if change["do"] == "edit" else change.get("new") or {}
            is_edited = change["do"] == "edit"
            has_group = group.name in given if is_edited else any(one.name in given for one in group.fields)
            if has_group and names & {group.name, *(one.name for one in group.fields)}:
                yield path_of(change, group.name)
