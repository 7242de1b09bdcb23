"""Draws the events of a history. An event contains all data for its run, so any event can be omitted."""

from world import CLIENTS, OFFICE_ONLY, resources

PUSH_GROUPS = {
    "goods": ("n", "n", "label", "note", "high", "tags", "status", "place", "secret", "pin"),
    "stock": ("n", "n", "label"), "codes": ("n",), "seen": ("n",), "parts": ("n", "n", "name", "good")}
CLERK_LACKS = ("place", "secret", "pin")
AREA_SETS = ([1], [2], [1, 2], [3], [1, 2, 3])


class Drawer:
    def __init__(self, random, world: dict, engine: str):
        self.random, self.world, self.engine = random, world, engine
        self.serial = 0

    def history(self, rounds: int) -> list:
        return [self.round() for _ in range(rounds)]

    def round(self) -> dict:
        """Events with the moments at which they begin and end, pushes that the model judges, and sometimes a restore."""
        if "judged" in self.world:
            return {"clients": {}, "chaos": [], "judged": self.judged(self.world["judged"]), "restore": ""}
        clients = {client["name"]: self.timed([self.event(client) for _ in range(self.random.randint(6, 16))], overlaps=False)
                   for client in CLIENTS}
        chaos = self.timed([self.chaos() for _ in range(self.random.randint(1, 8))], overlaps=True)
        restore = self.random.choice(("data", "journal", "both")) if self.chance(0.12) else ""
        return {"clients": clients, "chaos": chaos, "judged": self.judged(24), "restore": restore}

    def timed(self, events: list, overlaps: bool) -> list:
        """Adds the moments of each event. Those of a client follow each other."""
        moments = sorted(round(self.random.random(), 4) for _ in events) + [1]
        for event, at, following in zip(events, moments, moments[1:]):
            end = min(1, at + self.random.uniform(0, 0.4)) if overlaps else self.random.uniform(at, following)
            event |= {"at": at, "until": round(end, 4)}
        return events

    def name(self) -> str:
        self.serial += 1
        return f"v{self.serial}"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # MARK: Clients

    def event(self, client: dict) -> dict:
        kind = self.random.random()
        gateway = self.random.randint(0, 1)
        if kind < 0.72:
            return self.push(client, gateway)
        if kind < 0.74:
            return {"do": "burst", "pushes": [self.push(client, gateway + number) for number in range(self.random.choice((8, 24)))]}
        if kind < 0.78 and client["operator"]:
            return {"do": "undo", "gateway": gateway, "pick": self.random.random()}
        if kind < 0.86:
            return {"do": "read", "gateway": gateway, "resource": self.random.choice(("goods", "stock", "parts")), "pick": self.random.random()}
        return {"do": "follow", "gateway": gateway, "mode": self.random.choice(("changes", "changes", "changes", "events", "snapshot")),
                "loses": self.chance(0.3), "limit": self.random.choice((1, 3, 500))}

    def push(self, client: dict, gateway: int) -> dict:
        edits = [self.edit(client) for _ in range(self.random.choice((1, 1, 1, 2, 3, 4)))]
        return {"do": "push", "name": self.name(), "gateway": gateway, "edits": edits, "atomic": self.chance(0.25),
                "preview": self.chance(0.08), "loses": self.random.choice((0, 0, 0, 0, 1, 2)), "again": self.chance(0.2),
                "via": self.random.choice(("push", "push", "push", "sync"))}

    def edit(self, client: dict) -> dict:
        is_clerk = self.world["roles"] and client["role"] == "clerk"
        resource = self.random.choice([name for name in resources(self.engine) if not (is_clerk and name in OFFICE_ONLY)])
        groups = [name for name in PUSH_GROUPS[resource] if not (is_clerk and name in CLERK_LACKS)]
        kind = self.random.random()
        return {
            "resource": resource, "pick": self.random.random(), "token": self.name(),
            "kind": "create" if kind < 0.1 else "delete" if kind < 0.16 else "edit",
            "groups": sorted(set(self.random.sample(groups, min(len(groups), self.random.randint(1, 3))))),
            "delta": self.random.choice((1, 2, 5, -3, 10, 100)), "base": self.random.choice(("replica", "replica", "wrong")),
            "form": self.random.choice(("group", "group", "row", "hash")),
            "item": self.random.random() if resource == "goods" and self.chance(0.3) else None,
            "code": self.random.randint(1, 12) if self.chance(0.3) else None}

    # MARK: Pushes that the model of the contract judges

    def judged(self, count: int) -> list:
        """New rows before every twelfth push."""
        return [event for number in range(count) for event in ([self.fill()] if number % 12 == 0 else []) + [self.judged_push()]]

    def fill(self) -> dict:
        return {"do": "fill", "seed": self.random.getrandbits(32)}

    def judged_push(self) -> dict:
        return {"do": "push", "seed": self.random.getrandbits(32), "gateway": self.random.randint(0, 1),
                "preview": self.chance(0.08)}

    # MARK: The world around them

    def chaos(self) -> dict:
        kind = self.random.choice(("sql",) * 12 + ("fault",) * 3 + (
            "held", "prepared", "reload", "alter", "alter", "kill", "guest", "claims", "withdraw"))
        return getattr(self, kind)()

    def sql(self) -> dict:
        names = ("add", "add", "far", "label", "note", "bulk", "delete_part", "delete_good", "insert", "move", "area", "secret", "lock")
        return {"do": "sql", "kind": self.random.choice(names), "pick": self.random.random(), "token": self.name()}

    def held(self) -> dict:
        return {"do": "held", "pick": self.random.random(), "commits": self.chance(0.6)}

    def prepared(self) -> dict:
        """SQLite has no distributed transactions."""
        if self.engine == "sqlite":
            return self.held()
        return {"do": "prepared", "pick": self.random.random(), "commits": self.chance(0.7), "token": self.name()}

    def reload(self) -> dict:
        return {"do": "reload", "changed": self.chance(0.5), "twice": self.chance(0.5)}

    def alter(self) -> dict:
        return {"do": "alter", "kind": self.random.choice(("retype", "rename", "add", "drop", "trigger")),
                "announced": self.chance(0.7)}

    def kill(self) -> dict:
        return {"do": "kill", "gateway": self.random.randint(0, 1), "gently": self.chance(0.3)}

    def guest(self) -> dict:
        """Only one gateway serves a SQLite file."""
        if self.engine == "sqlite":
            return self.kill()
        return {"do": "guest", "gently": self.chance(0.5)}

    def claims(self) -> dict:
        return {"do": "claims", "client": self.random.choice(("clerk1", "clerk2")), "areas": self.random.choice(AREA_SETS),
                "role": self.random.choice(("clerk", "clerk", "clerk", "office"))}

    def withdraw(self) -> dict:
        return {"do": "withdraw", "client": self.random.choice(("office2", "clerk1", "clerk2"))}

    def fault(self) -> dict:
        """Of the database, or of the clock."""
        if self.world["clock"] and self.chance(0.5):
            return {"do": "clock", "seconds": self.random.choice((-86_400, -3_600, -5, 5, 3_600, 86_400))}
        if self.engine == "sqlite":
            return self.held()
        kind = self.random.choice(("stall", "restart", "cut", "cut", "cut", "disconnect", "unkeyed"))
        return {"do": kind, "seconds": self.random.choice((0.5, 2, 6)), "gently": self.chance(0.4),
                "moment": self.random.choice(("before", "after"))}
