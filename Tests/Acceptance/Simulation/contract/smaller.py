"""Makes a push that fails smaller for as long as it fails."""

import copy


def smaller(body: dict, resources: dict):
    """Every push with one thing left out."""
    for index in range(len(body["edits"])):
        if len(body["edits"]) > 1:
            less = copy.deepcopy(body)
            del less["edits"][index]
            yield less
    if "atomic" in body:
        yield {k: v for k, v in copy.deepcopy(body).items() if k != "atomic"}
    for index, edit in enumerate(body["edits"]):
        for section, value in edit["changeset"].items():
            less = copy.deepcopy(body)
            del less["edits"][index]["changeset"][section]
            yield less
            for place in range(len(value)) if isinstance(value, list) else []:
                less = copy.deepcopy(body)
                del less["edits"][index]["changeset"][section][place]
                yield less
            for place, part in enumerate(value if isinstance(value, list) else [value]):
                yield from smaller_parts(body, resources, index, section, place, part)


def smaller_parts(body, resources, index, section, place, part):
    def target(less):
        value = less["edits"][index]["changeset"][section]
        return value[place] if isinstance(value, list) else value

    names = [n for n in part if n not in ("id", "old", "new")]
    for name in names if len(names) > 1 else []:
        less = copy.deepcopy(body)
        del target(less)[name]
        yield less
    if "new" not in part:
        return
    # A group is omitted completely.
    for group in resources[body["edits"][index]["resource"]].section(section).groups:
        names = [f.name for f in group.fields if any(f.name in (part[side] or {}) for side in ("old", "new"))]
        if not names:
            continue
        less = copy.deepcopy(body)
        for side in ("old", "new"):
            for name in names:
                (target(less)[side] or {}).pop(name, None)
        yield less

