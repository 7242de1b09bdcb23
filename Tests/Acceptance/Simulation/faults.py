"""The violations of a history, and the faults that were injected meanwhile."""

import json


class Faults:
    def __init__(self):
        self.found = []
        self.statuses = {}
        # The last push that differed from the model of the contract, with the rows before it.
        self.judged = None
        # True while the history itself makes gateways fail: kills, reloads and schema changes.
        self.is_injected = False
        # True while another program keeps rows locked, so that a push may be answered `busy`.
        self.is_locked = False

    def add(self, kind: str, text: str) -> None:
        if len(self.found) < 20:
            self.found.append((kind, text))

    def count(self, status: str) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def server_error(self, status: int, text: str, where: str) -> None:
        code = code_of(text)
        self.count(f"{status} {code}")
        if status == 500 or not (self.is_injected or self.is_locked and code == "busy"):
            self.add("server-error", f"{where} was answered {status} without a cause: {text[:600]}")


def code_of(text: str) -> str:
    try:
        body = json.loads(text)
    except ValueError:
        return "?"
    if "code" in body:
        return str(body["code"])
    for result in body.get("results", []):
        if "problem" in result:
            return str(result["problem"].get("code"))
    return str(body.get("status", ""))
