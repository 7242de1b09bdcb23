"""The world of a history: tables, rules and clients, drawn from a seed.

A world is a plain dictionary, so that a file can contain it. The two tables are always the same. The rules differ.
"""

from contract import schema

POLICIES = ("client-wins", "client-wins", "server-wins", "reject")

# Options of the gateways.
OPTIONS = ([], [], ["--coalesce", "1"], ["--lanes", "4"], ["--connections", "3"], ["--request-time", "4"])

WORLDS = {
    # The possible properties of a world. A fixed value replaces the draw.
    "plain": {"roles": False, "soft": False, "frozen": False, "transitions": False, "identity": False},
    "access": {"roles": True},
    # Clerks read the parts of goods in their areas.
    "referred": {"roles": True, "referred": True},
    "deletions": {"soft": True, "frozen": True},
    # MariaDB: foreign changes come from the binary log.
    "logged": {"changes": "binlog"},
    # Only pushes that the model of the contract judges.
    "judged": {"judged": 200},
    "random": {},
}

GOODS = 8
AREAS = (1, 2, 3)
CLIENTS = (
    {"name": "office1", "role": "office", "areas": list(AREAS), "operator": True},
    {"name": "office2", "role": "office", "areas": list(AREAS), "operator": False},
    {"name": "clerk1", "role": "clerk", "areas": [1], "operator": False},
    {"name": "clerk2", "role": "clerk", "areas": [1, 2], "operator": False},
)


def draw(random, name: str) -> dict:
    pick = random.choice
    found = {
        "name": name, "roles": random.random() < 0.7, "soft": random.random() < 0.5, "cascade": random.random() < 0.5,
        "frozen": random.random() < 0.5, "transitions": random.random() < 0.5, "identity": random.random() < 0.3,
        "label": pick(POLICIES), "note": pick(POLICIES), "stock": pick(POLICIES), "part": pick(POLICIES),
        "missing": pick(("drop", "restore", "reject")), "part-missing": pick(("drop", "restore", "reject")),
        "delete": pick(("delete", "keep", "reject")), "part-delete": pick(("delete", "keep", "reject")),
        "check": random.random() < 0.3, "contract": schema.draw_policies(random),
        "clock": random.random() < 0.2, "options": pick(OPTIONS), "changes": pick(("binlog", "scan")),
        "referred": random.random() < 0.5,
    }
    found.update(WORLDS[name])
    return found


def tables(world: dict, engine: str) -> str:
    key = "INT AUTO_INCREMENT PRIMARY KEY" if engine == "mariadb" else "INTEGER PRIMARY KEY AUTOINCREMENT"
    end = " ENGINE=InnoDB" if engine == "mariadb" else ""
    word = "VARCHAR(120) NOT NULL DEFAULT ''"
    number = "BIGINT NOT NULL DEFAULT 0"
    code = "UUID()" if engine == "mariadb" else "hex(randomblob(8))"
    cascade = " ON DELETE CASCADE" if world["cascade"] else ""
    text = (
        f"CREATE TABLE goods (id {key}, n {number}, label {word}, note {word}, high {number}, tags VARCHAR(4000) NOT NULL "
        f"DEFAULT '', status {word}, area INT NOT NULL DEFAULT 1, mark {word}, secret {word}, pin {word}, code VARCHAR(60) NOT NULL UNIQUE DEFAULT ({code}), "
        f"extra {word}, gone {number}, locked {number}){end};\n"
        f"CREATE TABLE parts (id {key}, good INT NOT NULL, n {number}, name {word}, copy {word}, "
        f"FOREIGN KEY (good) REFERENCES goods (id){cascade}){end};\n")
    for id in range(1, GOODS + 1):
        area = 1 + id % len(AREAS)
        text += (f"INSERT INTO goods (id, label, status, area, mark, secret, pin, code) VALUES ({id}, 'first{id}', 'new', {area}, "
                 f"'AREA{area}-first{id}', 'SECRET-first{id}', 'PIN-first{id}', 'c{id}');\n")
        text += "".join(f"INSERT INTO parts (id, good, name) VALUES ({2 * id - k}, {id}, 'first{2 * id - k}');\n" for k in (1, 0))
    if engine == "mariadb":
        text += "CREATE VIEW seen AS SELECT id, n, area FROM goods WHERE gone = 0;\n"
    return text


