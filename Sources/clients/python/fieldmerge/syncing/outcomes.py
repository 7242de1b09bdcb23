"""The meaning of the gateway's answers to pushes, and their storage."""

from __future__ import annotations

from ..changes import Json
from ..model import Frozen, Model
from ..model.parts import outcome_unknown
from ..transport import Answer
from .report import Report

RETRY_CODES = {"in-progress", "not-run", "busy", "over-rate", "over-journal", "unknown-outcome"}
NOT_ABOUT_THE_PUSH = {
    "strange-host",
    "strange-origin",
    "malformed-request",
    "not-utf8",
    "unknown-query",
    "duplicate-query",
    "http",
}


def store_result(model: Model, push: Frozen, result: Json | None, report: Report) -> str:
    """Stores the result of a push; returns `settled`, `refused`, `rules`, `history` or `again`."""
    kind = kind_of(result)
    if result is None:
        return kind
    problem, results = _problem_of(result), result.get("results") or []
    if kind == "reused":
        # If the bytes differ in more than the time, edits have joined the push after it was sent.
        kind = "again" if model.drop_time(push) else "refused"
        problem, results = outcome_unknown(), []
    if kind == "again":
        if result.get("code") in (429, 503):
            # The gateway has searched for the key, and runs the push when it is sent again.
            model.nothing_written([push])
        report.problem = result.get("problem")
    elif kind == "rules":
        model.thaw(push)
    elif kind == "history":
        model.note_other_history(push)
    elif kind == "settled":
        report.merged += 1
        report.conflicts += sum(
            bool(outcome.get("conflict")) for one in result["results"] for outcome in one.get("outcomes") or []
        )
        model.settle(push, result["results"])
    else:
        report.refused += 1
        model.refuse(push, problem, results)
    return kind


def wrote_nothing(answer: Answer) -> bool:
    """Returns whether the answer to a request reports that nothing of it was written."""
    return answer.status in (401, 426, 429, 503) or answer.status in (400, 403, 413, 422) and answer.problem is not None


def refuses(answer: Answer) -> bool:
    """Returns whether the answer to a whole request is about the pushes in it, and final."""
    problem = answer.problem
    if answer.status == 413:
        return True  # of a proxy as well: it is about the length
    if answer.status not in (400, 403, 422) or problem is None:
        return False
    return problem["code"] not in NOT_ABOUT_THE_PUSH and problem.get("retry") is not True


def problem_of_request(answer: Answer) -> Json:
    """Returns the problem of a push that was refused with its whole request."""
    return answer.problem or {"code": "too-large", "title": "Too large", "status": 413, "retry": False}


def _problem_of(result: Json) -> Json:
    problem = result.get("problem")
    if isinstance(problem, dict):
        return problem
    for one in result.get("results") or []:
        if isinstance(one.get("problem"), dict):
            return dict(one["problem"])
    return {"code": "refused", "title": "Refused", "status": result.get("code"), "retry": False}


def kind_of(result: Json | None) -> str:
    """Returns the meaning of the answer to a push: `settled`, `refused`, `rules`, `history`, `reused` or `again`."""
    if result is None:
        return "again"
    status, code = result.get("status"), result.get("code")
    results = result.get("results") or []
    if status in ("merged", "partial") and results:
        return "settled"
    problems = [one for one in [result.get("problem"), *(each.get("problem") for each in results)] if one]
    if any(one.get("code") == "rules-changed" for one in problems):
        return "rules"
    if any(one.get("code") == "history-changed" for one in problems):
        return "history"
    if any(one.get("code") == "key-reused" for one in problems):
        return "reused"
    if any(one.get("retry") is True or one.get("code") in RETRY_CODES for one in problems):
        return "again"
    if code in (429, 503, 504):
        return "again"
    if status == "rejected" or code in (400, 403, 413) or any(one.get("retry") is False for one in problems):
        return "refused"
    return "again"

