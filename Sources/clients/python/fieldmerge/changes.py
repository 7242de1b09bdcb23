"""What an edit changes, row by row: found by comparing, put together, applied, and written for the wire.

A row change is a JSON object: `section`, in lists the item's `id`, and `do`:

- `edit` with `groups`: for each group `old` and `new`, objects of its fields,
- `create` with `new`: the fields that were given,
- `delete` with `old`: every field of its groups.

`unknown`, beside an `old`, names its fields that nobody knows yet: they are null there, and stand for what the database
puts into a row that was created without them.

All functions are pure.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .errors import UnknownName, UnknownValue
from .ids import is_temporary, key_of
from .rules import Group, Resource, Section, nearest
from .values import json_equal, same

RowChange = dict[str, Any]
Json = dict[str, Any]


def difference(resource: Resource, before: Json | None, after: Json | None) -> list[RowChange]:
    """Returns what leads from one state of a record to another; `None` stands for no record."""
    root = resource.root
    if after is None:
        return [] if before is None else [_deletion(root, before[root.name])]
    if before is None:
        changes = [_creation(root, after.get(root.name) or {})]
    else:
        changes = _of_row(root, before.get(root.name), after.get(root.name))
    for section in resource.sections[1:]:
        if section.name not in after:
            continue
        old = (before or {}).get(section.name)
        if section.is_list:
            changes += _of_list(section, old or [], after[section.name] or [])
        else:
            changes += _of_row(section, old, after[section.name])
    return changes


def _of_list(section: Section, before: list[Json], after: list[Json]) -> list[RowChange]:
    old = {key_of(item["id"]): item for item in before}
    new = {key_of(item["id"]): item for item in after}
    changes = []
    for key in [*old, *(key for key in new if key not in old)]:
        item_id = (old.get(key) or new[key])["id"]
        for change in _of_row(section, old.get(key), new.get(key)):
            changes.append({**change, "id": item_id})
    return changes


def _of_row(section: Section, before: Json | None, after: Json | None) -> list[RowChange]:
    if before is None and after is None:
        return []
    if before is None:
        return [_creation(section, after or {})]
    if after is None:
        return [_deletion(section, before)]
    groups = {}
    for group in section.groups:
        # A group that the row does not show is not this client's to compare.
        if not any(field.name in after for field in group.fields):
            continue
        # A field that the row does not contain is unknown: it is neither compared nor sent.
        old, new = fields_of(group, before), fields_of(group, after)
        if not equal_groups(group, old, new):
            groups[group.name] = {"old": old, "new": new}
    return [{"section": section.name, "do": "edit", "groups": groups}] if groups else []


def fields_of(group: Group, row: Mapping[str, Any]) -> Json:
    """Returns the fields of a group that a row contains."""
    return {field.name: copy.deepcopy(row[field.name]) for field in group.fields if field.name in row}


def equal_groups(group: Group, old: Json, new: Json) -> bool:
    """Whether both sides contain the same fields with equal values. A field that neither contains is not compared."""
    shown = [field for field in group.fields if field.name in old or field.name in new]
    return all(one.name in old and one.name in new and same(one, old[one.name], new[one.name]) for one in shown)


def equal_where_known(group: Group, one: Json, other: Json) -> bool:
    """Whether the fields that both sides contain have equal values."""
    both = [field.name for field in group.fields if field.name in one and field.name in other]
    return equal_groups(group, {name: one[name] for name in both}, {name: other[name] for name in both})


def _creation(section: Section, row: Json) -> RowChange:
    new = {name: copy.deepcopy(value) for name, value in row.items() if name in section.fields}
    return {"section": section.name, "do": "create", "new": new}


def _deletion(section: Section, row: Json) -> RowChange:
    old = {name: copy.deepcopy(row[name]) for name in section.fields if name in row}
    return {"section": section.name, "do": "delete", "old": old}


def place_of_row(change: RowChange) -> tuple[str, str | None]:
    return change["section"], key_of(change["id"]) if "id" in change else None


def change_of(changes: list[RowChange], section: str, item: str | None, group: str) -> RowChange | None:
    """Returns the change that edits a group of a row, whose id is given as text."""
    place = section, item
    return next((one for one in changes if place_of_row(one) == place and group in one.get("groups", {})), None)


def is_creation(changes: list[RowChange], resource: Resource | str) -> bool:
    """Returns whether the changes create the record itself."""
    root = resource if isinstance(resource, str) else resource.root.name
    return any(change["section"] == root and change["do"] == "create" for change in changes)


def is_deletion(changes: list[RowChange], resource: Resource) -> bool:
    """Returns whether the changes delete the record itself."""
    return any(change["section"] == resource.root.name and change["do"] == "delete" for change in changes)


def compose(resource: Resource, first: list[RowChange], second: list[RowChange]) -> list[RowChange] | None:
    """Returns both as one edit (first `old`, last `new`), empty where they cancel out; nil where they must
    stay two."""
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
            result[place] = joined  # in its place: a record is created before its rows
        else:
            del result[place]
    return list(result.values())


def follows(group: Group, before: Json, seen: Json) -> bool:
    """Whether who made a later edit had seen the earlier one; two who edit at once have not seen each other, and
    the server decides between them as between any two."""
    return all(same(field, before[field.name], seen.get(field.name)) for field in group.fields if field.name in before)


def first_seen(earlier: RowChange | None, deletion: RowChange) -> RowChange:
    old = dict(deletion["old"])
    unknown = set(deletion.get("unknown", ()))
    for group in (earlier or {}).get("groups", {}).values():
        old.update(group["old"])
        unknown = (unknown - group["old"].keys()) | set(group.get("unknown", ()))
    return _with_unknown({**deletion, "old": old}, unknown)


def _join(section: Section, first: RowChange, second: RowChange) -> RowChange | None:
    """Returns both changes of one row as one; empty where nothing is left, nil where they must stay two."""
    steps = first["do"], second["do"]
    if steps == ("create", "edit"):
        new = dict(first["new"])
        for name, values in second["groups"].items():
            if not follows(section.group(name), first["new"], values["old"]):
                return None
            # What the database is to fill in stays out of the creation.
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


def is_seen(resource: Resource, record: Json | None, changes: list[RowChange]) -> bool:
    """Returns whether a record has the values that the `old` of each change has."""
    for change in changes:
        section = resource.section(change["section"])
        row = _row_of(section, record, change)
        if change["do"] == "create":
            continue
        if row is None:
            return False
        if change["do"] == "edit":
            pairs = [(section.group(name), values["old"]) for name, values in change["groups"].items()]
        else:
            pairs = [(group, change["old"]) for group in section.groups]
        if not all(equal_where_known(group, row, old) for group, old in pairs):
            return False
    return True


def as_written(resource: Resource, record: Json | None, changes: list[RowChange]) -> list[RowChange]:
    """Returns changes with the values that a record has after them; without those that it does not show."""
    if record is None:
        return changes if is_deletion(changes, resource) else []
    written = []
    for change in changes:
        section = resource.section(change["section"])
        row = _row_of(section, record, change)
        if change["do"] == "delete":
            written += [change] if row is None else []
        elif row is not None and change["do"] == "create":
            written.append({**change, "new": {name: row[name] for name in section.fields if name in row}})
        elif row is not None:
            groups = {
                name: {"old": values["old"], "new": fields_of(section.group(name), row)}
                for name, values in change["groups"].items()
            }
            written.append({**change, "groups": groups})
    return written


def without_row(resource: Resource, record: Json | None, changes: list[RowChange]) -> list[RowChange]:
    """Returns the changes that edit a row which a record does not have."""
    if is_creation(changes, resource):
        return []
    edits = [change for change in changes if change["do"] == "edit" and resource.has(change["section"])]
    return [change for change in edits if _row_of(resource.section(change["section"]), record, change) is None]


def is_other(resource: Resource, held: Json | None, record: Json, edits: Iterable[list[RowChange]]) -> bool:
    """Returns whether an id names another record now: no group of the old base, or of an edit, is equal."""
    seen: list[tuple[Section, RowChange, Json]] = []
    for section in resource.sections:
        part = (held or {}).get(section.name)
        for row in part or [] if section.is_list else [part] if part else []:
            seen.append((section, {"id": row["id"]} if section.is_list else {}, row))
    for change in (change for changes in edits for change in changes if resource.has(change["section"])):
        section = resource.section(change["section"])
        sides = [change.get("old"), change.get("new")]
        for values in change.get("groups", {}).values():
            sides += [values["old"], values["new"]]
        seen += [(section, change, side) for side in sides if side]
    compared = []
    for section, place, values in seen:
        row = _row_of(section, record, place)
        for group in section.groups:
            if row is not None and all(one.name in values and one.name in row for one in group.fields):
                compared.append(equal_groups(group, values, row))
    return bool(compared) and not any(compared)


def is_created(resource: Resource, base: Json | None, changes: list[RowChange]) -> bool:
    """Returns whether a base has the root row that the changes create, under a key of the client's own."""
    root = next(change for change in changes if change["section"] == resource.root.name and change["do"] == "create")
    return base is not None and _has_all(resource.root, base.get(resource.root.name), root["new"])