def rules(world: dict, engine: str, variant: int = 0) -> dict:
    """The rule files. A variant is a change of the rules that leaves the records' shape as it is."""
    note = POLICIES[(POLICIES.index(world["note"]) + variant) % len(POLICIES)]
    status = ", transitions: {new: [open], open: [closed, new], closed: []}" if world["transitions"] else ""
    good = "\n".join(line for line in (
        "    where: gone = 0" if world["soft"] else "",
        "    delete: {set: {gone: 1}}" if world["soft"] else "",
        "    frozen-when: locked = 1" if world["frozen"] else "",
        "    identity: [code]" if world["identity"] else "",
        "    checks: [{name: bound, sql: n < 1000000000, fields: [n]}]" if world["check"] else "",
    ) if line)
    access = {"goods": "", "stock": "", "parts": "", "codes": ""}
    if world["roles"]:
        parts = "{good.area: {claim: areas}}" if world["referred"] else "all"
        access = {
            "goods": "access:\n"
            "  office: {read: all, write: all, create: true, delete: true, rows: all}\n"
            "  clerk:\n"
            "    read: [good.n, good.label, good.note, good.high, good.tags, good.status, good.place, parts]\n"
            "    write: [good.n, good.label, good.note, good.high, good.tags, good.status, parts]\n"
            "    rows: {area: {claim: areas}}\n",
            "stock": "access:\n  office: {read: all, write: all, create: true, delete: true, rows: all}\n"
            "  clerk: {read: all, write: all, rows: {area: {claim: areas}}}\n",
            "codes": "access:\n  office: {read: all, write: all, create: true, delete: true, rows: all}\n",
            "parts": "access:\n  office: {read: all, write: all, create: true, delete: true, rows: all}\n"
            f"  clerk: {{read: all, write: all, create: true, delete: true, rows: {parts}}}\n",
        }
    # The rows of goods by another key and, in MariaDB, through a view.
    other = {"codes": ("row", "goods", "code"), "seen": ("view", "seen", "id")}
    if engine == "sqlite":
        del other["seen"]
    return {
        name: f"resource: {name}\n{access['codes']}sections:\n"
        f"  {section}: {{table: {table}, key: {key}, groups: {{n: {{column: n, merge: add}}}}}}\n"
        for name, (section, table, key) in other.items()
    } | {
        "goods": f"""resource: goods
{access['goods']}sections:
  good:
    table: goods
{good}
    on-missing: {world['missing']}
    on-delete-conflict: {world['delete']}
    groups:
      n: {{column: n, merge: add}}
      label: {{column: label, on-conflict: {world['label']}}}
      note: {{column: note, on-conflict: {note}}}
      high: {{column: high, merge: max}}
      tags: {{column: tags, type: set, separator: ",", merge: set}}
      status: {{column: status{status}}}
      place: {{fields: {{area: area, mark: mark}}}}
      secret: secret
      pin: {{column: pin, private: true}}
      code: code
      extra: extra
  parts:
    list: true
    table: parts
    parent: good
    on-missing: {world['part-missing']}
    on-delete-conflict: {world['part-delete']}
    groups:
      n: {{column: n, merge: add}}
      name: {{column: name, on-conflict: {world['part']}}}
    read-only: {{copy: copy}}
""",
        "stock": f"""resource: stock
{access['stock']}sections:
  item:
    table: goods
    groups:
      n: {{column: n, merge: add}}
      label: {{column: label, on-conflict: {world['stock']}}}
""",
        "parts": f"""resource: parts
{access['parts']}sections:
  part:
    table: parts
    on-missing: {world['part-missing']}
    on-delete-conflict: {world['part-delete']}
    groups:
      n: {{column: n, merge: add}}
      name: {{column: name, on-conflict: {world['part']}}}
      good: {{column: good, references: goods}}
    read-only: {{copy: copy}}
""",
    }


# The table of each section, where goods by another key are a separate table, and the root section of each resource.
SECTION_TABLE = {"good": "goods", "item": "goods", "view": "goods", "row": "codes", "part": "parts", "parts": "parts"}
ROOT = {"goods": "good", "stock": "item", "parts": "part", "codes": "row", "seen": "view"}

# Resources that a clerk may not read.
OFFICE_ONLY = ("codes", "seen")


def resources(engine: str) -> list:
    return [name for name in ROOT if engine == "mariadb" or name != "seen"]
