"""Measures queries over 100,000 records in a file: `python3 Tests/Clients/Python/speed.py [RECORDS]`. Times are milliseconds."""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from support import cases

import fieldmerge
from fieldmerge.testing import MemoryGateway
from fieldmerge.testing.scripted import Reply

RULES = cases("queries.json")["rules"]
INDEXES = {"orders": ["order.status", "order.due", "order.amount", "lines.article", "id"]}
SEARCH = {"orders": ["order.title"]}
WORDS = ["Beans", "Tea", "Rice", "Salt", "Café", "Straße", "Olive", "Paper", "Soap", "Bread"]


def order(number: int, dice: random.Random) -> dict[str, Any]:
    due = f"20{dice.randrange(20, 27)}-{dice.randrange(1, 13):02d}-{dice.randrange(1, 29):02d}"
    values = {
        "title": f"{dice.choice(WORDS)} {dice.choice(WORDS)} {number}", "status": dice.choice(["open", "late", "done"]),
        "amount": f"{dice.randrange(100_000)}.{dice.randrange(100):02d}", "quantity": dice.randrange(100), "serial": number,
        "weight": dice.random(), "due": due, "scheduled": f"{due}T10:00:00.000", "planned": f"{due}T10:00:00.000Z",
        "opens": "09:30:00", "paid": dice.random() < 0.5, "tags": ["red"], "settings": None, "parent": None,
        "modified": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    lines = [
        {"id": number * 2 + one, "article": dice.randrange(5_000), "price": "1.00", "note": None} for one in (0, 1)
    ]
    return {"id": number, "order": values, "lines": lines, "delivery": None}


class Gateway(MemoryGateway):
    """Sends a snapshot in parts of 500 records."""

    def _snapshot(self, query: Mapping[str, str]) -> Reply:
        reply = super()._snapshot(query)
        lines = (reply.body or b"").splitlines(keepends=True)
        kept = [line for number, line in enumerate(lines) if number % 750 == 0 or not line.startswith(b'{"cursor')]
        return Reply(200, b"".join(kept), reply.headers)


def measure(name: str, call: Callable[[], Any], times: int = 20) -> None:
    taken, busy = [], []
    for _ in range(times):
        began, began_busy = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - began) * 1000)
        busy.append((time.process_time() - began_busy) * 1000)
    figures = f"least {min(taken):8.2f}   median {statistics.median(taken):8.2f}   CPU {statistics.median(busy):8.2f}"
    print(f"{name:58} {figures}", flush=True)


def page(store: fieldmerge.Store, record: Any) -> None:
    """Stores one change of the server."""
    feed, revision = store._model.place()
    change = {"revision": revision + 1, "resource": "orders", "id": record["id"], "record": record, "by": None}
    text = {"feed": feed, "revision": revision + 1, "more": False, "rules": RULES["version"], "changes": [change]}
    store._model.store_page(json.loads(json.dumps(text)), asked=(feed, revision))


def main(count: int) -> None:
    dice = random.Random(1)
    records = [order(number, dice) for number in range(1, count + 1)]
    server = Gateway(RULES, {"orders": records})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "store.db")
        store = fieldmerge.open(path, server="http://x", user="t", transport=server, indexes=INDEXES, search=SEARCH)
        calls: list[int] = []
        first = store.live("orders", sort=["-order.due"], limit=50)
        first.subscribe(lambda value: calls.append(len(value)))
        began, busy = time.perf_counter(), time.process_time()
        store.sync()
        first_sync = f"{time.perf_counter() - began:.1f} s, CPU {time.process_time() - busy:.1f} s"
        print(f"first sync with a live list: {first_sync}, {len(calls)} callbacks", flush=True)
        store._worker.settle()
        built = f"{time.perf_counter() - began:.1f} s, CPU {time.process_time() - busy:.1f} s"
        print(f"until the indexes are whole: {built}, {Path(path).stat().st_size >> 20} MB", flush=True)
        first.close()
        open_ones = {"order.status": "open"}
        measure(
            "indexed: due from a day, by due, 50",
            lambda: store.query("orders", where={"order.due": {"from": "2024-06-01"}}, sort=["order.due"], limit=50),
        )
        measure("indexed: by due descending, 50", lambda: store.query("orders", sort=["-order.due"], limit=50))
        measure(
            "indexed: open, by amount descending, 50",
            lambda: store.query("orders", where=open_ones, sort=["-order.amount"], limit=50),
        )
        measure("indexed: an article of a list", lambda: store.query("orders", where={"lines.article": 7}))
        measure("indexed: search of a number", lambda: store.query("orders", search="777"))
        measure(
            "indexed: search of two words, by due, 50",
            lambda: store.query("orders", search="caf oli", sort=["order.due"], limit=50),
        )
        measure("indexed: count of the open ones", lambda: store.count("orders", where=open_ones), 3)
        measure("scan: 50 rows by weight", lambda: store.query("orders", sort=["order.weight"], limit=50), 3)
        edited = iter(range(1, count))

        def edit() -> None:
            with store.edit("orders", next(edited)) as one:
                one.order.quantity = 7

        measure("edit without live lists", edit)
        lists = [
            store.live(
                "orders", where={"order.status": "open", "order.quantity": {"from": one}}, sort=["order.due"], limit=50
            )
            for one in range(10)
        ]
        store._worker.settle()
        measure("edit with ten live lists", edit)
        measure("edit with ten live lists, each a frame apart", lambda: (edit(), store._worker.settle())[0])
        for live in lists:
            live.close()
        lives = [
            store.live("orders", where={"order.quantity": one % 100}, sort=["-order.due"], limit=50)
            for one in range(100)
        ]
        began = time.perf_counter()
        store._worker.settle()
        print(f"first answers of 100 live queries: {(time.perf_counter() - began) * 1000:.0f} ms", flush=True)
        worker = store._worker
        looks: list[float] = []
        look = worker._look

        def timed(*, is_due: bool) -> None:
            began = time.perf_counter()
            look(is_due=is_due)
            looks.append((time.perf_counter() - began) * 1000)

        worker._look = timed  # type: ignore[method-assign]
        changed = iter(range(50_000, count))

        def change() -> None:
            page(store, order(next(changed, 1), dice))
            worker.settle()

        measure("one change with 100 live queries, with the pause", change)
        print(f"of that the look: median {statistics.median(looks):.2f}, most {max(looks):.2f}", flush=True)
        for live in lives:
            live.close()
        store.close()
        began = time.perf_counter()
        store = fieldmerge.open(path, server="http://x", user="t", transport=server, indexes=INDEXES, search=SEARCH)
        shown = threading.Event()
        store.live("orders", sort=["-order.due"], limit=50).subscribe(lambda value: shown.set())
        shown.wait(60)
        print(f"opening again to the first rows: {(time.perf_counter() - began) * 1000:.0f} ms", flush=True)
        store.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
