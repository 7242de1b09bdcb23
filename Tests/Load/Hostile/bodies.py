"""The bodies of a hostile client."""

import base64
import json
import random
import time

from place import AUDIENCE, ISSUER, ITEMS, noise
from wire import edit, fresh_key, packed, plain, push

# A run of combining marks. Swift's comparison of strings needs quadratic time for it.
PAIR = "\u0301\u0316"
MEGABYTE = 1_000_000


def marks(count: int) -> str:
    """So many bytes of combining marks."""
    return PAIR * (count // 4)


def names() -> list:
    """Bodies with a megabyte of marks in each place of a name."""
    long = marks(MEGABYTE)
    change = {"old": "a", "new": "b"}
    return [
        push(edit(long, 1, {})), push(edit("docs", 1, {long: {}})), push(edit("docs", 1, {"doc": {long: change}})),
        push(edit("docs", 1, {"doc": {"old": {long: 1}, "new": {long: 1}}})), push(rules=long),
        push(edit("docs", "tmp:" + long, {"doc": {"old": None, "new": {}}})), push(atomic=long), push(key=long),
        push(edit("orders", 1, {"items": [{"id": "tmp:" + long, "old": None, "new": {"a": "tmp:" + long}}]})),
        push(edit("docs", 1, {"doc": {"secret": {"old": long, "new": "a"}}})), push(**{long: 1}),
        # As long as names may be, and many of them, each the other order of another's marks.
        push(*[edit("orders", 1, {"items": [
            {"id": "tmp:" + PAIR * number + PAIR[::-1] * (200 - number) + str(half), "old": None, "new": {"a": "x"}}
            for number in range(200) for half in range(20)]})]),
    ]


def syncs() -> list:
    long = marks(MEGABYTE)
    return [{"feed": long, "since": 1}, {"resources": [long, long[:-1]]}, {long: 1},
            {"pushes": [{"key": long, "edits": []}, {"key": long[:-1] + "a", "edits": []}]},
            {"resources": [marks(200) + str(number) for number in range(20_000)]}]


def numbers(size: int) -> bytes:
    """A JSON value of integers beyond 64 bits, in gzip."""
    number = "1" + "0" * 29
    text = ",".join([number] * (size // 31))
    return packed('{"edits":[{"resource":"docs","id":2,"changeset":{"doc":{"tree":{"old":{},"new":{"n":[' + text + "]}}}}}]}")


def creations(order: int) -> bytes:
    """A list of as many rows as one push may have."""
    return plain(push(edit("orders", order, {"items": [{"old": None, "new": {"a": "x", "b": "y"}} for _ in range(ITEMS)]})))


def conflicts(round: int) -> bytes:
    """An edit of each row of a list, each of which has changed meanwhile."""
    items = [{"id": number, "a": {"old": "never", "new": f"w{round}"}} for number in range(1, ITEMS + 1)]
    return plain(push(edit("orders", 1, {"items": items}), key=fresh_key()))


def deletions(key: str | None = None) -> bytes:
    items = [{"id": number, "old": {"a": "q", "b": "q"}, "new": None} for number in range(1, ITEMS + 1)]
    return plain(push(edit("orders", 1, {"items": items}), key=key))


def nested(levels: int, name: str, tree):
    for _ in range(levels):
        tree = {name: tree}
    return tree


def trees() -> list:
    """Documents in which both sides changed everything: (base, edited, current)."""
    def wide(value, count: int, name: str = "m") -> dict:
        return {f"{name}{number}": value for number in range(count)}
    deep = [nested(20, "p" * 255, wide(value, 20_000)) for value in (1, 2, 3)]
    flat = [wide(value, 250_000) for value in (1, 2, 3)]
    long = [{marks(400_000) + str(number): value for number in range(3)} for value in (1, 2, 3)]
    lists = [{"l": [random.Random(seed).randrange(9) for _ in range(700_000)]} for seed in (1, 2, 3)]
    return [deep, flat, long, lists]


def texts() -> list:
    """Texts of which both sides changed everything."""
    def lines(seed: int) -> str:
        chosen = random.Random(seed)
        return "".join(f"{chosen.randrange(99_999)} {chosen.randrange(99)}\n" for _ in range(250_000))
    word = [end + marks(MEGABYTE) for end in "abc"]
    other = ["x" + PAIR * 200_000, "x" + PAIR[::-1] * 200_000, "x" + PAIR * 199_999]
    words = [" ".join(str(random.Random(seed).randrange(9)) for _ in range(300_000)) for seed in (1, 2, 3)]
    reverse = [" ".join(map(str, order)) for order in
               (range(200_000), range(200_000, 0, -1), random.Random(1).sample(range(200_000), 200_000))]
    return [word, other, [lines(seed) for seed in (1, 2, 3)], words, reverse]


def merging(group: str, row: int, base, edited) -> bytes:
    return packed(push(edit("docs", row, {"doc": {group: {"old": base, "new": edited}}})))


def one_record() -> bytes:
    """Many edits that name one large record."""
    return plain(push(*[edit("large", 1_000_000, {}) for _ in range(200)]))


def refused(text: str) -> bytes:
    """A push that the check of the rules refuses, and that is kept whole in the journal."""
    change = {"text": {"old": "b", "new": text}, "n": {"old": 0, "new": 5000}}
    return packed(push(edit("docs", 4, {"doc": change}), key=fresh_key()))


def large_noise() -> str:
    return noise(7_500_000, 7)


def deep() -> list:
    """Nesting beyond the limit, within it as wide as a body may be, and none of it JSON."""
    return [packed("[" * 7_900_000), packed('{"a":' * 1_500_000), packed("[" * 600 + "]" * 600),
            packed("[" + ",".join(["[" * 30 + "]" * 30] * 120_000) + "]"), packed('"' + "\\u0000" * 1_300_000)]


def values() -> list:
    """Bodies of very many small values, each of which needs more memory than bytes."""
    count = 2_600_000
    inside = '{"edits":[{"resource":"docs","id":2,"changeset":{"doc":{"tree":{"old":{},"new":{"n":[%s]}}}}}]}'
    return [packed("[" + ",".join(["{}"] * count) + "]"), packed("[" + ",".join(["[]"] * count) + "]"),
            packed(inside % ",".join(["{}"] * count)), packed(inside % ",".join(["1"] * 3_900_000)),
            packed('{"edits":[' + ",".join(["{}"] * count) + "]}"), packed('{"edits":[' + ",".join(["1"] * 3_900_000) + "]}"),
            packed('{"pushes":[' + ",".join(["{}"] * count) + "]}")]


def savepoints() -> bytes:
    """A thousand edits, each of which is refused by itself."""
    return plain(push(*[edit("docs", 1 + number % 20, {"doc": {"n": {"old": 0, "new": 5000}}}) for number in range(1_000)],
                      atomic="edit", key=fresh_key()))


def many_pushes(count: int) -> bytes:
    """A sync of as many pushes as fit into its body."""
    return plain({"pushes": [{"key": f"{fresh_key()}-{number}", "edits": [
        edit("docs", 5, {"doc": {"n": {"old": 0, "new": 5000}}})]} for number in range(count)]})


def bombs() -> list:
    return [packed(b" " * 1_000_000_000), packed(b" " * 8_300_000), packed(b'"' + b"a" * 8_300_000 + b'"')]


def garbage_tokens(count: int) -> list:
    """Invalid tokens: noise, long noise, and the provider's form with an invalid signature."""
    def part(document) -> str:
        return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")
    found = []
    for number in range(count):
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": f"s{number}-{time.monotonic_ns()}", "exp": time.time() + 600}
        signature = base64.urlsafe_b64encode(random.randbytes(256)).decode().rstrip("=")
        header = {"alg": "RS256", "kid": "one", "typ": "JWT"}
        found.append([noise(43, number), noise(7_900, number).replace("/", "."),
                      f"{part(header)}.{part(claims)}.{signature}",
                      f"{part({**header, 'kid': noise(800, number)})}.{part(claims)}.{signature}"][number % 4])
    return found
