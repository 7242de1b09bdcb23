"""The MariaDB server of all histories, with the outages that a history injects."""

import signal
import subprocess

from processes import MariaDB


class Server(MariaDB):
    """It writes a binary log, which gateways may read."""

    SETTINGS = [setting for setting in MariaDB.SETTINGS if setting != "--skip-log-bin"] + [
        "--log-bin=log", "--binlog-format=ROW", "--server-id=7"]

    def stall(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self, gently: bool) -> None:
        self.process.send_signal(signal.SIGTERM if gently else signal.SIGKILL)
        self.process.wait()

    def begin_again(self) -> None:
        arguments = self.process.args
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.answers)

    def recover(self) -> None:
        """Ends an outage that a history left."""
        self.resume()
        if self.process.poll() is not None:
            self.begin_again()
