"""Reads an edit: one change for each row, in either form."""

from dataclasses import dataclass

from .merging import Hash


@dataclass
class Change:
    """A change of one row. `groups` has (base, edited) of each group of an edit."""

    section: object
    kind: str
    id: object = None
    new: dict = None
    old: dict = None
    groups: dict = None


def changes(resource, changeset) -> list:
    found = []
    for name, value in changeset.items():
        section = resource.section(name)
        for body in value if section.is_list else [value]:
            if change := read(section, dict(body)):
                found.append(change)
    return found


def read(section, body: dict):
    id = body.pop("id", None)
    if not body:
        return None
    if "new" not in body:
        groups = {name: pair(section.group(name), sent) for name, sent in body.items()}
        return Change(section, "edit", id, groups=groups)
    old, new = body["old"], body["new"]
    if old is None:
        return Change(section, "create", id, new=new)
    if new is None:
        return Change(section, "delete", id, old=old)
    groups = {g.name: ({f.name: old[f.name] for f in g.fields}, {f.name: new[f.name] for f in g.fields})
              for g in section.groups if g.fields[0].name in new}
    return Change(section, "edit", id, groups=groups)


def pair(group, sent: dict) -> tuple:
    def spread(value):
        return {group.fields[0].name: value} if group.bare else value

    base = Hash(sent["oldHash"]) if "oldHash" in sent else spread(sent["old"])
    return base, spread(sent["new"])


def temporary(table, id) -> bool:
    return isinstance(id, str) and id.startswith("tmp:") or table.numbered and isinstance(id, int) and id < 0