def _has_all(section: Section, row: Json | None, values: Json) -> bool:
    known = section.fields
    return row is not None and all(one in row and same(known[one], row[one], value) for one, value in values.items())


def left(
    resource: Resource, base: Json | None, record_id: Any, changes: list[RowChange], *, done: set[Any], sums: bool = True
) -> tuple[list[RowChange], list[RowChange]]:
    """Returns what is left to send of changes that may have been merged, and of which nobody can say whether they were.

    Groups whose `new` is in the base are left out, and added to `done`; so are those that a later push has found done.
    Without `sums` this is not so for groups that add: the base may show what others have added.
    """
    kept: list[RowChange] = []
    unknown: list[RowChange] = []
    for change in changes:
        section = resource.section(change["section"])
        row = _row_of(section, base, change)
        if change["do"] == "delete":
            kept += [change] if row is not None else []
        elif change["do"] == "create":
            # A new row has no base that shows whether it was made.
            if is_temporary(change.get("id", record_id)):
                unknown.append(change)
            elif not _has_all(section, row, change["new"]):
                kept.append(change)
        else:
            groups: dict[bool, Json] = {False: {}, True: {}}
            for name, values in change["groups"].items():
                group = section.group(name)
                mark = resource.name, key_of(record_id), *place_of_row(change), name
                is_shown = mark in done or row is not None and equal_groups(group, row, values["new"])
                if is_shown and (sums or group.merge != "add"):
                    done.add(mark)
                else:
                    groups[group.merge in ("add", "set")][name] = values
            kept += [{**change, "groups": groups[False]}] if groups[False] else []
            unknown += [{**change, "groups": groups[True]}] if groups[True] else []
    return kept, unknown


