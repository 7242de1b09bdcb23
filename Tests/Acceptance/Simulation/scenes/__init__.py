"""Scenes: short scripts that run after the last round of a history.

A scene sets up a situation that random events rarely cause. It has separate tables and rules.
"""

import random

from . import broken, clock, crossing, entries, held, killed, large, overlap, unscanned, unwritable

BOTH, MARIADB = ("mariadb", "sqlite"), ("mariadb",)
ALL = {
    "broken": (broken.run, MARIADB),
    "clock": (clock.run, BOTH),
    "crossing": (crossing.run, BOTH),
    "entries": (entries.run, BOTH),
    "held": (held.run, MARIADB),
    "killed": (killed.run, BOTH),
    "large": (large.run, BOTH),
    "overlap": (overlap.run, MARIADB),
    "unscanned": (unscanned.run, BOTH),
    "unwritable": (unwritable.run, MARIADB),
}
DRAWN = 3


def draw(seed: int, engine: str) -> list:
    """Chooses the scenes in turn. A search for mutants alternates between the engines, so an engine gets each second
    seed."""
    names = [name for name, (_, engines) in ALL.items() if engine in engines]
    picked = [names[(seed // 2 * DRAWN + number) % len(names)] for number in range(DRAWN)]
    return [{"do": name, "seed": random.Random(f"{seed}-{name}").getrandbits(32)} for name in picked]


def run(events: list, stage) -> None:
    for event in events:
        stage.begin(event)
        ALL[event["do"]][0](stage)
        if stage.faults.found:
            return
