"""HTTP of one client. Each answer is searched for values that the client must not read."""

import http.client
import json


class Caller:
    """Its calls are steps of an event (turns.py): they yield until the answer arrives."""

    def __init__(self, place, client: dict, faults):
        self.place, self.client, self.faults = place, client, faults
        self.connection = self.port = None
        self.headers = {"Authorization": "Bearer " + place.tokens.secrets[client["name"]], "Content-Type": "application/json",
                        "X-Device-ID": client["name"]}

    def connect(self, gateway: int) -> None:
        port = self.place.port(gateway)
        if self.connection is None or self.port != port:
            self.close()
            self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            self.port = port

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None

    def call(self, gateway: int, method: str, path: str, body=None):
        """Status and text. The status is 0 if no answer came."""
        try:
            self.connect(gateway)
            self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
            yield self.connection.sock
            answer = self.connection.getresponse()
            status, text = answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as fault:
            self.place.trace(self.client["name"], gateway, method, path, body, 0, repr(fault))
            self.close()
            return 0, ""
        self.place.trace(self.client["name"], gateway, method, path, body, status, text)
        self.search(text, f"{method} {path}")
        if status >= 500:
            self.faults.server_error(status, text, f"{method} {path}")
        return status, text

    def call_and_lose(self, gateway: int, method: str, path: str, body=None):
        """Sends a request and closes the connection before the answer."""
        try:
            self.close()
            self.connect(gateway)
            self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
            yield None
        except (OSError, http.client.HTTPException):
            pass
        self.close()

    def events(self, gateway: int, path: str, last: str):
        """The events of a stream that is open until the end of the event, as (name, data)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.place.port(gateway), timeout=20)
        found, name = [], ""
        try:
            connection.request("GET", path, None, self.headers | {"Accept": "text/event-stream", "Last-Event-ID": last})
            yield connection.sock
            answer = connection.getresponse()
            if answer.status != 200:
                return found
            connection.sock.settimeout(0.3)
            while line := answer.readline().decode():
                self.search(line, "events")
                if line.startswith("event:"):
                    name = line[6:].strip()
                elif line.startswith("data:"):
                    found.append((name, json.loads(line[5:])))
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            connection.close()
        return found

    def search(self, text: str, where: str) -> None:
        pattern = self.place.tokens.forbidden(self.client["name"])
        if pattern and (found := pattern.search(text)):
            begin = max(0, found.start() - 200)
            self.faults.add("disclosure", f"{self.client['name']} was sent {found.group()} by {where}: …{text[begin:found.end() + 100]}")
