"""The acknowledged writes: which values may and must be in the database."""

from collections import defaultdict

FOREVER_AGO = float("-inf")
WRITTEN = ("applied", "client-won", "combined", "inserted", "restored")


class Register:
    """The writes of one value, each with the time span in which it happened."""

    def __init__(self):
        self.writes = []

    def write(self, value, start: float, end: float) -> None:
        self.writes.append((value, start, end))

    def explains(self, value) -> bool:
        """True if some write of the value was not surely followed by a write of another value."""
        return any(
            written == value and not any(other != value and begin > end for other, begin, _ in self.writes)
            for written, _, end in self.writes)

    def may_have_been(self, value) -> bool:
        return any(written == value for written, _, _ in self.writes)


class Ledger:
    """An answer may be entered before that of the push that created its row, since clients read their answers late."""

    def __init__(self, rows: dict):
        self.counters, self.registers, self.rows = defaultdict(int), defaultdict(Register), defaultdict(Register)
        self.tags, self.highs, self.unsure, self.begun = {}, {}, set(), set()
        # The goods that have had each code.
        self.coded = defaultdict(set)
        # The goods that each part may have.
        self.parents = {}
        self.frozen = {}
        self.never = {}
        self.journalled = {}
        # Deleted goods, whose parts may have been deleted by cascade.
        self.lost_goods = {}
        for table, found in rows.items():
            for key, row in found.items():
                self.begin(table, key, row)

    def begin(self, table: str, key: int, row: dict, start=FOREVER_AGO, end=FOREVER_AGO) -> None:
        """A row exists."""
        if "good" in row:
            self.move(key, row["good"])
        if row.get("code"):
            self.coded[row["code"]].add(key)
        self.rows[table, key].write("here", start, end)
        if (table, key) in self.begun:
            self.unsure.add((table, key))
            return
        self.begun.add((table, key))
        self.counters[table, key] += row.get("n", 0)
        for column in ("label", "note", "name"):
            if column in row:
                self.registers[table, key, column].write(row[column], start, end)

    # MARK: Writes

    def add(self, table: str, key: int, delta: int) -> None:
        self.counters[table, key] += delta

    def write(self, table: str, key: int, column: str, value, start: float, end: float) -> None:
        self.registers[table, key, column].write(value, start, end)

    def delete(self, table: str, key: int, start: float, end: float) -> None:
        self.unsure.add((table, key))
        self.rows[table, key].write("gone", start, end)

    def restore(self, table: str, key: int, start: float, end: float) -> None:
        self.unsure.add((table, key))
        self.begun.add((table, key))
        self.rows[table, key].write("here", start, end)

    def move(self, part: int, good: int) -> None:
        self.parents.setdefault(part, set()).add(good)

    def tag(self, key: int, tag: str) -> None:
        self.tags.setdefault(key, set()).add(tag)

    def high(self, key: int, value: int) -> None:
        self.highs[key] = max(value, self.highs.get(key, 0))

    def forbid(self, token: str, why: str) -> None:
        self.never[token] = why

    # MARK: Invariants

    def check(self, rows: dict, faults) -> None:
        for (table, key), register in self.rows.items():
            row = rows[table].get(key)
            if row is None and table == "parts" and self.parents.get(key, set()) & set(self.lost_goods):
                continue
            if (table, key) in self.begun and not register.explains("gone" if row is None else "here"):
                faults.add("lost-row" if row is None else "undead-row", f"{table} {key}: {register.writes}")
            if row is None or (table, key) in self.unsure:
                continue
            total = self.counters[table, key] + (self.counters["codes", row["code"]] if row.get("code") else 0)
            if row["n"] != total and len(self.coded[row.get("code")]) < 2:
                faults.add("sum", f"{table} {key}: n is {row['n']}, and the acknowledged sum is {total}")
        for (table, key, column), register in self.registers.items():
            row = rows[table].get(key)
            if row is not None and (table, key) not in self.unsure and not register.explains(row[column]):
                kind = "lost-value" if register.may_have_been(row[column]) else "unknown-value"
                faults.add(kind, f"{table} {key}: {column} is {row[column]!r}; writes: {register.writes[-6:]}")
        for key, tags in self.tags.items():
            row = rows["goods"].get(key)
            if row and ("goods", key) not in self.unsure and not tags <= set(row["tags"].split(",")):
                faults.add("lost-tag", f"goods {key}: {sorted(tags - set(row['tags'].split(',')))} not in {row['tags']}")
        for key, value in self.highs.items():
            row = rows["goods"].get(key)
            if row and ("goods", key) not in self.unsure and row["high"] < value:
                faults.add("lost-high", f"goods {key}: high is {row['high']}, and {value} was acknowledged")
        self.check_rows(rows, faults)

    def check_rows(self, rows: dict, faults) -> None:
        born = {}
        for table, found in rows.items():
            for key, row in found.items():
                if (table, key) not in self.begun:
                    faults.add("unknown-row", f"{table} {key} was created by no acknowledged push: {row}")
                for cell in row.values():
                    for token in cell.split(",") if isinstance(cell, str) else ():
                        if token in self.never:
                            faults.add("refused-left", f"{table} {key} contains {token} of {self.never[token]}")
                code = row.get("code")
                if code and code.startswith("k") and code in born:
                    faults.add("twice", f"goods {key} and {born[code]} both have the code {code}")
                born[code] = key
                if table == "goods" and row["mark"] and not row["mark"].startswith(f"AREA{row['area']}-"):
                    faults.add("mixed-group", f"goods {key}: area {row['area']} and mark {row['mark']}")
