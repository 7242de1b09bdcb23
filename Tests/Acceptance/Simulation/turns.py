"""Runs the events of a round in one thread, so that a seed fixes their order.

An event is a generator. It runs to its first `yield` at its moment `at`, and continues at its moment `until`. It yields
a socket if it waits for an answer, and None to let other events run. So several requests are open at once, and each
answer is read at a random moment.
"""

import select
import time

# Seconds that a turn waits for an answer before other events run.
PATIENCE = 0.3
HANG = 150


class Lane:
    """Events of one actor, one after the other."""

    def __init__(self, start):
        self.start = start
        self.waiting, self.steps, self.until, self.socket = [], None, 0.0, None

    @property
    def is_over(self) -> bool:
        return self.steps is None and not self.waiting

    def go(self, now: float, patience: float) -> None:
        """Runs as far as its moment, the answers and the other events permit."""
        while not self.is_over:
            if self.steps is None:
                event = self.waiting.pop(0)
                self.steps, self.until = self.start(event), event["until"]
                self.advance()
            elif now < self.until or self.socket and not select.select([self.socket], [], [], patience)[0]:
                return
            else:
                self.advance()
            if self.steps is not None and self.socket is None and now >= self.until:
                return

    def advance(self) -> None:
        try:
            self.socket = next(self.steps)
        except StopIteration:
            self.steps = self.socket = None


def run(actors: list) -> bool:
    """Runs (start, events) of all actors. False if they did not come to an end."""
    lanes = [(Lane(start), events) for start, events in actors]
    moments = sorted(((event[name], number, place, name == "at") for number, (_, events) in enumerate(lanes)
                      for place, event in enumerate(events) for name in ("at", "until")))
    for now, number, place, is_begin in moments:
        lane, events = lanes[number]
        if is_begin:
            lane.waiting.append(events[place])
        lane.go(now, PATIENCE)
        for other, _ in lanes:
            if other is not lane and other.until <= now:
                other.go(now, 0)
    end = time.monotonic() + HANG
    while left := [lane for lane, _ in lanes if not lane.is_over]:
        for lane in left:
            lane.go(1, 0.02)
        time.sleep(0.005)
        if time.monotonic() > end:
            return False
    return True


def at_once(steps):
    """Runs an event to its end and returns its value. Each answer is awaited."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
