"""The costs of processes: processor, memory, connections."""

import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def processor(pid: int) -> float:
    """Seconds of processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak(pid: int) -> float:
    """The peak of a process's memory in megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def resident(pid: int) -> float:
    """The memory of a process in megabytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_to(port: int, clients: set) -> set:
    """The ports of clients whose connections the server has not closed."""
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        own, other = (int(fields[place].rpartition(":")[2], 16) for place in (1, 2))
        if own == port and fields[3] == "01" and other in clients:
            found.add(other)
    return found


class Idle:
    """Detects when a process is idle, apart from its regular background work."""

    WINDOW = 0.25

    def __init__(self, pid: int, seconds: float = 1.5):
        self.pid = pid
        before = processor(pid)
        time.sleep(seconds)
        self.baseline = (processor(pid) - before) / seconds

    def wait(self, longest: float) -> float:
        """Returns the last moment at which the process was at work, looked at for so many seconds at most."""
        last = begun = time.monotonic()
        quiet = 0
        while quiet < 3 and time.monotonic() - begun < longest:
            before, start = processor(self.pid), time.monotonic()
            time.sleep(self.WINDOW)
            share = (processor(self.pid) - before) / (time.monotonic() - start)
            if share > self.baseline + 0.1:
                last, quiet = time.monotonic(), 0
            else:
                quiet += 1
        return last
