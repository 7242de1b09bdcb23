"""The problems of the contract, each with the action of a client."""

from __future__ import annotations

import unittest

from support import cases

from fieldmerge.syncing import outcomes

PROBLEMS = cases("contract.json")["problems"]
KINDS = {"refuse": "refused", "send-again": "again", "build-again": "rules", "read-again": "history", "check-key": "reused"}


class ContractTests(unittest.TestCase):
    def test_each_problem_of_a_push_has_its_action(self) -> None:
        for problem in PROBLEMS:
            kind = KINDS.get(problem["client"])
            if kind is None:
                continue
            told = {"code": problem["code"], "status": problem["status"], "retry": kind == "again"}
            result = {"status": "failed", "code": problem["status"], "problem": told, "results": []}
            self.assertEqual(outcomes.kind_of(result), kind, problem["code"])

    def test_problems_of_the_request_refuse_no_push(self) -> None:
        wait = {problem["code"] for problem in PROBLEMS if problem["client"] == "wait"}
        self.assertEqual(outcomes.NOT_ABOUT_THE_PUSH, wait)
        again = {problem["code"] for problem in PROBLEMS if problem["client"] == "send-again"}
        self.assertLessEqual(outcomes.RETRY_CODES, again)
