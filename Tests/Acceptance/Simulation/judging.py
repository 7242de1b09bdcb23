"""Pushes of one client alone, each compared with the model of the contract: the whole answer and all rows."""

import json
import random

from contract.pushes import Maker
from contract.rows import UNSURE
from contract.schema import TABLES
from contract.texts import filling
from contract.trial import Trial
from turns import at_once


class Judge:
    def __init__(self, place, client, faults):
        self.place, self.client, self.faults = place, client, faults
        self.known, self.pushes = {}, 0

    def run(self, events: list) -> None:
        """Ends at the first difference, after which the model's knowledge of the journal would be wrong."""
        for event in events:
            if event["do"] == "fill":
                self.fill(self.maker(event).rows())
            elif not self.push(event):
                return

    def forget(self) -> None:
        """Another journal is in use, which may contain any of the rows."""
        self.known = dict.fromkeys(self.known, UNSURE)

    def maker(self, event: dict) -> Maker:
        return Maker(random.Random(event["seed"]), self.place.resources, self.place.engine.name == "sqlite")

    def fill(self, rows: dict) -> None:
        self.place.engine.fill(filling(rows))

    def push(self, event: dict) -> bool:
        if "rows" in event:
            self.fill(from_lists(event["rows"]))
        rows = self.place.contract_rows()
        before = self.place.contract_database(rows)
        body = event.get("push") or self.maker(event).push(before)
        self.pushes += 1
        sent = dict(body, key=f"judged-{self.pushes}")
        status, text = at_once(self.client.caller.call(
            event["gateway"], "POST", "/v1/push" + ("?preview=true" if event["preview"] else ""), sent))
        reply = status, json.loads(text) if status else {}
        after = self.place.contract_rows()
        trial = Trial(self.place.resources, before, after, self.known, body, event["preview"], reply, self.place.engine.name)
        self.known = trial.known
        if trial.differences:
            self.faults.add("judged", f"{'; '.join(trial.differences[:6])}\n    push {json.dumps(sent)}\n"
                            f"    model {json.dumps(trial.answer)}\n    gateway {status} {text}\n    rows {json.dumps(to_lists(rows))}")
            self.faults.judged = dict(event, push=body, rows=to_lists(rows))
        return not trial.differences


def to_lists(rows: dict) -> dict:
    """Rows as JSON can contain them."""
    return {table: list(found.values()) for table, found in rows.items() if found}


def from_lists(rows: dict) -> dict:
    return {table.name: {tuple(row[name] for name in table.key): row for row in rows.get(table.name, [])} for table in TABLES}
