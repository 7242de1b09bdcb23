"""Random rows and random pushes, small enough that everything collides."""

import copy

from .database import Database, Refused
from .schema import DOCUMENTS, LIMITS, STORIES, TABLES
from .values import as_id, as_key, digest_of, shown_group, wire, wired


class Maker:
    """Makes well-formed pushes for the rows of one database."""

    def __init__(self, random, resources: dict, foresees_numbers: bool):
        self.random, self.resources = random, list(resources.values())
        # The next number of SQLite is predictable, that of MariaDB is not.
        self.foresees_numbers = foresees_numbers

    # MARK: Rows

    def rows(self) -> dict:
        """A database that fulfils its constraints."""
        database = Database(TABLES)
        for table, count in zip(TABLES, (3, 5, 3, 6, 3, 5, 5, 4, 5)):
            for _ in range(count):
                self.try_row(database, table)
        return database.rows

    def try_row(self, database, table) -> None:
        values = {name: self.cell(database, table, name) for name in table.columns}
        try:
            if tuple(values[c] for c in table.key) not in database.rows[table.name]:
                database.insert(table, values)
        except Refused:
            pass

    def cell(self, database, table, name):
        pick = self.random.choice
        foreign = next((f for f in table.foreign if f.column == name), None)
        if foreign:
            keys = [k[0] for k in database.rows[foreign.table]]
            needed = name in table.required or name in table.key
            return pick(keys) if keys and (needed or self.random.random() < 0.7) else None
        if table.columns[name] == "BIGINT":
            return pick([n for n in LIMITS if n is not None or name not in table.key])
        if (name,) == table.key and table.numbered:
            return self.random.randint(1, 8)
        special = {
            "story": STORIES, "doc": DOCUMENTS,
            "code": ("o1", "o2", "o3"), "no": (1, 2, 3), "gone": (0, 0, 0, 1), "score": (0, 1, 2, 3, 5, 12),
            "email": ("a", "b", "c", "d", None), "tags": ("", "x", "x,y", "z", None),
            "since": ("2026-01-01", "2026-01-02", None), "status": ("new", "open", "done")}
        if name in special:
            return pick(special[name])
        return pick((0, 1, 2, 3, 5, None) if table.columns[name] == "INTEGER" else ("a", "b", "c", None))

    # MARK: Pushes

    def push(self, database: Database) -> dict:
        """A push of one to five edits."""
        self.database = database
        self.temporaries = []
        self.serial = 0
        edits = [self.edit() for _ in range(self.random.choice((1, 1, 2, 2, 3, 3, 4, 5)))]
        if self.random.random() < 0.25:
            self.random.shuffle(edits)
        body = {"edits": wired(edits)}
        if self.random.random() < 0.3:
            body["atomic"] = "edit"
        return body

    def edit(self) -> dict:
        resource = self.random.choice(self.resources)
        root = resource.root
        creates = self.random.random() < 0.22
        id = self.key(root, creates, resource)
        self.parent = id
        changeset = {}
        held = self.database.get(root.table, as_key(id)) if not creates else None
        if creates:
            changeset[root.name] = {"old": None, "new": self.fresh(root)}
        elif len(resource.sections) == 1 or self.random.random() < 0.55:
            changeset[root.name] = self.change(root, held)
        for section in resource.sections[1:]:
            if self.random.random() > 0.45:
                continue
            if section.is_list:
                changeset[section.name] = self.items(section, id)
            else:
                row = self.database.get(section.table, (id,))
                if row is None and self.random.random() < 0.6:
                    changeset[section.name] = {"old": None, "new": self.fresh(section)}
                else:
                    changeset[section.name] = self.change(section, row)
        sent = {"resource": resource.name, "id": id, "changeset": changeset}
        if id is None:
            del sent["id"]
        return sent

    def key(self, section, creates, resource):
        """The id of an edit's record."""
        table = section.table
        if creates and table.numbered:
            if self.random.random() < 0.85:
                return self.temporary(table)
            held = [k[0] for k in self.database.rows[table.name]]
            return None if self.random.random() < 0.5 or not held else self.random.choice(held)
        known = [id for name, id in self.temporaries if name == table.name]
        if known and self.random.random() < 0.25:
            return self.random.choice(known)
        held = [as_id(k) for k in self.database.rows[table.name]]
        if held and self.random.random() < (0.35 if creates else 0.85):
            return self.random.choice(held)
        if table.name == "pages":
            return self.random.choice(LIMITS[:-1])
        if table.name == "marks":
            return [self.random.choice(LIMITS[:-1]), self.random.choice(LIMITS[:-1])]
        if table.name == "orders":
            return self.random.choice(("o1", "o2", "o3", "o4"))
        if table.name == "badges":
            return self.random.choice([k[0] for k in self.database.rows["people"]] or [1])
        highest = max(held, default=0)
        next_number = highest + 1 if self.foresees_numbers else 99_999_999
        return self.random.choice((1, 2, 3, 4, 5, 6, 7, 8, next_number, highest))

    def temporary(self, table):
        self.serial += 1
        id = f"tmp:{self.serial}" if self.random.random() < 0.6 else -self.serial
        self.temporaries.append((table.name, id))
        return id

    def items(self, section, parent) -> list:
        found, named = [], set()
        for _ in range(self.random.choice((1, 1, 2, 3))):
            item = self.item(section, parent)
            mark = str(item.get("id"))
            if mark not in named:
                named.add(mark)
                found.append(item)
        return found

    def item(self, section, parent) -> dict:
        table = section.table
        own = [(k, r) for k, r in self.database.rows[table.name].items() if r[section.parent] == parent]
        if self.random.random() < 0.3:
            if table.numbered:
                id = self.temporary(table) if self.random.random() < 0.9 or not own else own[0][0][0]
            else:
                id = [parent, self.number(table)]
            return {"id": id, "old": None, "new": self.fresh(section)}
        anywhere = list(self.database.rows[table.name].items())
        pool = own if own and self.random.random() < 0.85 else anywhere
        if not table.numbered:
            pool = own
        if pool and self.random.random() < 0.9:
            key, row = self.random.choice(pool)
        else:
            key = (parent, self.number(table)) if not table.numbered else (self.random.randint(1, 8),)
            row = self.database.get(table, key)
        return {"id": as_id(key), **self.change(section, row)}

    def number(self, table) -> int:
        """The second part of a key."""
        return self.random.choice(LIMITS[:-1] if table.name == "marks" else (1, 2, 3, 4))

    # MARK: Values

    def value(self, field):
        if field.references:
            held = [k[0] for k in self.database.rows[field.references]]
            known = [id for name, id in self.temporaries if name == field.references]
            draw = self.random.random()
            if known and draw < 0.3:
                return self.random.choice(known)
            if held and draw < 0.85:
                return self.random.choice(held)
            return None if draw < 0.95 else 77
        if field.kind == "set":
            return None if self.random.random() < 0.1 else [
                m for m in self.random.sample(field.values, 3) if self.random.random() < 0.5]
        return self.random.choice(field.values)

    def real_value(self, field, required):
        while True:
            value = self.value(field)
            if value is not None or not required:
                return value

    def needed(self, section, field) -> bool:
        return field.column in section.table.required

    def fresh(self, section) -> dict:
        """Some fields of a new row."""
        new = {}
        for field in section.fields:
            # The protocol does not define the merge of a text without a base.
            if field.name == "story":
                continue
            if self.random.random() < 0.7 or self.needed(section, field) and self.random.random() < 0.9:
                new[field.name] = self.real_value(field, self.needed(section, field))
        return new

    def group(self, section, group, row) -> tuple:
        """A base and an edited value."""
        current = shown_group(group, row) if row is not None else None

        def some():
            return {f.name: self.real_value(f, self.needed(section, f)) for f in group.fields}

        base = copy.deepcopy(current) if current and self.random.random() < 0.6 else some()
        draw = self.random.random()
        if draw < 0.1:
            edited = copy.deepcopy(base)
        elif draw < 0.2 and current:
            edited = copy.deepcopy(current)
        else:
            edited = some()
        return base, edited

    def change(self, section, row) -> dict:
        """An edit in one of its forms, or a deletion."""
        groups = [g for g in section.groups if self.random.random() < (0.4 if len(section.groups) > 3 else 0.7)]
        groups = groups or [self.random.choice(section.groups)]
        pairs = {g.name: (g, *self.group(section, g, row)) for g in groups}
        draw = self.random.random()
        if draw < 0.15:
            old = {n: v for _, base, _ in pairs.values() for n, v in base.items()}
            return {"old": old, "new": None}
        if draw < 0.5:
            return {"old": {n: v for _, base, _ in pairs.values() for n, v in base.items()},
                    "new": {n: v for _, _, edited in pairs.values() for n, v in edited.items()}}
        return {name: self.in_group_form(*pair) for name, pair in pairs.items()}

    def in_group_form(self, group, base, edited) -> dict:
        if self.random.random() < 0.08 and not group.fields[0].references:
            return {"oldHash": digest_of(group, base), "new": wire(group, edited)}
        return {"old": wire(group, base), "new": wire(group, edited)}
