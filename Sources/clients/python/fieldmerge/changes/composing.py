"""Two edits of a record as one."""

from __future__ import annotations

from ..rules import Group, Resource, Section
from ..values import same
from .rows import Json, RowChange, equal_groups, is_creation, is_deletion, place_of_row
from .unknown import with_unknown


def compose(resource: Resource, first: list[RowChange], second: list[RowChange]) -> list[RowChange] | None:
    """Returns both edits as one (first `old`, last `new`), empty if they cancel each other; `None` if they must stay
    separate."""
    if is_deletion(first, resource):
        return None
    if is_deletion(second, resource):
        if is_creation(first, resource):
            return []
        root = next(change for change in second if change["section"] == resource.root.name)
        before = next((change for change in first if change["section"] == resource.root.name), None)
        return [first_seen(before, root)]
    result = {place_of_row(change): change for change in first}
    for change in second:
        place = place_of_row(change)
        earlier = result.get(place)
        if earlier is None:
            result[place] = change
            continue
        joined = _join(resource.section(change["section"]), earlier, change)
        if joined is None:
            return None
        if joined:
            result[place] = joined  # In this order, because a record is created before its rows.
        else:
            del result[place]
    return list(result.values())


def follows(group: Group, before: Json, seen: Json) -> bool:
    """Returns whether a later edit was made upon the earlier one. If not, the edits are concurrent, and the server
    decides between them."""
    return all(same(field, before[field.name], seen.get(field.name)) for field in group.fields if field.name in before)


def first_seen(earlier: RowChange | None, deletion: RowChange) -> RowChange:
    old = dict(deletion["old"])
    unknown = set(deletion.get("unknown", ()))
    for group in (earlier or {}).get("groups", {}).values():
        old.update(group["old"])
        unknown = (unknown - group["old"].keys()) | set(group.get("unknown", ()))
    return with_unknown({**deletion, "old": old}, unknown)


def _join(section: Section, first: RowChange, second: RowChange) -> RowChange | None:
    """Returns two changes of a row as one; empty if they cancel each other, `None` if they must stay separate."""
    steps = first["do"], second["do"]
    if steps == ("create", "edit"):
        new = dict(first["new"])
        for name, values in second["groups"].items():
            if not follows(section.group(name), first["new"], values["old"]):
                return None
            # The creation omits fields that the database fills.
            left = [one for one in values.get("unknown", ()) if values["new"].get(one) is None]
            new.update({one: value for one, value in values["new"].items() if one not in left})
        return {**first, "new": new}
    if steps == ("create", "delete"):
        return {}
    if steps == ("edit", "delete"):
        return first_seen(first, second)
    if steps != ("edit", "edit"):
        return None
    groups = dict(first["groups"])
    for name, values in second["groups"].items():
        if name not in groups:
            groups[name] = values
            continue
        group = section.group(name)
        if group.has_transitions or not follows(group, groups[name]["new"], values["old"]):
            return None
        seen = groups.pop(name)
        if not equal_groups(group, seen["old"], values["new"]):
            groups[name] = {**seen, "new": values["new"]}
    return {**first, "groups": groups} if groups else {}
