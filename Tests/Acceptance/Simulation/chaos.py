"""Events outside the clients: gateways, rules and tokens that change, and schema changes."""

import signal
import traceback

from foreign import Foreign
from outages import Outages
from place import COLUMNS

# Foreign writes make no gateway fail.
HARMLESS = ("sql", "held", "prepared", "claims")


class Chaos:
    """Each event is a generator (turns.py). It repairs its damage at its moment `until`."""

    def __init__(self, place, ledger, faults):
        self.place, self.faults = place, faults
        self.foreign, self.outages = Foreign(place, ledger), Outages(place)
        self.counts = {}

    def begin(self, events: list) -> None:
        self.faults.is_injected = any(event["do"] not in HARMLESS for event in events)
        self.faults.is_locked = any(event["do"] in ("held", "prepared") for event in events)

    def start(self, event: dict):
        name = event.get("kind", event["do"])
        self.counts[name] = self.counts.get(name, 0) + 1
        for actor in (self, self.foreign, self.outages):
            if hasattr(actor, event["do"]):
                break
        try:
            yield from getattr(actor, event["do"])(event)
        except Exception:  # reported as a fault of the history
            self.faults.add("crash", f"{event}: {traceback.format_exc(limit=-3)[:1500]}")

    # MARK: Gateways

    def reload(self, event: dict):
        if event["changed"]:
            self.place.variant += 1
            self.place.write_rules()
        self.place.reload()
        yield None
        if event["twice"]:
            self.place.reload()

    def kill(self, event: dict):
        index = event["gateway"] % len(self.place.gateways)
        gateway = self.place.gateways[index]
        gateway.process.send_signal(signal.SIGTERM if event["gently"] else signal.SIGKILL)
        yield None
        while gateway.is_running:
            yield None
        yield from self.place.with_whole_schema()
        # Another event may have started it again.
        if self.place.gateways[index] is gateway:
            self.place.start_gateway(index)

    def guest(self, event: dict):
        """One more gateway, for a while."""
        yield from self.place.with_whole_schema()
        guest = self.place.new_gateway("guest")
        yield None
        guest.process.send_signal(signal.SIGTERM if event["gently"] else signal.SIGKILL)
        while guest.is_running:
            yield None

    def clock(self, event: dict):
        """The clock of all gateways jumps and returns."""
        self.place.set_clock(event["seconds"])
        yield None
        self.place.set_clock(0)

    # MARK: Tokens

    def claims(self, event: dict):
        self.place.tokens.change(event["client"], areas=event["areas"], role=event["role"])
        self.place.reload()
        yield None

    def withdraw(self, event: dict):
        self.place.tokens.withdraw(event["client"], True)
        self.place.reload()
        yield None
        self.place.tokens.withdraw(event["client"], False)
        self.place.reload()

    # MARK: Schema

    def alter(self, event: dict):
        there, back = self.statements(event["kind"])
        yield from self.place.with_whole_schema()
        self.place.is_altered = True
        self.place.engine.script(there)
        if event["announced"]:
            self.place.reload()
        yield None
        yield from self.place.without_occupation()
        self.place.engine.script(back)
        self.place.is_altered = False
        self.place.reload()

    def unkeyed(self, event: dict):
        """A table loses its key, and rows then share their numbers. No push may write one of these."""
        engine = self.place.engine
        yield from self.place.with_whole_schema()
        self.place.is_altered = True
        engine.script("ALTER TABLE parts MODIFY id INT NOT NULL, DROP PRIMARY KEY")
        engine.write("INSERT INTO parts (id, good, n, name) SELECT id, good, -1000000, 'strange' FROM parts WHERE id <= 8")
        yield None
        yield from self.place.without_occupation()
        rows = engine.read({"parts": COLUMNS["parts"]})["parts"]
        if wrong := [row for row in rows if (row["name"] == "strange") != (row["n"] == -1000000)]:
            self.faults.add("unkeyed", f"rows without a key were written: {wrong}")
            engine.write("DELETE FROM parts WHERE (name = 'strange') <> (n = -1000000)")
        engine.write("DELETE FROM parts WHERE name = 'strange'")
        engine.script("ALTER TABLE parts ADD PRIMARY KEY (id), MODIFY id INT NOT NULL AUTO_INCREMENT")
        self.place.is_altered = False
        self.place.reload()

    def statements(self, kind: str) -> tuple:
        is_sqlite = self.place.engine.name == "sqlite"
        word = "VARCHAR({}) NOT NULL DEFAULT ''"
        if kind == "rename" or kind == "retype" and is_sqlite:
            return "ALTER TABLE goods RENAME COLUMN extra TO other", "ALTER TABLE goods RENAME COLUMN other TO extra"
        if kind == "retype":
            return tuple(f"ALTER TABLE goods MODIFY extra {word.format(n)}" for n in (90, 120))
        if kind == "add":
            return "ALTER TABLE goods ADD COLUMN spare INT", "ALTER TABLE goods DROP COLUMN spare"
        if kind == "drop":
            return "ALTER TABLE goods DROP COLUMN extra", f"ALTER TABLE goods ADD COLUMN extra {word.format(120)}"
        # A trigger writes into another table of the rules.
        body = "UPDATE parts SET copy = NEW.label WHERE good = NEW.id"
        create = "CREATE TRIGGER copying AFTER UPDATE ON goods FOR EACH ROW "
        return create + (f"BEGIN {body}; END" if is_sqlite else body), "DROP TRIGGER copying"
