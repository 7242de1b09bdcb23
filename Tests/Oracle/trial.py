"""Sends one push to the gateway and to the model, and compares all that can be seen."""

import http.client
import json

from answer import answer
from compare import differences, row_differences
from database import Database
from edits import BadPush
from model import PushRun
from schema import TABLES


class Client:
    """One connection to a gateway."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)

    def send(self, body: dict, preview: bool) -> tuple:
        self.connection.request("POST", "/v1/push" + ("?preview=true" if preview else ""), json.dumps(body), {
            "Content-Type": "application/json", "Authorization": "Bearer " + self.gateway.token})
        reply = self.connection.getresponse()
        return reply.status, json.loads(reply.read())


def numbers_of(engine: str, reply: tuple):
    """What gives new rows their numbers: SQLite's rule, or what MariaDB's counter gave by the gateway's answer."""
    counter = iter(range(1_000_000, 2_000_000))

    def number(database, table, index, id):
        if engine == "sqlite":
            return database.next_number(table)
        results = reply[1].get("results", [])
        if index < len(results):
            told = results[index].get("ids") or {}
            if str(id) in told:
                return told[str(id)]
            if id is None and isinstance(results[index].get("id"), int):
                return results[index]["id"]
        return next(counter)

    return number


class Trial:
    """What came of one push on both sides."""

    def __init__(self, engine, client, rows: dict, known: dict, body: dict, preview: bool):
        self.body, self.rows = body, rows
        self.reply = client.send(body, preview)
        self.held = engine.read()
        run = PushRun(Database(TABLES, rows), known, body, numbers_of(engine.name, self.reply))
        self.known = known
        try:
            run.run()
            self.told = answer(run)
            after = rows if preview else run.final.rows
            if not run.rolled_back and not preview:
                self.known = run.known
        except BadPush as bad:
            self.told = 400, {"code": bad.code}
            after = rows
        if run.is_unsure:
            # What the journal knows of a row that it saw only in parts is told nowhere.
            self.differences = []
            return
        loose = {e.index for e in run.edits if e.is_loose or e.is_rejected}
        torn = any(e.is_loose and e.is_rejected for e in run.edits)
        self.differences = differences(body, self.told, self.reply, loose, torn) + row_differences(after, self.held)
