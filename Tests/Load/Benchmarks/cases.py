"""The measured cases by name."""

from dataclasses import dataclass

TABLES = {"people": 100_000, "people10k": 10_000, "people1m": 1_000_000, "people5m": 5_000_000}
SQLITE_TABLE = "people"
QUICK_SKIPS = {"rows-5m", "journal-10m"}


@dataclass(frozen=True)
class Case:
    """One load on the gateway; `kind` is that of the load generator."""

    name: str
    group: str
    kind: str
    clients: int = 32
    batch: int = 1
    table: str = "people"
    resource: str = ""
    items: int = 0
    # The case measures the size of the table, so the ratio is to the floor on that table.
    has_own_floor: bool = False
    counts_requests: bool = False
    engine: str = "mariadb"
    # The number of entries in the journal at the start.
    entries: int = 0


CASES = [
    Case("edits", "end-to-end", "edit"),
    Case("conflicts", "end-to-end", "conflict"),
    Case("push-1", "end-to-end", "push"),
    Case("push-10", "end-to-end", "push", batch=10),
    Case("push-100", "end-to-end", "push", batch=100),
    Case("push-1000", "end-to-end", "push", batch=1000),
    Case("get", "end-to-end", "get"),
    Case("page-100", "end-to-end", "page", batch=100),
    Case("page-100-lists", "end-to-end", "page", batch=100, resource="families", items=3),
    Case("alone-1", "growth", "push", clients=1),
    Case("alone-10", "growth", "push", clients=1, batch=10),
    Case("alone-100", "growth", "push", clients=1, batch=100),
    Case("alone-1000", "growth", "push", clients=1, batch=1000),
    Case("clients-2", "growth", "edit", clients=2),
    Case("clients-8", "growth", "edit", clients=8),
    Case("clients-64", "growth", "edit", clients=64),
    Case("clients-256", "growth", "edit", clients=256),
    Case("rows-10k", "growth", "edit", table="people10k", has_own_floor=True),
    Case("rows-1m", "growth", "edit", table="people1m", has_own_floor=True),
    Case("rows-5m", "growth", "edit", table="people5m", has_own_floor=True),
    Case("journal-10m", "growth", "edit", entries=10_000_000),
    Case("memory", "growth", "edit", counts_requests=True),
    Case("idle-10000", "growth", "idle", clients=10_000),
    Case("sqlite-edits", "sqlite", "edit", engine="sqlite"),
    Case("sqlite-push-100", "sqlite", "push", batch=100, engine="sqlite"),
]

NAMES = {case.name for case in CASES} | {case.group for case in CASES} | {"floor", "core"}


def chosen(only: set, quick: bool) -> list:
    """The cases of these names or groups. Without names all cases, and with quick all but the slow ones."""
    if only:
        return [case for case in CASES if case.name in only or case.group in only]
    return [case for case in CASES if not (quick and case.name in QUICK_SKIPS)]
