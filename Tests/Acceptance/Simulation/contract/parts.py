"""Values that are merged part by part: texts by word, documents by member."""


class Rejected(Exception):
    """Both sides changed a part, and the policy is reject."""


NOTHING = object()


def part(base, mine, theirs, policy: str):
    """A part that is not divided further."""
    if mine == base or mine == theirs:
        return theirs
    if theirs == base:
        return mine
    if policy == "reject":
        raise Rejected()
    return theirs if policy == "server-wins" else mine


def text(base: str, mine: str, theirs: str, policy: str) -> str:
    """The texts of the schema have one word in a line, and lines are never added or removed."""
    lines = zip(base.split("\n"), mine.split("\n"), theirs.split("\n"))
    return "\n".join(part(*words, policy) for words in lines)


def document(base: dict, mine: dict, theirs: dict, policy: str) -> dict:
    found = {}
    for name in [*theirs, *(name for name in mine if name not in theirs), *(n for n in base if n not in mine and n not in theirs)]:
        sides = [side.get(name, NOTHING) for side in (base, mine, theirs)]
        if isinstance(sides[1], dict) and isinstance(sides[2], dict):
            sides[0] = sides[0] if isinstance(sides[0], dict) else {}
            value = document(*sides, policy)
        else:
            value = part(*sides, policy)
        if value is not NOTHING:
            found[name] = value
    return found


MERGES = {"text": text, "json": document}