def unnamed(resource: Resource, edits: Iterable[list[RowChange]]) -> dict[tuple[str, str | None], set[str]]:
    """Returns the fields that nobody knows yet of each row that these edits create, in their order: those that
    neither the creation nor a later edit gave a value."""
    found: dict[tuple[str, str | None], set[str]] = {}
    for changes in edits:
        for change in changes:
            if not resource.has(change["section"]):
                continue
            place = place_of_row(change)
            if change["do"] == "create":
                found[place] = resource.section(change["section"]).fields.keys() - change["new"].keys()
            elif change["do"] == "delete":
                found.pop(place, None)
            elif place in found:
                for values in change["groups"].values():
                    found[place] -= {name for name, value in values["new"].items() if value is not None}
    return found


def mark_unknown(changes: list[RowChange], unknown: Mapping[tuple[str, str | None], set[str]]) -> list[RowChange]:
    """Returns changes in which each `old` says what of it nobody knows yet."""

    def mark(values: Json, fields: set[str]) -> Json:
        return _with_unknown(values, {one for one in fields if one in values["old"] and values["old"][one] is None})

    result = []
    for change in changes:
        fields = unknown.get(place_of_row(change), set())
        if change["do"] == "edit":
            change = {**change, "groups": {name: mark(one, fields) for name, one in change["groups"].items()}}
        elif change["do"] == "delete":
            change = mark(change, fields)
        result.append(change)
    return result


def _with_unknown(values: Json, fields: set[str]) -> Json:
    marked = {name: value for name, value in values.items() if name != "unknown"}
    return {**marked, "unknown": sorted(fields)} if fields else marked


def has_unknown(changes: list[RowChange]) -> bool:
    """Returns whether an `old` is not known yet."""
    return any("unknown" in values for change in changes for values in [change, *change.get("groups", {}).values()])


def fill_unknown(
    resource: Resource, record: Json | None, changes: list[RowChange], *, is_late: bool = False
) -> list[RowChange]:
    """Returns changes whose unknown `old` is what the record holds: what the database has put into a new row.

    A field of a group that was not given a value keeps that too; a group that then changes nothing is left out. With
    `is_late` a null of a field that cannot be null counts as unknown: it was stored before there was a mark.
    """
    result = []
    for change in changes:
        if not resource.has(change["section"]) or change["do"] == "create":
            result.append(change)
            continue
        section = resource.section(change["section"])
        row = _row_of(section, record, change)
        if row is None:
            result.append(change)
        elif change["do"] == "delete":
            result.append(_filled(section, row, change, is_late=is_late))
        else:
            groups = {name: _filled(section, row, one, is_late=is_late) for name, one in change["groups"].items()}
            left = {
                name: one
                for name, one in groups.items()
                if one is change["groups"][name] or not equal_groups(section.group(name), one["old"], one["new"])
            }
            if left:
                result.append({**change, "groups": left})
    return result


