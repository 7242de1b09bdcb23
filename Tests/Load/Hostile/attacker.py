"""The hostile client, in a separate process and limited to half a processor.

After each request it pauses for the time of the request, from the first byte sent to the answer read. So the gateway
works for it half of the time at most. Simultaneous requests may use two processors, so after them it pauses three times
as long. If connections are kept open, each opening is a request.
"""

import itertools
import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor

from attacks import ATTACKS, Attack, Holding
from watch import open_to
from wire import Sender


class Attacker:
    """An attack that continues until it is ended, then once more alone."""

    def __init__(self, name: str, port: int, token: str):
        self.ready, self.go, self.round, self.end, self.last = (multiprocessing.Event() for _ in range(5))
        self.out = multiprocessing.Queue()
        self.process = multiprocessing.Process(
            target=work, daemon=True,
            args=(name, Sender(port, token), self.ready, self.go, self.round, self.end, self.last, self.out))
        self.process.start()

    def drop(self) -> None:
        self.process.kill()
        self.process.join()

    def result(self) -> dict:
        found = self.out.get(timeout=200)
        if "fault" in found:
            raise RuntimeError(found["fault"])
        return found


def work(name: str, sender: Sender, ready, go, round, end, last, out) -> None:
    try:
        attack = ATTACKS[name]
        if isinstance(attack, Holding):
            hold(attack, sender, ready, go, round, end, out)
        else:
            strike(attack, sender, ready, go, round, end, last, out)
    except Exception as fault:  # reported by the main process
        ready.set()
        round.set()
        out.put({"fault": f"{name}: {type(fault).__name__}: {fault}"})


def strike(attack: Attack, sender: Sender, ready, go, round, end, last, out) -> None:
    strokes = attack.make(sender)
    pool = ThreadPoolExecutor(attack.at_once)
    finished, statuses = [], {}
    places = itertools.cycle(range(len(strokes)))

    def one(place: int) -> None:
        begun = time.monotonic()
        status = strokes[place]()
        finished.append((time.monotonic() - begun, place))
        statuses[status] = statuses.get(status, 0) + 1

    ready.set()
    go.wait()
    while True:
        begun = time.monotonic()
        list(pool.map(one, itertools.islice(places, attack.at_once)))
        taken = time.monotonic() - begun
        if len(finished) >= len(strokes):
            round.set()
        if end.wait(taken * (3 if attack.at_once > 1 else 1)):
            break
    times = [taken for taken, _ in finished]
    # The slowest once more, alone.
    slowest = strokes[max(finished)[1]]
    last.wait()
    begun = time.monotonic()
    out.put({"begun": begun})
    slowest()
    out.put({"statuses": statuses, "longest": max(times), "alone": time.monotonic() - begun, "strokes": len(times)})


def hold(attack: Holding, sender: Sender, ready, go, round, end, out) -> None:
    held, closed = {}, []
    opened = 0
    if attack.prepare:
        attack.prepare(sender)
    ready.set()
    go.wait()
    round.set()
    while True:
        begun = time.monotonic()
        alive = open_to(sender.port, set(held))
        for port in [port for port in held if port not in alive]:
            connection, since = held.pop(port)
            closed.append(time.monotonic() - since)
            connection.close()
        while len(held) < attack.count and not end.is_set() and time.monotonic() - begun < 1:
            stroke = time.monotonic()
            connection = attack.open(sender)
            since = time.monotonic()
            held[connection.getsockname()[1]] = (connection, since)
            opened += 1
            end.wait(since - stroke)
        if attack.drip:
            for connection, _ in held.values():
                try:
                    connection.send(attack.drip)
                except OSError:
                    pass  # closed, as the next look finds
        if end.wait(0.2):
            break
    now = time.monotonic()
    ages = closed + [now - since for _, since in held.values()]
    for connection, _ in held.values():
        connection.close()
    out.put({"begun": now})
    out.put({"statuses": {"opened": opened, "closed": len(closed)}, "longest": max(ages), "alone": 0.0, "strokes": opened})
