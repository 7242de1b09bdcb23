"""Edits without an earlier edit that they build on."""

from __future__ import annotations

from .changes import Json, RowChange, equal_groups, first_seen, follows, place_of_row
from .rules import Group, Resource, Section
from .values import wire_value, without


def uncover(
    resource: Resource, gone: list[RowChange], later: list[RowChange]
) -> tuple[list[RowChange], list[RowChange]]:
    """Returns a later edit without an earlier one. Its groups get the `old` of the earlier edit, and groups without a
    change are omitted. Also returns the rest of the earlier edit, for edits after the later one."""
    left = {place_of_row(change): change for change in gone if resource.has(change["section"])}
    kept: list[RowChange] = []
    for change in later:
        earlier = left.get(place_of_row(change))
        if earlier is None or not resource.has(change["section"]):
            kept.append(change)
            continue
        section = resource.section(change["section"])
        steps = earlier["do"], change["do"]
        if steps == ("edit", "edit"):
            groups, seen = _uncovered(section, earlier["groups"], change["groups"])
            kept += [{**change, "groups": groups}] if groups else []
            left[place_of_row(change)] = {**earlier, "groups": seen}
        elif steps == ("create", "edit"):
            new = {name: value for values in change["groups"].values() for name, value in values["new"].items()}
            place: Json = {name: change[name] for name in ("section", "id") if name in change}
            kept.append({**place, "do": "create", "new": new})
            del left[place_of_row(change)]
        elif steps == ("edit", "delete"):
            groups = earlier["groups"].items()
            seen = {name: one for name, one in groups if follows(section.group(name), one["new"], change["old"])}
            kept.append(first_seen({**earlier, "groups": seen}, change))
            del left[place_of_row(change)]
        elif steps != ("create", "delete"):
            kept.append(change)
    return kept, list(left.values())


def _uncovered(section: Section, gone: Json, later: Json) -> tuple[Json, Json]:
    """Returns the groups of a later edit, and the groups of the earlier edit that no edit has covered."""
    groups: Json = {}
    seen = dict(gone)
    for name, values in later.items():
        earlier = seen.pop(name, None)
        group = section.group(name)
        if earlier is None or not follows(group, earlier["new"], values["old"]):
            groups[name] = values
            continue
        old, new = (_less(group, values[side], earlier) for side in ("old", "new"))
        if new is not None and old is not None:
            # What counts or collects keeps its own part only, and so do the edits after it.
            seen[name] = {"old": new, "new": values["new"]}
            left = {"old": old, "new": new}
        else:
            left = {**earlier, "new": values["new"]}
        if not equal_groups(group, left["old"], left["new"]):
            groups[name] = left
    return groups, seen


def _less(group: Group, values: Json, gone: Json) -> Json | None:
    """Returns the values of a group minus the numbers that an earlier edit added; `None` if the group does not add."""
    if group.merge == "add":
        numbers = without(group, values, group.value(gone["old"]), group.value(gone["new"]))
        return None if numbers is None else {
            field.name: wire_value(field, numbers[field.name], path=field.name) for field in group.fields
        }  # fmt: skip
    if group.merge != "set":
        return None
    result: Json = {}
    for name, members in values.items():
        before, after = gone["old"].get(name) or [], gone["new"].get(name) or []
        if not all(isinstance(one, list) for one in (members, before, after)):
            return None
        kept = [one for one in members if one in before or one not in after]
        result[name] = [*kept, *(one for one in before if one not in after and one not in kept)]
    return result
