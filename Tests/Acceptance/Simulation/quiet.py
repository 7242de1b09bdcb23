"""The quiet point after a round: nothing is sent any more, and everything must agree."""

import json
import re
import time

import growth
from replica import key_of, settle
from turns import at_once
from view import contract_records, expected_replica
from world import OFFICE_ONLY, ROOT, SECTION_TABLE, resources

# A foreign change is found within a cycle of the scan, which takes less than a second here.
SECONDS = 20
VALUE = re.compile(r"SECRET-\w+|PIN-\w+|AREA\d-\w+|\b[fp]?v\d+(?:good|item|part|new)\w*")


class Quiet:
    def __init__(self, place, clients: list, ledger, faults):
        self.place, self.clients, self.ledger, self.faults = place, clients, ledger, faults
        self.read_logs = {}
        self.forget_entries()

    def forget_entries(self) -> None:
        """The entries of the journal are read from its beginning."""
        self.after, self.entries = "", set()

    def begin(self) -> bool:
        """False if a gateway does not become ready."""
        self.faults.is_locked = False
        is_ready = self.wait_until_ready()
        self.faults.is_injected = self.faults.is_injected and not is_ready
        return is_ready

    def check(self, number: int) -> None:
        self.place.tokens.forget_past()
        self.probe(number)
        rows = self.place.rows()
        contract = contract_records(self.place)
        self.ledger.check(rows, self.faults)
        expected = {client.name: expected_replica(self.place, client.name, rows) | contract for client in self.clients}
        self.check_records(expected)
        left = settle({client.name: client.replica for client in self.clients}, expected, len(self.place.gateways), SECONDS)
        for name, differences in left.items():
            self.faults.add("replica", f"{name}: {'; '.join(differences[:3])}")
        self.check_journal()
        self.check_texts()
        growth.check(self.place, self.clients[0], self.faults)

    def wait_until_ready(self) -> bool:
        for index in range(len(self.place.gateways)):
            end = time.monotonic() + 30
            # `/readyz` may be a second old, and the last reload may still run.
            if self.faults.is_injected:
                time.sleep(1.2 if index == 0 else 0)
            self.read_all(index)
            while not self.serves_all(index):
                if time.monotonic() > end:
                    self.faults.add("not-ready", f"gateway {index}: {ask(self.clients[0], index, 'GET', '/readyz')}")
                    return False
                time.sleep(0.1)
        return True

    def read_all(self, index: int) -> None:
        """`/readyz` names a record that could not be read until it is read again."""
        for resource in resources(self.place.name):
            ask(self.clients[0], index, "GET", f"/v1/records/{resource}?limit=500")

    def serves_all(self, index: int) -> bool:
        status, text = ask(self.clients[0], index, "GET", "/readyz")
        return status == 200 and not json.loads(text)["problems"]

    def probe(self, number: int) -> None:
        """`/readyz` was 200 without problems, so a push to each resource has a result."""
        client = self.clients[0]
        for index in range(len(self.place.gateways)):
            ready = json.loads(ask(client, index, "GET", "/readyz")[1])
            for resource in resources(self.place.name):
                root, id = ROOT[resource], "c1" if resource == "codes" else 1
                body = {"key": f"probe-{number}-{index}-{resource}", "edits": [
                    {"resource": resource, "id": id, "changeset": {root: {"n": {"old": -1, "new": 0}}}}]}
                start = time.monotonic()
                status, text = ask(client, index, "POST", "/v1/push", body)
                if status == 200:
                    for outcome in json.loads(text)["results"][0]["outcomes"]:
                        if outcome["outcome"] == "restored":
                            self.ledger.restore(SECTION_TABLE[root], id, start, time.monotonic())
                        elif outcome.get("group") == "n" and outcome["outcome"] in ("applied", "combined"):
                            self.ledger.add(SECTION_TABLE[root], id, 1)
                elif status >= 500:
                    self.faults.add("readyz", f"/readyz of gateway {index} is {ready}, and a push to {resource} was answered {status} {text[:400]}")

    def check_records(self, expected: dict) -> None:
        """Pages of records through each gateway equal the database."""
        for client in self.clients:
            for index in range(len(self.place.gateways)):
                for resource in [*resources(self.place.name), *self.place.resources]:
                    status, text = ask(client, index, "GET", f"/v1/records/{resource}?limit=500")
                    found = {key_of(record["id"]): record for record in json.loads(text)["records"]} if status == 200 else status
                    wanted = {key: record for (name, key), record in expected[client.name].items() if name == resource}
                    if resource in OFFICE_ONLY and self.place.tokens.is_clerk(client.name):
                        wanted = 404
                    if found != wanted:
                        self.faults.add("records", f"{client.name}, {resource}: {str(found)[:600]} instead of {str(wanted)[:600]}")

    def check_journal(self) -> None:
        """Each acknowledged push that wrote something has an entry."""
        while True:
            status, text = ask(self.clients[0], 0, "GET", f"/v1/journal?limit=1000{self.after and '&after=' + self.after}")
            if status != 200:
                return self.faults.add("journal", f"the journal was answered {status} {text[:300]}")
            page = json.loads(text)
            if found := re.search(r"PIN-\w+", text):
                self.faults.add("private", f"the journal's entries contain {found.group()}")
            for entry in page["entries"]:
                self.entries.add((entry["who"], entry["key"]))
                self.after = str(entry["number"])
            if page["next"] is None:
                break
        for (who, key), text in self.ledger.journalled.items():
            if (who, key) not in self.entries:
                self.faults.add("no-entry", f"{who}: {text} is not in the journal")

    def check_texts(self) -> None:
        """Values are in no log and no metric, and private values are in no file of the journal."""
        for name, text in self.place.log_texts():
            begin = self.read_logs.get(name, 0)
            self.read_logs[name] = len(text)
            if found := VALUE.search(text, begin):
                self.faults.add("log", f"{name} contains {found.group()}: {text[max(0, found.start() - 200):found.end() + 50]}")
        for index in range(len(self.place.gateways)):
            if found := VALUE.search(ask(self.clients[0], index, "GET", "/metrics")[1]):
                self.faults.add("metrics", found.group())
        text = self.place.engine.journal_text()
        if found := re.search(r"PIN-\w+", text):
            self.faults.add("private", f"the files of the journal contain {found.group()}: …{text[max(0, found.start() - 200):found.end()]!r}")


def ask(client, *request) -> tuple:
    """Status and text of an answer that is awaited."""
    return at_once(client.caller.call(*request))
