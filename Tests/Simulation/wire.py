"""HTTP of one client. Every answer is searched for values that the client must not see."""

import http.client
import json
import re
import time

from world import AREAS


def forbidden(world: dict, client: dict):
    """A pattern of the canaries that no answer to this client may contain."""
    if not world["roles"] or client["role"] != "clerk":
        return None
    areas = "".join(str(area) for area in AREAS if area not in client["areas"])
    return re.compile(rf"SECRET-\w*|PIN-\w*|AREA[{areas}]-\w*")


class Caller:
    def __init__(self, place, client: dict, faults):
        self.place, self.client, self.faults = place, client, faults
        self.pattern = forbidden(place.world, client)
        self.connection = self.port = None
        self.headers = {"Authorization": "Bearer " + place.tokens[client["name"]], "Content-Type": "application/json",
                        "X-Device-ID": client["name"]}

    def connect(self, gateway: int) -> None:
        port = self.place.port(gateway)
        if self.connection is None or self.port != port:
            self.close()
            self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=40)
            self.port = port

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None

    def call(self, gateway: int, method: str, path: str, body=None) -> tuple:
        """Status and text. The status is 0 if no answer came."""
        try:
            self.connect(gateway)
            self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
            answer = self.connection.getresponse()
            status, text = answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.close()
            return 0, ""
        self.search(text, f"{method} {path}")
        if status >= 500:
            self.faults.server_error(status, text, f"{method} {path}")
        return status, text

    def call_and_lose(self, gateway: int, method: str, path: str, body, pause: float) -> None:
        """Sends a request and closes the connection before the answer."""
        try:
            self.close()
            self.connect(gateway)
            self.connection.request(method, path, json.dumps(body), self.headers)
            time.sleep(pause)
        except (OSError, http.client.HTTPException):
            pass
        self.close()

    def events(self, gateway: int, path: str, last: str, seconds: float):
        """The events that a stream sends within some seconds, as (name, data)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.place.port(gateway), timeout=seconds)
        end = time.monotonic() + seconds
        try:
            connection.request("GET", path, None, self.headers | {"Accept": "text/event-stream", "Last-Event-ID": last})
            answer = connection.getresponse()
            if answer.status != 200:
                return
            name = ""
            while time.monotonic() < end:
                line = answer.readline().decode()
                if not line:
                    return
                self.search(line, "events")
                if line.startswith("event:"):
                    name = line[6:].strip()
                elif line.startswith("data:"):
                    yield name, json.loads(line[5:])
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()

    def search(self, text: str, where: str) -> None:
        if self.pattern and (found := self.pattern.search(text)):
            begin = max(0, found.start() - 200)
            self.faults.add("disclosure", f"{self.client['name']} was sent {found.group()} by {where}: …{text[begin:found.end() + 100]}")
