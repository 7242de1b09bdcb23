"""The cases of queries and live queries that all clients share, with and without indexes."""

from __future__ import annotations

import random
import re
import unittest
from decimal import Decimal
from typing import Any

from support import cases
from test_model import Device, run_case

from fieldmerge.queries.keys import id_key, number
from fieldmerge.queries.query import encoded

QUERIES = cases("queries.json")


class QueryDevice(Device):
    """A device with the steps of queries."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        self.results: dict[str, Any] = {}
        self.lives: dict[str, Any] = {}
        self.calls: dict[str, int] = {}
        super().__init__(*positional, **named)
        self.store._worker.settle()  # the indexes are built

    def query_of(self, step: dict[str, Any]) -> dict[str, Any]:
        query = dict(self.known(step["query"]))
        if "after" in step:
            query["after"] = self.results[step["after"]].next
        return query

    def do_query(self, step: dict[str, Any]) -> None:
        query = self.query_of(step)
        if "wher" in query:  # a misspelled name of an argument
            with self.test.assertRaises(TypeError):
                self.store.query(step["resource"], **query)
            return
        with self.failing(step):
            found = self.store.query(step["resource"], **query)
            self.expect(step["ids"], [record.id for record in found])
            if "followed" in step:
                self.expect(step["followed"], _followed_ids(found))
            if "next" in step:
                self.test.assertEqual(found.next is not None, step["next"])
            if "count" in step:
                conditions = {name: query[name] for name in ("where", "search") if name in query}
                self.test.assertEqual(self.store.count(step["resource"], **conditions), step["count"])
            if "as" in step:
                self.results[step["as"]] = found
            return
        self.test.assertIn("error", step)

    def do_live(self, step: dict[str, Any]) -> None:
        live = self.lives[step["as"]] = self.store.live(step["resource"], **self.query_of(step))
        self.calls[step["as"]] = 0

        def call(value: Any) -> None:
            self.calls[step["as"]] += 1

        live.subscribe(call)

    def do_frame(self, step: dict[str, Any]) -> None:
        self.clock.advance(0.05)
        self.store._worker.settle()

    def do_value(self, step: dict[str, Any]) -> None:
        name = step["live"]
        live = self.lives[name]
        self.expect(step["ids"], [record.id for record in live.value])
        if "followed" in step:
            self.expect(step["followed"], _followed_ids(live.value))
        self.test.assertEqual(self.calls[name], step["callbacks"], "callbacks")
        self.calls[name] = 0
        if "next" in step:
            self.test.assertEqual(live.value.next is not None, step["next"])
        if "runs" in step:
            self.test.assertLessEqual(self.store.diagnose()["live"][list(self.lives).index(name)]["runs"], step["runs"])

    def do_close_live(self, step: dict[str, Any]) -> None:
        self.lives[step["live"]].close()


def _followed_ids(result: Any) -> list[Any]:
    return [{name: record and record.id for name, record in one.items()} for one in result.followed]


class QueryTests(unittest.TestCase):
    """Has two tests for each query and case, made below."""


class KeyTests(unittest.TestCase):
    def test_texts_have_the_order_of_values(self) -> None:
        dice = random.Random(1)
        numbers = [Decimal(dice.randrange(-2000, 2000)).scaleb(dice.randrange(-4, 4)) for _ in range(300)]
        self.assertEqual(sorted(numbers), sorted(numbers, key=lambda one: number(str(one)) or ""))
        parts = ["", "\0", "\0\x01", "\0\x02", "a", "a\0", "a\x01", "b", "\ud800", "\uffff", "😀"]
        ids = [[dice.choice(parts), dice.choice(parts)] for _ in range(300)]
        found = sorted(ids, key=lambda one: encoded(id_key(one, ("text", "text"))))
        self.assertEqual(found, sorted(ids))


def _add(name: str, case: dict[str, Any]) -> None:
    for suffix, options in (("", {}), ("_with_indexes", {"indexes": QUERIES["indexes"]})):

        def test(self: QueryTests, options: dict[str, Any] = options) -> None:
            run_case(self, case, QueryDevice, model=QUERIES, search=QUERIES["search"], **options)

        setattr(QueryTests, f"test_{re.sub(r'[^0-9a-z]+', '_', name.lower())}{suffix}", test)


for _query in QUERIES["queries"]:
    _add(f"query {_query['name']}", {"steps": [{"do": "query", **_query}]})
for _case in QUERIES["cases"]:
    _add(_case["name"], _case)


if __name__ == "__main__":
    unittest.main()
