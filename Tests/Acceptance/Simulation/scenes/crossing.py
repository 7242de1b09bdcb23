"""Pushes that name the same rows of two resources in different orders. They wait for each other and never in a circle.

The counters are so large that two neighbours are the same double, and all pushes have the same old base.
"""

import threading

from turns import at_once
from wire import Caller

CLIENTS, PUSHES = 4, 25
FIRST = 1 << 60


def run(stage) -> None:
    names = [stage.open(2, kind, n=FIRST) for kind in ("left", "right")]
    before = deadlocks(stage)
    orders = [[stage.random.random() < 0.5 for _ in range(PUSHES)] for _ in range(CLIENTS)]
    merged = []
    threads = [threading.Thread(target=push, args=(stage, names, number, order, merged), daemon=True) for number, order in enumerate(orders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if found := deadlocks(stage) - before:
        stage.add(f"MariaDB found {found} deadlocks")
    for name in names:
        if (n := stage.rows(name)[1]["n"] - FIRST) != len(merged):
            stage.add(f"{len(merged)} pushes were merged, and n of {name} is {n} more than before")


def push(stage, names: list, number: int, order: list, merged: list) -> None:
    caller = Caller(stage.place, stage.client.settings, stage.faults)
    for turn, is_reversed in enumerate(order):
        edits = [stage.addition(name, 1, base=FIRST) for name in (reversed(names) if is_reversed else names)]
        status, _ = at_once(caller.call(number, "POST", "/v1/push", {"key": f"crossing-{stage.serial}-{number}-{turn}", "edits": edits}))
        if status == 200:
            merged.append(turn)


def deadlocks(stage) -> int:
    if stage.engine.name == "sqlite":
        return 0
    return int(stage.engine.server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'").split()[1])
