"""A database as plain dictionaries, with unique indexes, foreign keys and checks enforced at once, row by row."""

import copy


class Refused(Exception):
    """The database refuses a statement; `kind` is unique, foreign-key, check or required."""

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(f"{kind} {detail}")
        self.kind = kind
        self.detail = detail


class Database:
    """Rows by table and key (a tuple)."""

    def __init__(self, tables, rows=None, refuses_own_reference=False):
        self.tables = {t.name: t for t in tables}
        # MariaDB does not delete a row that refers to itself.
        self.refuses_own_reference = refuses_own_reference
        self.rows = rows if rows is not None else {t.name: {} for t in tables}

    def copy(self) -> "Database":
        return Database(self.tables.values(), copy.deepcopy(self.rows), self.refuses_own_reference)

    def get(self, table, key):
        return self.rows[table.name].get(key)

    def next_number(self, table) -> int:
        """The number that SQLite would assign to a new row."""
        return max([key[0] for key in self.rows[table.name]], default=0) + 1

    def insert(self, table, values: dict) -> tuple:
        row = {name: values.get(name, table.defaults.get(name)) for name in table.columns}
        key = tuple(row[name] for name in table.key)
        for name in table.required:
            if row[name] is None:
                raise Refused("required", name)
        self.judge(table, key, row)
        if key in self.rows[table.name]:
            raise Refused("unique", f"{table.name} {key}")
        self.rows[table.name][key] = row
        return key

    def update(self, table, key: tuple, changes: dict) -> None:
        row = {**self.rows[table.name][key], **changes}
        self.judge(table, key, row)
        self.rows[table.name][key] = row

    def judge(self, table, key, row) -> None:
        for name, _, holds in table.checks:
            if not holds(row):
                raise Refused("check", name)
        for columns in table.uniques:
            mine = [row[c] for c in columns]
            if None in mine:
                continue
            for other, held in self.rows[table.name].items():
                if other != key and [held[c] for c in columns] == mine:
                    raise Refused("unique", f"{table.name} {columns} of {other}")
        for foreign in table.foreign:
            value = row[foreign.column]
            own = foreign.table == table.name and (value,) == key
            if value is not None and not own and (value,) not in self.rows[foreign.table]:
                raise Refused("foreign-key", f"{table.name}.{foreign.column} = {value}")

    def delete(self, table, key: tuple) -> None:
        row = self.rows[table.name][key]
        if self.refuses_own_reference and any(
                f.table == table.name and f.on_delete == "plain" and (row[f.column],) == key for f in table.foreign):
            raise Refused("foreign-key", f"{table.name} {key} refers to itself")
        del self.rows[table.name][key]
        for other in self.tables.values():
            for foreign in other.foreign:
                if foreign.table != table.name:
                    continue
                for held in [k for k, r in self.rows[other.name].items() if (r[foreign.column],) == key]:
                    self.follow(foreign, other, held)

    def follow(self, foreign, table, key) -> None:
        if foreign.on_delete == "cascade":
            self.delete(table, key)
        elif foreign.on_delete == "null":
            self.update(table, key, {foreign.column: None})
        else:
            raise Refused("foreign-key", f"{table.name} {key} still refers")
