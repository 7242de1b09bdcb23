"""Pushes in batches, each with a request for changes."""

from __future__ import annotations

import json
from typing import Any

from ..changes import Json
from ..model import Frozen
from ..transport import Answer
from .downloads import Downloads, is_page
from .outcomes import kind_of, problem_of_request, refuses, store_result, wrote_nothing

FIRST_BATCH = 64_000
SMALLEST_BATCH = 1_000

Asked = tuple["str | None", "int | None"]
"""Feed and revision from which changes were requested; `None` for both if none were."""


class Pushing(Downloads):
    """Sends the small pushes."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._is_single = False
        self._batch_bytes = FIRST_BATCH

    def _push(self) -> str:
        refusal = self._read_due_rules()
        if refusal is None and self.model.stale() and not self.model.has_unsent():
            refusal = self._refresh()
        if refusal is not None:
            return refusal
        batch = self.model.freeze(is_single=self._is_single, budget=self._batch_bytes)
        pushes = [push for push in batch if not push.is_kept]
        if not pushes:
            return self._lost("the store cannot be written") if self.model.has_unsent() else "answer.settled"
        keeps_nothing = self.model.resources is not None and not self.model.asked()
        is_due = self.model.difference() is not None
        has_place = not (self._is_single or keeps_nothing or is_due or self.model.stale())
        asked: Asked = self.model.place() if has_place else (None, None)
        self._noted.clear()
        shows = self.model.kept_above()
        answer = self._send_batch(sync_body(self._place_members(asked), batch))
        page = answer.json
        if answer.status not in (200, 207):
            return self._push_refused(answer, batch, pushes)
        if not isinstance(page, dict) or not isinstance(page.get("results"), list):
            return self._lost("the answer is not that of a gateway")
        self._fresh_after = None
        self._is_single = False
        return self._take_answer(pushes, page, asked, shows)

    def _send_batch(self, body: bytes) -> Answer:
        """Sends a batch. The next one is twice as large after an answer, and half as large if none comes."""
        try:
            answer = self.requests.ask("POST", "/v1/sync?by=true", body=body)
        except OSError:
            self._batch_bytes = max(SMALLEST_BATCH, self._batch_bytes // 2)
            raise
        if answer.status in (200, 207):
            limits = self.model.rules.limits if self.model.rules else {}
            self._batch_bytes = min(self._batch_bytes * 2, limits.get("body", 1 << 20))
        elif answer.status == 408:
            self._batch_bytes = max(SMALLEST_BATCH, self._batch_bytes // 2)
        return answer

    def _place_members(self, asked: Asked) -> Json:
        if asked[0] is None:
            return {}
        members: Json = {"feed": asked[0], "since": asked[1]}
        if self.model.resources is not None:
            members["resources"] = self.model.asked()
        subset = self.model.feed_filter()
        if subset is not None:
            members["filter"] = json.loads(subset)
        return members

    def _push_refused(self, answer: Answer, batch: list[Frozen], pushes: list[Frozen]) -> str:
        if wrote_nothing(answer):
            self.model.nothing_written(pushes)
        if refuses(answer):
            self._fresh_after = None
            if len(pushes) > 1 or not self._is_single:
                return "answer.tooLarge"
            if len(batch) > len(pushes) and not self.model.is_in_doubt():
                # The push itself is not too large, but the bytes that must be repeated before it are.
                self.model.thaw(pushes[0])
                return "answer.settled"
            self.model.refuse(pushes[0], problem_of_request(answer), [])
            self._report.refused += 1
            self._last_more = True
            return "answer.settled"
        if answer.status == 410:
            return "answer.resync"
        return self._refusal(answer)

    def _take_answer(self, pushes: list[Frozen], page: Json, asked: Asked, shows: list[int]) -> str:
        by_key = {result.get("key"): result for result in page["results"] if isinstance(result, dict)}
        waiting: list[Frozen] = []
        kinds = set()
        for push in pushes:
            result = by_key.get(push.key)
            if kind_of(result) == "refused" and self.model.builds_on(push, waiting):
                self.model.thaw(push)  # the rows that it uses have no answer yet
                waiting.append(push)
                continue
            kind = store_result(self.model, push, result, self._report)
            waiting += [push] if kind == "again" else []
            kinds.add(kind)
        stored = self._take_page(page, asked, shows)
        if "history" in kinds:
            return "answer.history"
        if "again" in kinds:
            self.situation.problem = self._report.problem
            self._report.error = self._report.error or "a push has to be sent again"
            return "answer.retry"
        if "rules" in kinds or self.model.database.meta("rulesDue"):
            return "answer.rules"
        return stored

    def _take_page(self, page: Json, asked: Asked, shows: list[int]) -> str:
        problem = page.get("problem")
        if asked[0] is None:
            self._last_more = True  # the request was not for changes
            return "answer.settled"
        if page.get("changes") is None:
            if isinstance(problem, dict) and problem.get("status") == 410:
                return "answer.resync"
            self._report.problem = problem
            self._last_more = False
            return "answer.settled"
        if not is_page(page):
            self._last_more = True
            return "answer.settled"
        self._report.changes += self.model.store_page(page, asked=asked, shows=shows)
        self._last_more = bool(page.get("more")) or bool(self.model.database.meta("rulesDue"))
        return "answer.settled"


def sync_body(members: Json, batch: list[Frozen]) -> bytes:
    """Returns the body of `POST /v1/sync`, with the bytes of each push as they are stored."""
    parts = [f"{json.dumps(name)}:{json.dumps(value)}".encode() for name, value in members.items()]
    parts.append(b'"pushes":[' + b",".join(push.body for push in batch) + b"]")
    return b"{" + b",".join(parts) + b"}"
