"""Makes a push from an event and the client's replica, and enters the answer into the ledger."""

import hashlib
import json

from contract.values import wired
from ledger import WRITTEN
from world import GOODS, ROOT, SECTION_TABLE

COLUMN = {"label": "label", "note": "note", "name": "name"}


class Push:
    """`meant` contains the sent values of each edit, by section and group."""

    def __init__(self, world: dict, client: dict, event: dict, replica):
        self.world, self.client, self.event, self.replica = world, client, event, replica
        self.mark = "p" if event["preview"] else ""
        self.meant, self.tokens, edits = [], set(), []
        for edit in event["edits"]:
            self.meant.append({})
            edits.append(self.edit(edit))
        self.body = {"key": f"{client['name']}-{event['name']}", "edits": edits}
        if event["atomic"]:
            self.body["atomic"] = "edit"

    # MARK: The body

    def edit(self, edit: dict) -> dict:
        resource, root = edit["resource"], ROOT[edit["resource"]]
        is_clerk = self.world["roles"] and self.client["role"] == "clerk"
        may_create = resource == "parts" or resource in ("goods", "stock") and not is_clerk
        if edit["kind"] == "create" and may_create:
            return self.creation(edit, root, is_clerk)
        first = {f"c{id}" if resource == "codes" else id for id in range(1, GOODS + 1)}
        keys = sorted({key for name, key in self.replica.records if name == resource} | first)
        is_deletion = edit["kind"] == "delete" and may_create
        if is_deletion:
            keys = [key for key in keys if key % 2 == 0]
        key = keys[int(edit["pick"] * len(keys))]
        record = self.replica.records.get((resource, key)) or {}
        if is_deletion:
            held = (record.get(root) or {}).get("n", 0) if edit["base"] == "replica" else -1
            self.meant[-1][root, "row"] = "delete"
            return {"resource": resource, "id": key, "changeset": {root: {"old": {"n": held}, "new": None}}}
        changeset = {}
        if edit["item"] is None or edit["pick"] < 0.5:
            changeset[root] = self.groups(edit, root, edit["groups"], record.get(root) or {})
        parts = record.get("parts") or []
        if edit["item"] is not None and parts:
            part = parts[int(edit["item"] * len(parts))]
            changeset["parts"] = [{"id": part["id"], **self.groups(edit, "parts", ["n", "name"], part)}]
        return {"resource": resource, "id": key, "changeset": changeset}

    def creation(self, edit: dict, root: str, is_clerk: bool) -> dict:
        token = self.token(edit, "new")
        new = {"n": edit["delta"]}
        if root == "part":
            goods = sorted(key for name, key in self.replica.records if name == "goods") or [1]
            new |= {"name": token, "good": goods[int(edit["pick"] * len(goods))]}
        else:
            new["label"] = token
            if root == "good":
                code = f"c{edit['code']}" if edit["code"] and self.world["identity"] else f"k{token}"
                new |= {"code": code, "area": 2, "mark": f"AREA2-{token}", "secret": f"SECRET-{token}", "pin": f"PIN-{token}"}
        self.meant[-1][root, "row"] = new
        changeset = {root: {"old": None, "new": new}}
        if root == "good" and edit["item"] is not None:
            part = {"name": self.token(edit, "item"), "n": 1}
            self.meant[-1]["parts", "row"] = part
            changeset["parts"] = [{"id": f"tmp:{token}i", "old": None, "new": part}]
        return {"resource": edit["resource"], "id": f"tmp:{token}", "changeset": changeset}

    def token(self, edit: dict, group: str) -> str:
        token = f"{self.mark}{edit['token']}{group}"
        self.tokens.add(token)
        return token

    def groups(self, edit: dict, section: str, names: list, held: dict) -> dict:
        """Groups in group form, or all in row form."""
        found = {}
        for name in names:
            pair = self.values(edit, section, name, held if edit["base"] == "replica" else {})
            self.meant[-1][section, name] = pair[1]
            found[name] = pair
        if edit["form"] == "row":
            sides = [{}, {}]
            for name, pair in found.items():
                for side, value in zip(sides, pair):
                    side.update(value if name == "place" else {name: value})
            return {"old": sides[0], "new": sides[1]}
        return {name: self.group_form(edit, name, *pair) for name, pair in found.items()}

    @staticmethod
    def group_form(edit: dict, name: str, old, new) -> dict:
        if edit["form"] == "hash" and name in COLUMN:
            digest = hashlib.sha256(json.dumps(old, ensure_ascii=False).encode()).hexdigest()
            return {"oldHash": f"sha256:{digest}", "new": new}
        return {"old": old, "new": new}

    def values(self, edit: dict, section: str, name: str, held: dict) -> tuple:
        token = self.token(edit, section + name)
        if name == "n":
            base = int(held.get("n", -1))
            self.meant[-1][section, "delta"] = edit["delta"]
            return wired(base), wired(base + edit["delta"])
        if name == "high":
            base = held.get("high", 0)
            return base, base + abs(edit["delta"])
        if name == "tags":
            base = held.get("tags", [])
            return base, base + [token]
        if name == "status":
            return held.get("status", "new"), ("new", "open", "closed")[int(edit["pick"] * 1000) % 3]
        if name == "place":
            area = 1 + int(edit["pick"] * 1000) % 3
            return ({"area": held.get("area", 9), "mark": held.get("mark", "x")},
                    {"area": area, "mark": f"AREA{area}-{token}"})
        if name == "good":
            return held.get("good", 0), 1 + int(edit["pick"] * 1000) % GOODS
        if name in ("secret", "pin"):
            return held.get(name, ""), f"{name.upper()}-{token}"
        return held.get(name, "wrong"), token

    # MARK: The answer

    def enter(self, ledger, answer: dict, start: float, end: float, faults) -> None:
        results = answer.get("results", [])
        if len(results) == 0 and "outcomes" in answer:
            results = [answer]
        for index, result in enumerate(results):
            if result.get("status", answer["status"]) == "merged":
                self.enter_result(ledger, index, result, start, end, faults)
            else:
                self.refuse(ledger, index, result.get("status"))

    def refuse(self, ledger, index: int, why: str) -> None:
        for token in [token for token in self.tokens if token.startswith(self.mark + self.event["edits"][index]["token"])]:
            ledger.forbid(token, f"{self.body['key']} ({why})")

    def refuse_all(self, ledger, why: str) -> None:
        for index in range(len(self.event["edits"])):
            self.refuse(ledger, index, why)

    def enter_result(self, ledger, index: int, result: dict, start: float, end: float, faults) -> None:
        meant, resource = self.meant[index], result["resource"]
        for outcome in result["outcomes"]:
            section, word = outcome["section"], outcome["outcome"]
            key = outcome.get("id", result["id"]) if section == "parts" else result["id"]
            table = SECTION_TABLE[section]
            if "group" not in outcome:
                self.enter_row(ledger, meant, resource, result["id"], section, table, key, word, start, end)
                continue
            if word not in WRITTEN:
                continue
            frozen = ledger.frozen.get(key)
            if resource == "goods" and section == "good" and self.world["frozen"] and frozen and frozen < start \
                    and (table, key) not in ledger.unsure:
                faults.add("frozen", f"goods {key} was frozen, and {self.body['key']} was answered {outcome}")
            group = outcome["group"]
            created = meant.get((section, "row"))
            if isinstance(created, dict):
                # A creation that found its row: the base is absent, so the counter is overwritten.
                ledger.restore(table, key, start, end)
            elif group == "n":
                if word in ("applied", "combined"):
                    ledger.add(table, key, meant[section, "delta"])
                else:
                    faults.add("counter-overwritten", f"{table} {key}: {outcome} of {self.body['key']}")
            elif group in COLUMN:
                ledger.write(table, key, COLUMN[group], meant[section, group], start, end)
            elif group == "good":
                ledger.move(key, meant[section, "good"])
            elif group == "tags":
                ledger.tag(key, meant[section, "tags"][-1])
            elif group == "high":
                ledger.high(key, meant[section, "high"])

    def enter_row(self, ledger, meant, resource, record, section, table, key, word, start, end) -> None:
        if word == "inserted":
            row = dict(meant[section, "row"])
            if table == "goods":
                row = {"label": "", "note": "", **row}
            elif section == "parts":
                row["good"] = record
            ledger.begin(table, key, row, start, end)
        elif word == "deleted":
            if not (self.world["soft"] and resource == "goods" and section == "good"):
                ledger.delete(table, key, start, end)
            if table == "goods" and not (self.world["soft"] and resource == "goods"):
                self.delete_parts(ledger, key, start, end)
        elif word == "restored":
            ledger.restore(table, key, start, end)
            if (section, "good") in meant:
                ledger.move(key, meant[section, "good"])

    def delete_parts(self, ledger, good: int, start, end) -> None:
        """The parts went with their good, by a foreign key or by the push."""
        ledger.lost_goods[good] = (start, end)
