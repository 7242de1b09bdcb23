"""One push on both sides: the answer and the rows of the gateway, and those of the model."""

from .answer import answer
from .compare import differences, row_differences
from .edits import BadPush
from .model import PushRun
from .values import unwired, wired


def numbers_of(engine: str, reply: tuple):
    """The numbers of new rows: SQLite's rule, or those of MariaDB's counter in the gateway's answer."""
    counter = iter(range(1_000_000, 2_000_000))

    def number(database, table, index, id):
        if engine == "sqlite":
            return database.next_number(table)
        results = reply[1].get("results", [])
        if index < len(results):
            assigned = results[index].get("ids") or {}
            if str(id) in assigned:
                return assigned[str(id)]
            if id is None and isinstance(results[index].get("id"), int):
                return results[index]["id"]
        return next(counter)

    return number


class Trial:
    """`known` has the rows that the journal contains, before the push and then after it."""

    def __init__(self, resources: dict, before, after: dict, known: dict, body: dict, preview: bool, reply: tuple, engine: str):
        run = PushRun(resources, before, known, unwired(body), numbers_of(engine, reply))
        self.known = known
        try:
            run.run()
            self.answer = wired(answer(run))
            expected = before.rows if preview else run.final.rows
            if not run.rolled_back and not preview:
                self.known = run.known
        except BadPush as bad:
            self.answer, expected = (400, {"code": bad.code}), before.rows
        # No answer shows which fields of a row the journal contains if it read only parts of the row.
        if run.is_unsure:
            self.differences = []
            return
        loose = {e.index for e in run.edits if e.is_loose or e.is_rejected}
        torn = any(e.is_loose and e.is_rejected for e in run.edits)
        self.differences = differences(body, self.answer, reply, loose, torn) + row_differences(expected, after)
