"""The few requests that a thin client makes of a FieldMerge gateway."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

Json = dict[str, Any]

ATTEMPTS = 3
TIMEOUT_SECONDS = 30


class GatewayError(Exception):
    """The gateway refused a request, or could not be reached."""


@dataclass(frozen=True)
class Section:
    """A section of a record, with the fields of each of its groups."""

    name: str
    is_list: bool
    groups: dict[str, tuple[str, ...]]


class Gateway:
    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url.rstrip("/")
        self._token = token

    def layout(self, resource: str) -> list[Section]:
        """The sections of a resource, the root first, as the gateway's rules describe them."""
        for described in self._send("GET", "/v1/rules")["resources"]:
            if described["resource"] == resource:
                return [_section(section) for section in described["sections"]]
        raise GatewayError(f"the gateway has no resource named {resource}")

    def read(self, resource: str, record_id: int | str) -> Json:
        return self._send("GET", f"/v1/records/{quote(resource)}/{quote(str(record_id), safe='')}")

    def merge(self, resource: str, edit: Json) -> Json:
        """Sends one edit and answers its result, merged or not."""
        # The key makes it safe to send the edit again when no answer came back.
        return self._send("POST", f"/v1/merge/{quote(resource)}", edit, key=str(uuid.uuid4()))

    def records(self, resource: str) -> Iterator[Json]:
        """All records of a resource, page by page."""
        after = ""
        while True:
            page = self._send("GET", f"/v1/records/{quote(resource)}?limit=500{after}")
            yield from page["records"]
            if page["next"] is None:
                return
            after = f"&after={page['next']}"

    def snapshot(self) -> Iterator[Json]:
        """The lines of a snapshot, one after the other."""
        request = Request(self._url + "/v1/snapshot")
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as reply:
                for line in reply:
                    yield json.loads(line)
        except HTTPError as error:
            raise GatewayError(_sentence(error.code, _object(error.read()))) from error
        except OSError as error:
            raise GatewayError(f"no answer from {self._url}: {error}") from error

    def sync(self, body: Json) -> Json:
        """Sends pushes, and asks for what has changed; each push has a key, so it may be sent again."""
        return self._send("POST", "/v1/sync", body)

    def _send(self, method: str, path: str, body: Json | None = None, key: str = "") -> Json:
        headers = {"Accept": "application/json, application/problem+json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if key:
            headers["Idempotency-Key"] = key
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._url + path, data, headers, method=method)

        attempt = 1
        while True:
            try:
                with urlopen(request, timeout=TIMEOUT_SECONDS) as reply:
                    return _object(reply.read())
            except HTTPError as error:
                answer = _object(error.read())
                if error.headers.get_content_type() == "application/json":
                    return answer  # the result of a push that was not merged
                raise GatewayError(_sentence(error.code, answer)) from error
            except OSError as error:
                if attempt == ATTEMPTS:
                    reason = error.reason if isinstance(error, URLError) else error
                    raise GatewayError(f"no answer from {self._url}: {reason}") from error
                attempt += 1


def _section(described: Json) -> Section:
    groups = {
        group["group"]: tuple(field["field"] for field in group["fields"])
        for group in described["groups"]
    }
    return Section(described["section"], described["kind"] == "list", groups)


def _object(body: bytes) -> Json:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _sentence(status: int, problem: Json) -> str:
    sentence = f"{status} {problem.get('title', '')}".rstrip()
    if detail := problem.get("detail"):
        sentence += f": {detail}"
    return f"{sentence} ({problem['path']})" if "path" in problem else sentence
