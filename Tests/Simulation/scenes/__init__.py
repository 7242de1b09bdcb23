"""Scenes: short scripts that run after the last round of a history.

A scene sets up a situation that random events meet too rarely. It has its own tables and rules.
"""

from . import broken, clock, crossing, large, overlap, unwritable

ENGINES = ("mariadb", "sqlite")
ALL = {
    "broken": (broken.run, ("mariadb",)),
    "clock": (clock.run, ENGINES),
    "crossing": (crossing.run, ("mariadb",)),
    "large": (large.run, ENGINES),
    "overlap": (overlap.run, ("mariadb",)),
    "unwritable": (unwritable.run, ("mariadb",)),
}
DRAWN = 3


def draw(random, engine: str) -> list:
    names = [name for name, (_, engines) in ALL.items() if engine in engines]
    return [{"do": name, "seed": random.getrandbits(32)} for name in random.sample(names, min(DRAWN, len(names)))]


def run(events: list, stage) -> None:
    for event in events:
        stage.begin(event)
        ALL[event["do"]][0](stage)
        if stage.faults.found:
            return
