"""Draws the events of a history. An event says all that a run needs, so that any part can be left out."""

from world import CLIENTS

PUSH_GROUPS = {
    "goods": ("n", "n", "label", "note", "high", "tags", "status", "place", "secret", "pin"),
    "stock": ("n", "n", "label"), "parts": ("n", "n", "name")}
CLERK_LACKS = ("place", "secret", "pin")


class Drawer:
    def __init__(self, random, world: dict, engine: str):
        self.random, self.world, self.engine = random, world, engine
        self.serial = 0

    def history(self, rounds: int) -> list:
        return [self.round() for _ in range(rounds)]

    def round(self) -> dict:
        if "judged" in self.world:
            return {"clients": {}, "chaos": [], "judged": self.judged(self.world["judged"])}
        clients = {client["name"]: [self.event(client) for _ in range(self.random.randint(4, 12))] for client in CLIENTS}
        return {"clients": clients, "chaos": [self.chaos() for _ in range(self.random.randint(1, 6))], "judged": self.judged(24)}

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
        if kind < 0.78 and client["operator"]:
            return {"do": "undo", "gateway": gateway, "pick": self.random.random()}
        if kind < 0.86:
            return {"do": "read", "gateway": gateway, "resource": self.random.choice(list(PUSH_GROUPS)), "pick": self.random.random()}
        return {"do": "follow", "gateway": gateway, "mode": self.random.choice(("changes", "changes", "changes", "events", "snapshot")),
                "loses": self.chance(0.3), "limit": self.random.choice((1, 3, 500))}

    def push(self, client: dict, gateway: int) -> dict:
        edits = [self.edit(client) for _ in range(self.random.choice((1, 1, 1, 2, 3, 4)))]
        return {"do": "push", "name": self.name(), "gateway": gateway, "edits": edits, "atomic": self.chance(0.25),
                "preview": self.chance(0.08), "loses": self.random.choice((0, 0, 0, 0, 1, 2)), "again": self.chance(0.2),
                "via": self.random.choice(("push", "push", "push", "sync")), "pause": round(self.random.uniform(0, 0.05), 3)}

    def edit(self, client: dict) -> dict:
        resource = self.random.choice(list(PUSH_GROUPS))
        is_clerk = self.world["roles"] and client["role"] == "clerk"
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
        kind = self.random.random()
        after = round(self.random.uniform(0, 0.6), 3)
        if kind < 0.7:
            names = ("add", "add", "label", "note", "bulk", "delete-part", "delete-good", "insert", "area", "secret", "lock")
            return {"do": "sql", "kind": self.random.choice(names), "pick": self.random.random(), "token": self.name(), "after": after}
        if kind < 0.8:
            return {"do": "reload", "changed": self.chance(0.5), "after": after}
        if kind < 0.88:
            return {"do": "alter", "kind": self.random.choice(("retype", "rename")), "after": after, "pause": round(self.random.uniform(0, 1), 3)}
        return {"do": "kill", "gateway": self.random.randint(0, 1), "after": after, "pause": round(self.random.uniform(0, 0.5), 3)}
