"""The clock jumps ahead by more days than keys are kept. An old key still has its answer.

All times in the journal move back instead. Compared with the clock, that is the same.
"""

import sqlite3

DAYS = 40


def run(stage) -> None:
    name, key = stage.open(1), f"clock-{stage.serial}"
    first = stage.push_to_end(0, [stage.addition(name, 1)], key)
    for gateway in stage.place.gateways:
        gateway.stop()
    move_back(stage.engine)
    before = pruned(stage.engine)
    stage.place.start()
    if stage.wait(lambda: pruned(stage.engine) != before, "pruning the journal"):
        again = stage.push_to_end(0, [stage.addition(name, 1)], key)
        n = stage.rows(name)[1]["n"]
        if again != first or n != 1:
            stage.add(f"a push was answered {first}, and {DAYS} days later {again}; n is {n}")


def move_back(engine) -> None:
    if engine.name == "sqlite":
        for table, column in (("entries", "at"), ("meta", "until")):
            journal(engine, f"UPDATE {table} SET {column} = strftime('%Y-%m-%d', {column}, '-{DAYS} days') || substr({column}, 11)")
        journal(engine, f"UPDATE meta SET value = (CAST(value AS INTEGER) - {DAYS * 86400}) || substr(value, instr(value, ' ')) "
                        "WHERE name = 'clock'")
    else:
        engine.script(
            f"UPDATE {engine.journal}.entries SET at = at - INTERVAL {DAYS} DAY; "
            f"UPDATE {engine.journal}.meta SET until = until - INTERVAL {DAYS} DAY; UPDATE {engine.journal}.meta SET value = "
            f"CONCAT(CAST(SUBSTRING_INDEX(value, ' ', 1) AS SIGNED) - {DAYS * 86400}, SUBSTR(value, INSTR(value, ' '))) WHERE name = 'clock'")


def pruned(engine) -> str:
    """The clock at the last pruning, as the journal contains it."""
    text = "SELECT value FROM {}meta WHERE name = 'clock'"
    if engine.name == "sqlite":
        return str(journal(engine, text.format("")))
    return engine.server.sql(text.format(engine.journal + "."))


def journal(engine, statement: str) -> list:
    connection = sqlite3.connect(f"{engine.file}.fieldmerge", timeout=20, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()
