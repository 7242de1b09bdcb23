"""Values on the wire and in a row."""

import hashlib
import json


def shown(field, row):
    """The value of a field as a client reads it; of no row it is null."""
    if row is None:
        return None
    stored = row[field.column]
    if field.kind == "set" and stored is not None:
        return stored.split(",") if stored else []
    return stored


def stored(field, value):
    """The value of the column for a value of a client."""
    if field.kind == "set" and value is not None:
        return ",".join(value)
    return value


def wired(value):
    """Integers beyond 2^53 travel as strings."""
    if isinstance(value, dict):
        return {name: wired(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [wired(each) for each in value]
    return str(value) if isinstance(value, int) and abs(value) > 2 ** 53 else value


def unwired(value):
    """The same value with numbers in place of such strings."""
    if isinstance(value, dict):
        return {name: unwired(each) for name, each in value.items()}
    if isinstance(value, list):
        return [unwired(each) for each in value]
    return int(value) if isinstance(value, str) and len(value) > 15 and value.lstrip("-").isdigit() else value


def shown_group(group, row) -> dict:
    return {f.name: shown(f, row) for f in group.fields}


def shown_section(section, row) -> dict:
    return {f.name: shown(f, row) for f in section.fields}


def wire(group, values):
    """A group on the wire: bare if it has one field, otherwise an object."""
    if values is None:
        return None
    return values[group.fields[0].name] if group.bare else {f.name: values[f.name] for f in group.fields}


def digest_of(group, values) -> str:
    """The hash that a client may send instead of a base."""
    text = json.dumps(wired(wire(group, values)), sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def as_key(id) -> tuple:
    return tuple(id) if isinstance(id, list) else (id,)


def as_id(key):
    return key[0] if len(key) == 1 else list(key)