def _filled(section: Section, row: Json, values: Json, *, is_late: bool) -> Json:
    fields = set(values.get("unknown", ()))
    if is_late:
        fields |= {
            name
            for name, value in values["old"].items()
            if value is None and name in section.fields and not section.fields[name].nullable
        }
    fields &= row.keys()
    if not fields:
        return values
    filled = _with_unknown(values, set(values.get("unknown", ())) - fields)
    filled["old"] = {**values["old"], **{name: copy.deepcopy(row[name]) for name in fields}}
    if values.get("new") is not None:
        kept = {name: copy.deepcopy(row[name]) for name in fields if values["new"].get(name) is None}
        filled["new"] = {**values["new"], **{name: one for name, one in kept.items() if name in values["new"]}}
    return filled


def _row_of(section: Section, record: Json | None, change: RowChange) -> Json | None:
    part = (record or {}).get(section.name)
    if not section.is_list:
        return part
    key = key_of(change["id"])
    return next((item for item in part or [] if key_of(item["id"]) == key), None)


def apply(resource: Resource, record: Json | None, record_id: Any, changes: list[RowChange]) -> Json | None:
    """Returns a record as its user sees it with the changes made; what no longer fits is left out."""
    record = copy.deepcopy(record)
    for change in changes:
        if not resource.has(change["section"]):
            continue
        section = resource.section(change["section"])
        if section is resource.root:
            if change["do"] == "delete":
                return None
            if change["do"] == "create":
                if record is None:
                    record = _empty(resource, record_id)
                record[section.name].update(copy.deepcopy(change["new"]))
                continue
        if record is None:
            continue
        if section.is_list:
            _apply_to_item(section, record, change)
        else:
            _apply_to_row(section, record, change)
    return record


def _empty(resource: Resource, record_id: Any) -> Json:
    record: Json = {"id": record_id, resource.root.name: _blank(resource.root)}
    for section in resource.sections[1:]:
        record[section.name] = [] if section.is_list else None
    return record


def _blank(section: Section) -> Json:
    return {name: None for name in [*section.fields, *section.read_only]}


def _apply_to_row(section: Section, record: Json, change: RowChange) -> None:
    row = record.get(section.name)
    if change["do"] == "delete":
        record[section.name] = None
    elif change["do"] == "create":
        record[section.name] = {**(row or _blank(section)), **copy.deepcopy(change["new"])}
    elif row is not None:
        _assign(row, change)


def _apply_to_item(section: Section, record: Json, change: RowChange) -> None:
    items: list[Json] = record.setdefault(section.name, [])
    key = key_of(change["id"])
    index = next((index for index, item in enumerate(items) if key_of(item["id"]) == key), None)
    if change["do"] == "create":
        if index is None:
            items.append({"id": change["id"], **_blank(section)})
            index = len(items) - 1
        items[index].update(copy.deepcopy(change["new"]))
    elif index is None:
        return
    elif change["do"] == "delete":
        del items[index]
    else:
        _assign(items[index], change)


def _assign(row: Json, change: RowChange) -> None:
    for group in change["groups"].values():
        row.update(copy.deepcopy(group["new"]))


def changeset(changes: list[RowChange]) -> Json:
    """Returns the changes as the wire has them, under the names that they were made with."""
    result: Json = {}
    for change in changes:
        row: Json
        if change["do"] == "edit":
            row = {name: _bare(values) for name, values in change["groups"].items()}
        elif change["do"] == "create":
            row = {"old": None, "new": change["new"]}
        else:
            row = {"old": change["old"], "new": None}
        if "id" in change:
            result.setdefault(change["section"], []).append({"id": change["id"], **row})
        else:
            result[change["section"]] = row
    return result


def _bare(values: Json) -> Json:
    old, new = values["old"], values["new"]
    if len(old.keys() | new.keys()) > 1:
        return {"old": old, "new": new}
    return {"old": next(iter(old.values()), None), "new": next(iter(new.values()), None)}


def check(resource: Resource, changes: list[RowChange]) -> None:
    """Throws `InvalidEdit` for a change that cannot be sent: a name that is gone, or a value that is unknown."""
    for change in changes:
        section = resource.section(change["section"])
        for name, values in change.get("groups", {}).items():
            for field in section.group(name).fields:
                if field.name not in values["old"] or field.name not in values["new"]:
                    raise UnknownValue(f"{section.name}.{field.name}")


