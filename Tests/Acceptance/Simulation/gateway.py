"""One gateway of a history."""

import http.client
import os
import socket
from pathlib import Path

from processes import BenchmarkError, Process


class Gateway(Process):
    def __init__(self, arguments: list, log: Path):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        super().__init__([*arguments, "--listen", f"127.0.0.1:{self.port}"], log)
        self.ready = ""
        try:
            self.wait_until(self.is_ready)
        except BenchmarkError as error:
            raise BenchmarkError(f"/readyz was answered {self.ready}; {error}") from None

    def is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            self.ready = f"{answer.status} {answer.read().decode()}"
            return answer.status == 200
        except OSError:
            return False
        finally:
            connection.close()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
