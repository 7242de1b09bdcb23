"""The three-way decision for one group (the protocol section 4)."""

from .parts import MERGES, Rejected
from .values import stored

ABSENT = object()
"""The base of a row that a client creates."""


class Hash:
    """A base of which the client sent only the digest."""

    def __init__(self, digest: str):
        self.digest = digest


def equal(group, one, other) -> bool:
    return all(stored(f, one[f.name]) == stored(f, other[f.name]) for f in group.fields)


def decide(group, base, edited, current, digest_of) -> tuple:
    """The outcome, and the values to write (None: nothing)."""
    same_base = (lambda values: base is not ABSENT and (
        digest_of(group, values) == base.digest if isinstance(base, Hash) else equal(group, base, values)))
    if same_base(edited):
        return "unchanged", None
    counts = group.merge == "add" and is_number(base, group) and is_number(edited, group)
    if equal(group, edited, current) and not counts:
        return "already", None
    if same_base(current):
        return "applied", edited
    combined = combine(group, base, edited, current)
    if combined is not None:
        return combined
    if group.on_conflict == "reject":
        return "rejected", None
    return ("server-won", None) if group.on_conflict == "server-wins" else ("client-won", edited)


def is_number(values, group) -> bool:
    return isinstance(values, dict) and isinstance(values[group.fields[0].name], int)


def combine(group, base, edited, current):
    """The result of the merge function in a conflict. None if on-conflict decides."""
    if group.merge.startswith("latest:"):
        stamp = group.merge[7:]
        mine, theirs = edited[stamp], current[stamp]
        if mine == theirs:
            return None
        later = theirs is None or (mine is not None and mine > theirs)
        return ("client-won", edited) if later else ("server-won", None)
    if not group.merge:
        return None
    name = group.fields[0].name
    mine, theirs = edited[name], current[name]
    was = base[name] if isinstance(base, dict) else base
    if mine is None or theirs is None or was is None:
        return None
    if group.merge in ("max", "min"):
        return "combined", {name: (max if group.merge == "max" else min)(mine, theirs)}
    if isinstance(base, Hash):
        return None
    if group.merge == "add":
        total = None if base is ABSENT else theirs + mine - was
        return None if total is None or not fits(group.fields[0], total) else ("combined", {name: total})
    if group.merge in ("text", "json"):
        if base is ABSENT:
            return None
        try:
            return "combined", {name: MERGES[group.merge](was, mine, theirs, group.on_conflict)}
        except Rejected:
            return "rejected", None
    before = [] if base is ABSENT else was
    removed = [m for m in before if m not in mine]
    added = [m for m in mine if m not in before and m not in theirs]
    return "combined", {name: [m for m in theirs if m not in removed] + added}


def fits(field, number: int) -> bool:
    """The column can store the number. Only columns of 64 bits have limits here."""
    return field.kind != "bigint" or -2 ** 63 <= number < 2 ** 63
