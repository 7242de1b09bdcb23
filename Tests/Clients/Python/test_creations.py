"""Forms, bases and edits from before the answer to a creation: their `old` is the value in this answer, also if the
record has changed since."""

from __future__ import annotations

import copy
import json
import random
import unittest
from collections.abc import Mapping
from typing import Any

from store_case import RULES, StoreCase
from support import seeds

import fieldmerge
from fieldmerge.ids import key_of
from fieldmerge.rules import Resource, Section
from fieldmerge.testing import MemoryGateway
from fieldmerge.testing.scripted import Reply


class NumberingGateway(MemoryGateway):
    """The database fills in another value for each new row."""

    made = 0

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.first: dict[Any, int] = {}
        """The points of each new record, by its id."""
        self.old: list[tuple[Any, Any]] = []
        """The id and the `old` of each edit of points."""

    def _row(
        self, resource: Resource, section: Section, place: tuple[str, str], record_id: Any, row: dict[str, Any]
    ) -> list[dict[str, Any]]:
        outcomes = super()._row(resource, section, place, record_id, row)
        if "points" in row:
            self.old.append((record_id, row["points"]["old"]))
        if outcomes and outcomes[0]["outcome"] == "inserted":
            self.made += 1
            part = self.records[place][section.name]
            new = next(one for one in part if key_of(one["id"]) == key_of(row["id"])) if section.is_list else part
            values = {"points": self.made, "quantity": f"{self.made} bags", "note": f"note {self.made}",
                      "number": f"card {self.made}"}  # fmt: skip
            new.update({name: value for name, value in values.items() if new.get(name, "") is None})
            if section is resource.root:
                self.first[record_id] = self.made
        return outcomes


