"""Nothing grows without bound: memory, open files, connections and transactions at a quiet point."""

import json
import os
import time
from pathlib import Path

from processes import MariaDB
from turns import at_once

MEGABYTES = 400
FILES = 120
# Seconds within which remaining work ends.
SECONDS = 10


def check(place, client, faults) -> None:
    for index, gateway in enumerate(place.gateways):
        resident = int(Path(f"/proc/{gateway.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
        if resident > MEGABYTES:
            faults.add("memory", f"gateway {index} has {resident} MB")
        if (count := len(os.listdir(f"/proc/{gateway.pid}/fd"))) > FILES:
            faults.add("files", f"gateway {index} has {count} open files")
        if left := within(lambda: at_once(client.caller.call(index, "GET", "/readyz")), has_pending):
            faults.add("pending", f"gateway {index} does not come to rest: {left}")
    if place.engine.name == "mariadb":
        if left := within(lambda: transactions(place), lambda count: count > 0):
            faults.add("transactions", f"{left} transactions of gateways stay open")
        most = 12 * len(place.gateways)
        if (count := within(lambda: connections(place), lambda count: count > most)) is not None:
            faults.add("connections", f"{count} connections of {len(place.gateways)} gateways")


def within(read, is_wrong):
    """Reads until the value is right. Returns a wrong value at the deadline, else None."""
    end = time.monotonic() + SECONDS
    while is_wrong(value := read()):
        if time.monotonic() > end:
            return value
        time.sleep(0.1)
    return None


def has_pending(answer: tuple) -> bool:
    """Pushes wait for their revision."""
    status, text = answer
    return status != 200 or json.loads(text)["feed"]["pending"] > 0


def transactions(place) -> int:
    """Transactions of gateways that are older than a second."""
    return int(place.engine.server.sql(
        "SELECT COUNT(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = "
        f"t.trx_mysql_thread_id WHERE p.user = '{MariaDB.USER}' AND t.trx_started < NOW() - INTERVAL 1 SECOND"))


def connections(place) -> int:
    return int(place.engine.server.sql(
        f"SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{MariaDB.USER}' AND db = '{place.engine.database}'"))
