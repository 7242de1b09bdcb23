"""The attacks: requests, one after the other, and connections that remain open."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import bodies
from place import ORDERS
from wire import Sender, edit, fresh_key, packed, plain, push

PUSH, PREVIEW = "/v1/push", "/v1/push?preview=true"


@dataclass
class Attack:
    """Requests that are repeated until the attack ends, one after the other or several at once. Each returns a
    status."""

    point: str
    make: Callable  # (Sender) -> list of strokes
    seconds: int = 0
    at_once: int = 1


@dataclass
class Holding:
    """Connections that remain open, and are opened again if the gateway has closed them."""

    point: str
    count: int
    open: Callable  # (Sender) -> socket
    drip: bytes = b""
    limit: int = 0  # seconds within which the gateway has to close them
    prepare: Callable = None  # (Sender) -> anything, before the attack begins


def posts(sender: Sender, sent: list, path: str = PUSH) -> list:
    return [lambda body=body: sender.send(sender.request("POST", path, body))[0] for body in sent]


def names(sender: Sender) -> list:
    return posts(sender, [plain(body) for body in bodies.names()])


def syncs(sender: Sender) -> list:
    return posts(sender, [plain(body) for body in bodies.syncs()], "/v1/sync")


def headers(sender: Sender) -> list:
    """Marks in the line and the headers of a request, as long as a head may be."""
    run = bodies.marks(60_000).encode()
    escaped = "%CC%81%CC%96" * 4_000
    lines = [b"Idempotency-Key: " + run, b"X-Client: " + run, b"X-Client: a/" + b"1." * 20_000, b"If-None-Match: " + run,
             b"If-None-Match: " + b'"a",' * 12_000, b"X-Device-ID: " + run, b"Accept: " + run, b"Accept: " + b"a;q=1," * 9_000,
             b"Accept-Encoding: " + b"a;q=1," * 9_000, b"Last-Event-ID: " + run, b"Content-Type: " + run, b"Origin: " + run,
             b"X-A: " + run[:1_000] * 40, b"\r\n".join(b"X-%d: a" % number for number in range(4_000))]
    paths = [f"/v1/records/{escaped}/1", f"/v1/records/things/{escaped}", f"/v1/changes?resources={escaped}",
             f"/v1/changes?since=1&feed={escaped}", f"/v1/records/things?after={escaped}", f"/v1/records/things?{escaped}=1",
             "/v1/records/things?" + "a=1&" * 9_000, "/" * 40_000, "/v1/records/things/" + "1," * 20_000,
             "/v1/snapshot?after=" + "A" * 40_000, "/v1/records/things?limit=" + "9" * 40_000]
    sent = [sender.request("GET", "/v1/records/things/1", more=line + b"\r\n") for line in lines]
    sent += [sender.request("POST", PUSH, b"{}", more=line + b"\r\n") for line in lines[:3]]
    sent += [sender.request("GET", path) for path in paths]
    return [lambda request=request: sender.send(request)[0] for request in sent]


def numbers(sender: Sender) -> list:
    return posts(sender, [bodies.numbers(4_000_000), bodies.numbers(7_600_000)])


def creations(sender: Sender) -> list:
    orders = iter(range(2, ORDERS))
    return [lambda: sender.send(sender.request("POST", PUSH, bodies.creations(next(orders))))[0]]


def conflicts(sender: Sender) -> list:
    rounds = iter(range(1_000_000))
    return [lambda: sender.send(sender.request("POST", PUSH, bodies.conflicts(next(rounds))))[0]]


def authors(sender: Sender) -> list:
    rounds = iter(range(1_000_000))
    return [lambda: sender.send(sender.request("POST", PUSH + "?by=true", bodies.conflicts(next(rounds))))[0]]


def deletions(sender: Sender) -> list:
    return posts(sender, [bodies.deletions()], PREVIEW)


def restorations(sender: Sender) -> list:
    """Deletes every row of a list, and then edits all of them, which brings them back from the journal."""
    rounds = iter(range(1_000_000))
    deletion = [lambda: sender.send(sender.request("POST", PUSH, bodies.deletions(fresh_key())))[0]]
    return deletion + [lambda: sender.send(sender.request("POST", PUSH, bodies.conflicts(next(rounds))))[0]]


def merges(group: str, sides: list) -> Callable:
    """Writes the current values into new rows, and merges against them."""
    def make(sender: Sender) -> list:
        strokes = []
        start = {"tree": {}, "text": "a"}[group]
        for row, (base, edited, current) in enumerate(sides(), 6):
            sender.send(sender.request("POST", PUSH, bodies.merging(group, row, start, current)))
            strokes += posts(sender, [bodies.merging(group, row, base, edited)])
        return strokes
    return make


def one_record(sender: Sender) -> list:
    return posts(sender, [bodies.one_record()]) + [
        lambda: sender.send(sender.request("GET", "/v1/records/large/1000000"))[0]]


def long_records(sender: Sender) -> list:
    """Short edits and reads of records that are as long as a body may be, each of another one."""
    strokes = []
    for row in range(5, 21):
        sender.send(sender.request("POST", PUSH, bodies.merging("text", row, "a", "y " * 3_900_000)))
        small = plain(push(edit("docs", row, {"doc": {"n": {"old": 1, "new": 2}}})))
        strokes += posts(sender, [small])
    reads = [lambda row=row: sender.send(sender.request("GET", f"/v1/records/docs/{row}"))[0] for row in range(5, 21)]
    return strokes + reads


def long_page(sender: Sender) -> list:
    """A page of long records."""
    long_records(sender)
    return [lambda path=path: sender.send(sender.request("GET", path))[0]
            for path in ("/v1/records/docs?limit=500", "/v1/snapshot?resources=docs", "/v1/changes?since=0")]


def packed_records(sender: Sender) -> list:
    """The same, compressed; and conflicts that were answered before, with the same keys."""
    long_records(sender)
    def again(row: int) -> bytes:
        return plain(push(edit("docs", row, {"doc": {"n": {"old": 1, "new": 2}}}), key=f"again-{row}"))
    sent = [sender.request("GET", f"/v1/records/docs/{row}", more=b"Accept-Encoding: gzip\r\n") for row in range(5, 21)]
    sent += [sender.request("POST", PUSH, again(row), more=b"Accept-Encoding: gzip\r\n") for row in range(5, 21)]
    return [lambda request=request: sender.send(request)[0] for request in sent]


def journal(sender: Sender) -> list:
    text = "y" * 7_900_000
    return [lambda: sender.send(sender.request("POST", PUSH, bodies.refused(text)))[0]]


def journal_noise(sender: Sender) -> list:
    """Texts that cannot be compressed, until the share of the day is used up."""
    text = bodies.large_noise()
    def stroke():
        change = {"text": {"old": "b", "new": text}, "n": {"old": 0, "new": 5000}}
        body = plain(push(edit("docs", 4, {"doc": change}), key=bodies.fresh_key()))
        return sender.send(sender.request("POST", PUSH, body))[0]
    return [stroke]


def ids(sender: Sender) -> list:
    """Keys that a client may not choose, private values, and deletions of existing and missing rows."""
    created = {"doc": {"old": None, "new": {"secret": "whisper"}}}
    gone = {"doc": {"old": {"text": "a", "tree": {}, "secret": "s", "n": 0}, "new": None}}
    sent = [push(edit("docs", key, created)) for key in (2147483647, "2147483647", 2**63, "-0", "tmp:", 1.5, [1], None)]
    sent += [push(edit("docs", key, created)) for key in (-3, "-3")]
    sent += [push(edit("docs", 999_999, gone)), push(edit("docs", 1, {"doc": {
        "secret": {"old": "q", "new": "whisper"}, "n": {"old": 0, "new": 5000}}}))]
    return posts(sender, [plain(body) for body in sent])


def smuggled(sender: Sender) -> list:
    """Heads that are ambiguous, or resemble those of a web page."""
    line = f"POST /v1/push HTTP/1.1\r\nAuthorization: Bearer {sender.token}\r\n".encode()
    sent = [b"Host: a\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}", b"Content-Length: 2\r\n\r\n{}",
            b"Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            b"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n0\r\n\r\n",
            b"Host: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            b"Host: a\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 2\r\n\r\n{}",
            b"Host: a\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
            b"Host: a\r\nX\xff\xfe: 1\r\nIdempotency-Key: \xff\xfe\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
            b"Host: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n{\r\n" * 50_000]
    undo = f"POST /v1/journal/1/undo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {sender.token}\r\n\r\n".encode()
    return [lambda request=request: sender.send(request)[0] for request in [*(line + part for part in sent), undo]]


def deep(sender: Sender) -> list:
    return posts(sender, bodies.deep())


def values(sender: Sender) -> list:
    sent = bodies.values()
    return posts(sender, sent[:-1]) + posts(sender, sent[-1:], "/v1/sync")


def savepoints(sender: Sender) -> list:
    return [lambda: sender.send(sender.request("POST", PUSH, bodies.savepoints()))[0]]


def many_pushes(sender: Sender) -> list:
    return [lambda: sender.send(sender.request("POST", "/v1/sync", bodies.many_pushes(40_000)))[0]]


def pages(sender: Sender) -> list:
    """Pages and a snapshot of large records, read as quickly as they come."""
    return [lambda path=path: sender.send(sender.request("GET", path))[0]
            for path in ("/v1/records/large?limit=500", "/v1/snapshot?resources=large")]


def flood(path: str, count: int = 400) -> Callable:
    def make(sender: Sender) -> list:
        request = sender.request("GET", path)
        return [lambda: sender.send(request * count, count)[0]]
    return make


def garbage(sender: Sender) -> list:
    def stroke():
        sent = b"".join(Sender(sender.port, token).request("GET", "/v1/records/things/1")
                        for token in bodies.garbage_tokens(200))
        return sender.send(sent, 200)[0]
    return [stroke]


def bombs(sender: Sender) -> list:
    return posts(sender, bodies.bombs())


def half_body(sender: Sender):
    connection = sender.connect()
    size = 8_388_608
    try:
        connection.sendall(sender.head("POST", PUSH, size) + b" " * (size - 1))
    except OSError:
        pass  # there was no room for it
    return connection


def half_head(sender: Sender):
    connection = sender.connect()
    connection.sendall(b"GET /v1/rules HTTP/1.1\r\nHost: localhost\r\nX-Filler: ")
    return connection


def unread(path: str, more: bytes = b"") -> Callable:
    def open(sender: Sender):
        connection = sender.connect(receive=4096)
        connection.sendall(sender.request("GET", path, more=more))
        return connection
    return open


def unread_long(method: str, path: str, body=None, more: bytes = b"") -> Callable:
    """Does not read answers with records of the maximum length of a body, each time different ones."""
    numbers = itertools.count(1)
    def open(sender: Sender):
        number = next(numbers)
        connection = sender.connect(receive=4096)
        sent = body(number) if body else None
        connection.sendall(sender.request(method, path.format(number % 16 + 5, number), sent, more))
        return connection
    return open


def long_held(open: Callable) -> Holding:
    return Holding("6", 100, open, prepare=long_records)


def short_edit(number: int) -> bytes:
    return plain(push(edit("docs", number % 16 + 5, {"doc": {"n": {"old": 1, "new": 2}}})))


ATTACKS = {
    "names": Attack("1", names),
    "names in a sync": Attack("1", syncs),
    "heads": Attack("1", headers),
    "long words": Attack("1, 5", merges("text", bodies.texts)),
    "long words at once": Attack("1, 5", merges("text", bodies.texts), at_once=4),
    "long numbers": Attack("2", numbers),
    "long numbers at once": Attack("2", numbers, at_once=4),
    "creations": Attack("3", creations),
    "conflicts": Attack("3", conflicts),
    "conflicts with authors": Attack("3", authors),
    "conflicts at once": Attack("3", conflicts, at_once=4),
    "deletions": Attack("3", deletions),
    "restorations": Attack("3", restorations),
    "json": Attack("4, 5", merges("tree", bodies.trees)),
    "json at once": Attack("4, 5", merges("tree", bodies.trees), at_once=4),
    "refused one by one": Attack("5", savepoints),
    "sync of many pushes": Attack("5", many_pushes),
    "half-sent bodies": Holding("6", 60, half_body, limit=30),
    "unread pages": Holding("6", 8, unread("/v1/records/large?limit=500"), limit=30),
    "unread snapshots": Holding("6", 8, unread("/v1/snapshot?resources=large"), limit=30),
    "many unread pages": Holding("6", 100, unread("/v1/records/large?limit=500")),
    "many unread snapshots": Holding("6", 100, unread("/v1/snapshot?resources=large")),
    "unread records": long_held(unread_long("GET", "/v1/records/docs/{0}")),
    "unread answers": long_held(unread_long("POST", PUSH, short_edit)),
    "unread changes": long_held(unread_long("GET", "/v1/changes?since=0&limit={1}")),
    "unread long events": long_held(
        unread_long("GET", "/v1/changes?since=0&limit={1}", more=b"Accept: text/event-stream\r\n")),
    "unread long snapshots": long_held(unread_long("GET", "/v1/snapshot?resources=docs")),
    "unread events": Holding("6", 100, unread("/v1/changes", b"Accept: text/event-stream\r\n")),
    "waiting for changes": Holding("6", 500, unread("/v1/changes?wait=60")),
    "one large record": Attack("6", one_record),
    "pages": Attack("6", pages),
    "pages at once": Attack("6", pages, at_once=8),
    "long records": Attack("6", long_records),
    "long records at once": Attack("6", long_records, at_once=16),
    "long records, packed": Attack("6", packed_records),
    "long records, packed, at once": Attack("6", packed_records, at_once=16),
    "page of long records": Attack("6", long_page),
    "small values": Attack("6", values),
    "small values at once": Attack("6", values, at_once=4),
    "refused, packed": Attack("7", journal),
    "refused, noise": Attack("7", journal_noise, seconds=15),
    "keys": Attack("8, 9", ids),
    "smuggling": Attack("10", smuggled),
    "nesting": Attack("11", deep),
    "readyz": Attack("11", flood("/readyz")),
    "unknown addresses": Attack("11", flood("/v2/" + "x" * 4_000)),
    "tokens": Attack("11", garbage),
    "half-sent heads": Holding("6", 300, half_head, drip=b"a", limit=30),
    "gzip": Attack("6", bombs),
}