class CreationTests(StoreCase):
    """In each test a second process sends and reads later changes, while the first one has forms and bases."""

    def setUp(self) -> None:
        super().setUp()
        self.server = NumberingGateway(RULES, {"shoppers": [self.server.get("shoppers", 123)]}, clock=self.clock)
        self.store, self.other = self.synced(self.file()), self.synced(self.file())

    def create(self, *items: str, name: str = "Kim", into: Any = None) -> Any:
        with into or self.store.transaction() as t:
            new = t.create("shoppers")
            new.customer.firstName = name
            new.groceries += [{"name": one} for one in items]
        return new

    def answer(self, *ids: Any, resource: str = "shoppers", later: Any = None) -> None:
        """The other process sends everything, and then reads another client's later changes of these records."""
        self.assertTrue(self.other.sync().ok)
        for real in (self.other._model.resolve(one) for one in ids):
            record = self.server.get(resource, real)
            (later or self.later)(record)
            self.server.put(resource, real, record)
        self.assertTrue(self.other.sync().ok)

    def later(self, record: Any) -> None:
        record["customer"]["points"] = 70
        for item in record["groceries"]:
            item["quantity"] = "70 bags"

    def sent(self) -> list[Any]:
        """The changesets that wait to be sent."""
        return [edit.changeset for one in self.store.unsent() for edit in one.edits]

    def old(self, section: str = "customer", group: str = "points") -> list[Any]:
        parts = [changeset[section] for changeset in self.sent()]
        return [row[group]["old"] for part in parts for row in (part if isinstance(part, list) else [part])]

    def edit(self, record_id: Any, base: Any, resource: str = "shoppers") -> None:
        with self.store.edit(resource, record_id, base=base) as s:
            s.customer.points = 99

    # Two of a kind

    def test_two_creations_of_one_push(self) -> None:
        with self.store.transaction() as t:
            first, second = t.create("shoppers"), t.create("shoppers")
            first.customer.firstName, second.customer.firstName = "Kim", "Lee"
        bases = [self.store.record("shoppers", one.id) for one in (first, second)]
        forms = [self.store.draft("shoppers", one.id) for one in (first, second)]
        self.answer(first.id, second.id)
        for new, base in zip((first, second), bases):
            self.edit(new.id, base)
        self.assertEqual(self.old(), [1, 2])
        for form in forms:
            form.record.customer.points = 50
            form.save()
        self.assertEqual(self.old(), [1, 2, 1, 2])

    def test_items_and_their_record_in_one_push(self) -> None:
        new = self.create("Rice", "Salt")
        base = self.store.record("shoppers", new.id)
        form = self.store.draft("shoppers", new.id)
        self.answer(new.id)
        for edit in (self.store.edit("shoppers", new.id, base=base), form):
            with edit as s:
                record = s.record if s is form else s
                for item in record.groceries:
                    item.quantity = "9 bags"
                record.customer.points += 1
                form.save() if s is form else None
        items = [{one["item"]["old"]["quantity"] for one in changeset["groceries"]} for changeset in self.sent()]
        self.assertEqual((self.old(), items), ([1, 1], [{"2 bags", "3 bags"}] * 2))

    def test_items_of_a_record_that_exists(self) -> None:
        with self.store.edit("shoppers", 123) as s:
            s.groceries += [{"name": "Rice"}, {"name": "Salt"}]
        base = self.store.record("shoppers", 123)
        form = self.store.draft("shoppers", 123)
        self.answer(123)
        with self.store.edit("shoppers", 123, base=base) as s:
            s.groceries[2].quantity = s.groceries[3].quantity = "9 bags"
        form.record.groceries[3].quantity = "8 bags"
        form.save()
        old = [one["quantity"] for one in self.old("groceries", "item")]
        self.assertEqual(old, ["1 bags", "2 bags", "2 bags"])

    def test_creations_that_find_one_record_at_different_times(self) -> None:
        bases, ids = [], []
        for points in (5, 7):
            record = self.server.get("shoppers", 123)
            record["customer"]["points"] = points
            self.server.put("shoppers", 123, record)
            new = self.create(name=f"Kim {points}")
            bases.append(self.store.record("shoppers", new.id))
            ids.append(new.id)
            self.server._script.append(lambda request: self.found(request, 123))
            self.assertTrue(self.other.sync().ok)
        for record_id, base in zip(ids, bases):
            with self.store.edit("shoppers", record_id, base=base) as s:
                s.customer.points = 99
        self.assertEqual([self.store._model.resolve(one) for one in ids], [123, 123])
        self.assertEqual(self.old(), [5, 7])

    def found(self, request: Any, record_id: int) -> Reply:
        """The creation finds a record with its `identity`."""
        (push,) = json.loads(request.body)["pushes"]
        (edit,) = push["edits"]
        result = {"resource": "shoppers", "id": record_id, "status": "merged", "ids": {edit["id"]: record_id},
                  "record": self.server.get("shoppers", record_id), "outcomes": []}  # fmt: skip
        page = self.server._page({"feed": self.server.feed, "since": self.server.revision})
        return Reply.of({"results": [{"key": push["key"], "status": "merged", "code": 200, "results": [result]}], **page})

    def test_records_of_two_resources_one_of_which_refers_to_the_other(self) -> None:
        with self.store.transaction() as t:
            aisle, new = t.create("aisles"), t.create("shoppers")
            aisle.aisle.name = "Oils"
            new.customer.firstName = "Kim"
            new.groceries.append({"name": "Olive oil", "aisle": aisle.id})
        base = self.store.record("shoppers", new.id)
        self.answer(new.id)
        with self.store.edit("shoppers", new.id, base=base) as s:
            s.groceries[0].aisle = None
            s.customer.points = 99
        (changeset,) = self.sent()
        self.assertEqual(changeset["groceries"][0]["aisle"]["old"], self.other._model.resolve(aisle.id))
        self.assertEqual([one.group for one in self.store.conflicts()], ["points"])

    def test_a_section_that_was_created_after_its_record_was_sent(self) -> None:
        new = self.create()
        self.server.lose_answer()
        self.other.sync()
        with self.store.edit("shoppers", new.id) as s:
            s.card = {}
        base = self.store.record("shoppers", new.id)
        form = self.store.draft("shoppers", new.id)
        self.clock.advance(400)
        self.answer(new.id, later=lambda record: record["card"].update(number="other"))
        with self.store.edit("shoppers", new.id, base=base) as s:
            s.card.number = "mine"
        form.record.card.number = "mine too"
        form.save()
        self.assertEqual(self.old("card", "number"), ["card 2"] * 2)

    def test_two_creations_of_one_section(self) -> None:
        with self.store.create("shoppers") as new:
            new.customer.firstName, new.card = "Kim", {}
        base = self.store.record("shoppers", new.id)
        self.answer()
        for card in (None, {}):
            with self.store.edit("shoppers", new.id) as s:
                s.card = card
            self.answer()
        with self.store.edit("shoppers", new.id, base=base) as s:
            s.card.number = "mine"
        self.assertEqual((self.old("card", "number"), self.store.record("shoppers", new.id).card.number), (["card 2"], "mine"))
        self.assertEqual([one.current for one in self.store.conflicts()], ["card 3"])

    # One after the other

    def test_a_creation_that_was_refused_and_sent_again(self) -> None:
        new = self.create("Rice")
        base = self.store.record("shoppers", new.id)
        form = self.store.draft("shoppers", new.id)

        def refuse(request: Any) -> Reply:
            problem = {"code": "check", "title": "check", "status": 422, "retry": False}
            (push,) = json.loads(request.body)["pushes"]
            result = {"key": push["key"], "status": "failed", "code": 422, "results": [], "problem": problem}
            return Reply.of({"results": [result], **self.server._page({})}, 207)

        self.server._script.append(refuse)
        self.other.sync()
        (entry,) = self.store.refused_edits()
        self.assertTrue(entry.resend())
        self.answer(new.id)
        self.edit(new.id, base)
        form.record.groceries[0].quantity = "9 bags"
        form.save()
        self.assertEqual(self.sent()[0]["customer"]["points"]["old"], 1)
        self.assertEqual(self.sent()[1]["groceries"][0]["item"]["old"]["quantity"], "2 bags")

    def test_an_edit_that_is_open_while_the_answer_comes(self) -> None:
        new = self.create("Rice")
        with self.store.edit("shoppers", new.id) as s:
            self.answer(new.id)
            s.customer.points = 99
            s.groceries[0].name = "Brown rice"
        (changeset,) = self.sent()
        self.assertEqual(changeset["customer"]["points"]["old"], 1)
        self.assertEqual(changeset["groceries"][0]["item"], {
            "old": {"name": "Rice", "quantity": "2 bags"}, "new": {"name": "Brown rice", "quantity": "2 bags"}
        })  # fmt: skip

    def test_an_edit_that_was_refused_before_the_answer_and_is_sent_again_after_it(self) -> None:
        new = self.create()
        self.server.lose_answer()
        self.other.sync()
        with self.store.edit("shoppers", new.id) as s:
            s.customer.points, s.customer.status = 99, "open"
        rules = copy.deepcopy(RULES)
        rules["version"] = "r2"
        groups = rules["resources"][0]["sections"][0]["groups"]
        groups[:] = [one for one in groups if one["group"] != "status"]
        self.rules(rules)
        (entry,) = self.store.refused_edits()
        self.assertEqual(entry.problem["code"], "field-removed")
        self.clock.advance(400)
        self.answer(new.id)
        self.rules({**RULES, "version": "r3"})
        (entry,) = self.store.refused_edits()
        self.assertTrue(entry.resend())
        self.assertEqual(self.old(), [1])

    def rules(self, rules: Any) -> None:
        self.server.change_rules(rules)
        self.other._model.store_rules(json.dumps(rules))

    def test_a_form_of_a_record_with_a_key_of_its_own(self) -> None:
        def create(customer: int) -> fieldmerge.forms.RecordDraft:
            with self.store.create("orders", "A1") as order:
                order.order.customer = customer
            return self.store.draft("orders", "A1")

        form = create(1)
        self.answer("A1", resource="orders", later=lambda record: record["order"].update(note="later"))
        form.record.order.note = "mine"
        form.save()
        self.assertEqual(self.old("order", "note"), ["note 1"])
        self.store.unsent()[0].discard()
        self.store.delete("orders", "A1")
        self.answer()
        form = create(2)
        self.assertIsNone(form.base.order.note)
        form._overtaken()
        self.assertIsNone(form.base.order.note, "the answer to the first creation is not that to the second one")
        self.answer("A1", resource="orders", later=lambda record: record["order"].update(note="later"))
        form.record.order.note = "mine"
        form.save()
        self.assertEqual(self.old("order", "note"), ["note 2"])

    def test_a_creation_that_a_snapshot_shows_and_that_has_no_answer(self) -> None:
        with self.store.create("orders", "A1"):
            pass
        form = self.store.draft("orders", "A1")
        for _ in range(2):
            (push,) = self.store._model.freeze(is_single=False)
        with self.store.edit("orders", "A1") as s:
            s.order.note = "behind"
        self.store._model.note_other_history(push)
        for note, customer in (("none", 1), ("later", 2)):
            self.server.put("orders", "A1", {"id": "A1", "order": {"note": note, "customer": customer}})
            self.assertIsNotNone(self.store._synchronizer._pull())
        self.assertEqual(self.old("order", "note"), ["none"])
        form.record.order.customer = 3
        form.save()
        self.assertEqual(self.sent()[-1]["order"]["customer"], {"old": 1, "new": 3})

    def test_values_stay_what_the_app_has_set(self) -> None:
        with self.store.create("shoppers") as new:
            new.customer.firstName, new.customer.points, new.customer.lastName = "Kim", 4, None
        base = self.store.record("shoppers", new.id)
        form = self.store.draft("shoppers", new.id)
        form.record.customer.street = "2 Low St"
        self.answer(new.id, later=lambda record: record["customer"].update(lastName="Moore"))
        self.edit(new.id, base)
        form.record.customer.lastName = "Hill"
        form.save()
        first, second = (changeset["customer"] for changeset in self.sent())
        self.assertEqual(first, {"points": {"old": 4, "new": 99}})
        self.assertEqual(second["lastName"], {"old": None, "new": "Hill"})
        self.assertEqual(second["address"]["new"]["street"], "2 Low St")

    def test_a_null_that_the_app_has_set_is_seen(self) -> None:
        with self.store.edit("shoppers", 123) as s:
            s.groceries.append({"name": "Rice", "quantity": None})
        base = self.store.record("shoppers", 123)
        self.answer()
        with self.store.edit("shoppers", 123, base=base) as s:
            s.groceries[2].quantity = "9 bags"
        self.assertEqual(self.old("groceries", "item"), [{"name": "Rice", "quantity": None}])
        self.assertEqual([one.current["quantity"] for one in self.store.conflicts()], ["1 bags"])

    def test_a_null_that_a_later_edit_has_set_is_seen(self) -> None:
        new = self.behind(
            lambda s: self.quantity(s, "7"),
            lambda s: self.quantity(s, None),
            lambda s: setattr(s.groceries[0], "name", "Brown rice"),
        )
        self.answer()
        (item,) = self.store.record("shoppers", new.id).groceries
        self.assertEqual((item.name, item.quantity), ("Brown rice", None))
        new = self.behind(lambda s: self.quantity(s, "7"), lambda s: self.quantity(s, None))
        base, form = self.store.record("shoppers", new.id), self.store.draft("shoppers", new.id)
        with self.store.edit("shoppers", new.id) as s:
            self.answer()
            s.groceries[0].name = "Open"
        self.answer()
        form.record.groceries[0].quantity = "8 bags"
        form.save()
        with self.store.edit("shoppers", new.id, base=base) as s:
            s.groceries[0].quantity = "9 bags"
        self.assertEqual([one["quantity"] for one in self.old("groceries", "item")], [None, None])
        self.answer()
        self.assertEqual([one.current["quantity"] for one in self.store.conflicts()], [None, "8 bags"])

    def quantity(self, record: Any, value: Any) -> None:
        record.groceries[0].quantity = value

    def behind(self, *steps: Any) -> Any:
        """A new record with an item and a card, and edits of it, in separate pushes."""
        with self.store.transaction() as t:
            new = t.create("shoppers")
            new.customer.firstName, new.card, new.groceries = "Kim", {}, [{"name": "Rice"}]
        for number, step in enumerate(steps):
            with self.store.transaction() as t:
                step(t.edit("shoppers", new.id))
                t.create("shoppers").customer.firstName = f"Beside {number}"
        return new

    def test_two_creations_of_one_section_while_the_first_is_under_way(self) -> None:
        def card(value: Any) -> Any:
            return lambda s: setattr(s, "card", value)

        new = self.behind(card(None), card({}))
        base, form = self.store.record("shoppers", new.id), self.store.draft("shoppers", new.id)
        self.answer()
        number = self.store.record("shoppers", new.id).card.number
        form.record.card.number = "mine"
        form.save()
        self.assertEqual(self.old("card", "number"), [number])
        self.store.unsent()[0].discard()
        with self.store.edit("shoppers", new.id, base=base) as s:
            s.card.number = "mine too"
        self.assertEqual(self.old("card", "number"), [number])

    def test_a_field_that_has_another_name_since(self) -> None:
        new = self.create()
        base = self.store.record("shoppers", new.id)
        form = self.store.draft("shoppers", new.id)
        with self.store.edit("shoppers", new.id) as open_edit:
            self.answer(new.id)
            rules = copy.deepcopy(RULES)
            rules["version"], rules["resources"][0]["shape"] = "r2", "s2"
            for group in rules["resources"][0]["sections"][0]["groups"]:
                if group["group"] == "points":
                    group["fields"][0].update(field="score", formerly=["points"])
                    group.update(group="score", formerly=["points"])
            self.server.change_rules(rules)
            for record in self.server.records.values():
                if "customer" in record and "points" in record["customer"]:
                    record["customer"]["score"] = record["customer"].pop("points")
            self.other.sync()
            self.clock.advance(400)
            self.assertTrue(self.other.sync().ok)
            open_edit.customer.points = 97
        form.record.customer.points = 98
        form.save()
        with self.store.edit("shoppers", new.id, base=base) as s:
            s.customer.score = 99
        self.assertEqual(self.old(group="score"), [1, 1, 1])

    def test_walks(self) -> None:
        """One edit of each new record that was begun before the answer to its creation, in any order of answers, losses,
        restarts and changes of other clients: its `old` is the value in the answer."""
        self.seen = 0
        for seed in seeds(15):
            with self.subTest(seed=seed):
                self.setUp()
                self.walk(random.Random(seed))
        self.assertGreater(self.seen, 0)

    def walk(self, dice: random.Random) -> None:
        begun: list[tuple[Any, Any]] = []
        for _ in range(25):
            act = dice.choice(["create", "create", "sync", "sync", "lose", "none", "theirs", "end", "end", "restart"])
            if act == "create":
                with self.store.transaction() as t:
                    made = [t.create("shoppers") for _ in range(dice.randint(1, 2))]
                    for new in made:
                        new.customer.firstName = "Kim"
                begun += [(new.id, self.begin(new.id, dice)) for new in made]
            elif act == "sync":
                dice.choice([self.store, self.other]).sync()
                self.clock.advance(400)
            elif act == "lose":
                self.server.lose_answer()
            elif act == "none":
                self.server.no_network()
            elif act == "theirs":
                for real in self.server.first:
                    self.later(record := self.server.get("shoppers", real))
                    self.server.put("shoppers", real, record)
            elif act == "end" and begun:
                self.end(*begun.pop(dice.randrange(len(begun))), dice)
            elif act == "restart":
                kept = [(one, of) for one, of in begun if not isinstance(of, fieldmerge.forms.RecordDraft)]
                begun = kept
                self.store.close()
                self.store = self.open(self.file())
        for one in begun:
            self.end(*one, dice)
        self.server._script.clear()
        for store in (self.store, self.other, self.store):
            self.clock.advance(400)
            self.assertTrue(store.sync().ok)
        self.assertEqual((self.store.status.unsent, self.store.status.refused), (0, 0))
        self.assertEqual([old for _, old in self.server.old], [self.server.first[one] for one, _ in self.server.old])
        self.seen += len(self.server.old)

    def begin(self, record_id: Any, dice: random.Random) -> Any:
        return self.store.draft("shoppers", record_id) if dice.random() < 0.5 else self.store.record("shoppers", record_id)

    def end(self, record_id: Any, begun: Any, dice: random.Random) -> None:
        if isinstance(begun, fieldmerge.forms.RecordDraft):
            begun.record.customer.points = 99
            begun.save()
            return
        with self.store.edit("shoppers", record_id, base=begun if dice.random() < 0.7 else None) as s:
            if s.customer.points is None and dice.random() < 0.5:
                self.other.sync()  # the answer comes while the edit is open
                self.clock.advance(400)
            if s.customer.points in (None, self.server.first.get(self.store._model.resolve(record_id))):
                s.customer.points = 99


if __name__ == "__main__":
    unittest.main()