def regroup(resource: Resource, seen: Json | None, changes: list[RowChange]) -> list[RowChange]:
    """Returns changes made under other rules as the present ones group them. What a group needs beyond what was
    edited comes from `seen`, the record beneath. Throws `UnknownName` for a name that is gone."""
    result = []
    for change in changes:
        section = resource.section(change["section"])
        row = _row_of(section, seen, change) or {}
        if change["do"] == "create":
            for name in change["new"]:
                section.field(name, path=section.name)
            result.append(change)
        elif change["do"] == "delete":
            result.append({**change, "old": _regrouped_deletion(section, row, change["old"])})
        else:
            groups = _regrouped(section, row, change)
            if groups:
                result.append({**change, "groups": groups})
    return result


def _regrouped_deletion(section: Section, row: Json, old: Json) -> Json:
    """Returns the values of all groups of which every value is known."""
    known = {**{name: row[name] for name in section.fields if name in row}, **old}
    whole = [group for group in section.groups if all(field.name in known for field in group.fields)]
    return {field.name: known[field.name] for group in whole for field in group.fields}


def _regrouped(section: Section, row: Json, change: RowChange) -> Json:
    old: Json = {}
    new: Json = {}
    for values in change["groups"].values():
        old.update(values["old"])
        new.update(values["new"])
    groups: Json = {}
    for name in new:
        if name not in section.fields:
            if name in old and json_equal(old[name], new[name]):
                continue  # it went along with its group, and was not edited
            raise UnknownName(f"{section.name}.{name}", name, nearest(name, section.fields))
        group = section.group_of[name]
        if group.name in groups:
            continue
        held = fields_of(group, row)
        before = {**held, **fields_of(group, old)}
        after = {**before, **fields_of(group, new)}
        if not equal_groups(group, before, after):
            groups[group.name] = {"old": before, "new": after}
    return groups


def created_ids(record_id: Any, changes: list[RowChange], root: str) -> Iterator[str]:
    """Yields the temporary ids of rows that the changes create."""
    for change in changes:
        if change["do"] == "create":
            row_id = change["id"] if "id" in change else record_id
            if is_temporary(row_id) and (change["section"] == root or "id" in change):
                yield row_id


def used_ids(record_id: Any, changes: list[RowChange]) -> Iterator[str]:
    """Yields every temporary id that stands in the changes, created by them or not."""
    found: list[str] = []

    def note(value: Any) -> Any:
        if is_temporary(value):
            found.append(value)
        return value

    _map(record_id, changes, note)
    yield from found


def divide(
    record_id: Any, changes: list[RowChange], root: str, ids: set[str]
) -> tuple[list[RowChange], list[RowChange]]:
    """Returns the changes without what uses these temporary ids, and what uses them."""
    if ids & set(used_ids(record_id, [])):
        return [], changes
    rest: list[RowChange] = []
    users: list[RowChange] = []
    for change in changes:
        groups = change["groups"] if change["do"] == "edit" and "id" not in change else {}
        using = {name for name, one in groups.items() if ids & set(used_ids(None, [{"groups": {name: one}}]))}
        if not ids & set(used_ids(None, [change])):
            rest.append(change)
        elif len(using) in (0, len(groups)):
            users.append(change)
        else:
            rest.append({**change, "groups": {name: one for name, one in groups.items() if name not in using}})
            users.append({**change, "groups": {name: one for name, one in groups.items() if name in using}})
    if any(one["section"] == root and one["do"] != "edit" for one in users):
        return [], changes  # without its record nothing is left
    return rest, users


def map_ids(record_id: Any, changes: list[RowChange], ids: Mapping[str, Any]) -> tuple[Any, list[RowChange]]:
    """Returns id and changes with temporary ids replaced by real ones."""
    return _map(record_id, changes, lambda value: ids.get(value, value) if isinstance(value, str) else value)


def _map(record_id: Any, changes: list[RowChange], replace: Callable[[Any], Any]) -> tuple[Any, list[RowChange]]:
    def one(value: Any) -> Any:
        return [replace(part) for part in value] if isinstance(value, list) else replace(value)

    def fields(values: Json) -> Json:
        return {name: replace(value) for name, value in values.items()}

    result = []
    for change in changes:
        mapped = dict(change)
        if "id" in change:
            mapped["id"] = one(change["id"])
        for side in ("old", "new"):
            if side in change:
                mapped[side] = fields(change[side])
        if "groups" in change:
            mapped["groups"] = {
                name: {**values, **{side: fields(values[side]) for side in ("old", "new")}}
                for name, values in change["groups"].items()
            }
        result.append(mapped)
    return one(record_id), result
