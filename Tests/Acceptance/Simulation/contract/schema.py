"""Nine small tables and the resources over them, with so few values that everything collides. Policies are drawn."""

from dataclasses import replace

from .shape import Check, Field, ForeignKey, Group, Resource, Section, Table

AREAS = Table(
    "areas", {"id": "INTEGER", "name": "VARCHAR(10)", "size": "INTEGER"}, ("id",), numbered=True,
    uniques=(("name",),))
PEOPLE = Table(
    "people",
    {"id": "INTEGER", "email": "VARCHAR(10)", "score": "INTEGER", "top": "INTEGER", "low": "INTEGER",
     "tags": "VARCHAR(40)", "place": "VARCHAR(10)", "since": "DATE", "area": "INTEGER", "boss": "INTEGER",
     "gone": "INTEGER"},
    ("id",), numbered=True, defaults={"score": 3, "gone": 0}, required=("score", "gone"), uniques=(("email",),),
    foreign=(ForeignKey("area", "areas", "null"), ForeignKey("boss", "people")),
    checks=(("score_bound", "score > -8", lambda row: row["score"] > -8),))
BADGES = Table(
    "badges", {"person": "INTEGER", "colour": "VARCHAR(10)", "n": "INTEGER"}, ("person",),
    foreign=(ForeignKey("person", "people", "cascade"),))
NOTES = Table(
    "notes", {"id": "INTEGER", "person": "INTEGER", "body": "VARCHAR(10)", "rank": "INTEGER"}, ("id",), numbered=True,
    required=("person",), uniques=(("person", "rank"),), foreign=(ForeignKey("person", "people", "cascade"),))
ORDERS = Table(
    "orders", {"code": "VARCHAR(10)", "person": "INTEGER", "status": "VARCHAR(10)", "total": "INTEGER"}, ("code",),
    defaults={"status": "new"}, foreign=(ForeignKey("person", "people"),))
LINES = Table(
    "lines", {"code": "VARCHAR(10)", "no": "INTEGER", "name": "VARCHAR(10)", "quantity": "INTEGER"}, ("code", "no"),
    uniques=(("code", "name"),), foreign=(ForeignKey("code", "orders"),))
SLIPS = Table(
    "slips", {"id": "INTEGER", "code": "VARCHAR(10)", "text": "VARCHAR(10)", "n": "INTEGER", "gone": "INTEGER"},
    ("id",), numbered=True, defaults={"gone": 0}, required=("gone",))

PAGES = Table(
    "pages", {"id": "BIGINT", "story": "VARCHAR(400)", "doc": "JSON", "big": "BIGINT"}, ("id",))
MARKS = Table(
    "marks", {"page": "BIGINT", "no": "BIGINT", "word": "VARCHAR(10)", "big": "BIGINT"}, ("page", "no"),
    foreign=(ForeignKey("page", "pages", "cascade"),))

TABLES = (AREAS, PEOPLE, BADGES, NOTES, ORDERS, LINES, SLIPS, PAGES, MARKS)

NUMBERS = (0, 1, 2, 3, 5)
TEXTS = ("a", "b", "c")
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03", None)


def number(name, column="", values=NUMBERS + (None,)):
    return Field(name, column or name, "integer", values)


def text(name, column="", values=TEXTS + (None,)):
    return Field(name, column or name, "text", values)


def reference(name, table, column=""):
    return Field(name, column or name, "integer", (None,), table)


def one(field, merge="", on_conflict="client-wins", name=""):
    return Group(name or field.name, (field,), merge, on_conflict)


# Texts of three words, each in a line between constant lines.
STORIES = (*(f"1{a}\nfirst\n2{b}\nsecond\n3{c}" for a in "xyz" for b in "xyz" for c in "xyz"), None)
DOCUMENTS = ({}, {"a": 1}, {"a": 2, "b": None}, {"b": "x", "o": {"p": 1}}, {"a": 1, "o": {"p": 2, "q": 1}}, {"a": 1, "b": "y", "o": {}},
             {"o": {"q": 2}, "b": None}, None)
LIMITS = (0, 1, 2 ** 53, 2 ** 53 + 1, -2 ** 53 - 1, 2 ** 63 - 1, -2 ** 63, None)


def limited(name):
    return Field(name, name, "bigint", LIMITS)


SCORES = (-9, -2, 0, 1, 2, 3, 5, 7, 12)

RESOURCES = (
    Resource("areas", (
        Section("area", AREAS, (
            one(text("name"), on_conflict="reject"), one(number("size"), on_conflict="server-wins")),
            on_missing="reject", on_delete_conflict="reject"),)),
    Resource("people", (
        Section("person", PEOPLE, (
            one(text("email", values=("a", "b", "c", "d", "e", None)), on_conflict="reject"),
            one(number("score", values=SCORES), "add"),
            one(number("top"), "max"),
            one(number("low"), "min", "server-wins"),
            one(Field("tags", "tags", "set", ("x", "y", "z")), "set"),
            Group("spot", (text("place"), text("since", values=DAYS)), "latest:since"),
            one(reference("area", "areas")),
            one(reference("boss", "people"))),
            where="gone = 0 AND score < 10", shows=lambda row: row["gone"] == 0 and row["score"] < 10,
            soft={"gone": 1}, identity=("email",), on_missing="restore", on_delete_conflict="keep",
            checks=(
                Check("positive", "score >= 0", lambda row: row["score"] >= 0, ("score",)),
                Check("order", "top >= low",
                      lambda row: row["top"] is None or row["low"] is None or row["top"] >= row["low"],
                      ("top", "low"), "server-wins"))),
        Section("badge", BADGES, (
            one(text("colour"), on_conflict="server-wins"), one(number("n"), "add", "reject")),
            parent="person", on_missing="restore", on_delete_conflict="keep"),
        Section("notes", NOTES, (one(text("body")), one(number("rank"))), is_list=True, parent="person"))),
    Resource("accounts", (
        Section("account", PEOPLE, (
            one(text("mail", "email", ("a", "b", "c", "d", "e", None))),
            one(number("points", "score", SCORES)),
            one(number("gone", values=(0, 1))),
            one(reference("chief", "people", "boss"), on_conflict="reject")),
            on_delete_conflict="reject"),)),
    Resource("badges", (
        Section("badge", BADGES, (Group("all", (text("colour"), number("n"))),), on_missing="drop",
                on_delete_conflict="delete"),)),
    Resource("notes", (
        Section("note", NOTES, (
            one(text("body"), on_conflict="reject"), one(number("rank"), "max"), one(reference("person", "people"))),
            on_missing="restore", on_delete_conflict="keep",
            checks=(Check("small", "rank < 5", lambda row: row["rank"] is None or row["rank"] < 5, ("rank",),
                          "server-wins"),)),)),
    Resource("orders", (
        Section("order", ORDERS, (
            one(text("status", values=("new", "open", "done"))), one(number("total"), "add", "server-wins"),
            one(reference("person", "people"))),
            on_missing="restore"),
        Section("lines", LINES, (Group("what", (text("name"), number("quantity")), on_conflict="client-wins"),),
                is_list=True, parent="code", on_missing="restore", identity=("name",)),
        Section("slips", SLIPS, (one(text("text")), one(number("n"), "add")), is_list=True, parent="code",
                where="gone = 0", shows=lambda row: row["gone"] == 0, soft={"gone": 1}, on_missing="reject",
                on_delete_conflict="keep"))),
    Resource("papers", (
        Section("paper", SLIPS, (
            one(text("text"), on_conflict="server-wins"), one(number("n"), "add"), one(number("gone", values=(0, 1))),
            one(text("code", values=("o1", "o2", "o3", None)))),
            on_missing="drop"),)),
    Resource("pages", (
        Section("page", PAGES, (
            one(Field("story", "story", "text", STORIES), "text"), one(Field("doc", "doc", "json", DOCUMENTS), "json"),
            one(limited("big"), "add")), on_missing="restore"),
        Section("marks", MARKS, (one(text("word")), one(limited("big"), "max")), is_list=True, parent="page"))),
    Resource("marks", (
        Section("mark", MARKS, (one(text("word")), one(limited("big"), "min")), on_missing="restore"),)),
    Resource("carts", (
        Section("cart", ORDERS, (one(number("sum", "total"), "min"), one(text("state", "status", ("new", "open")))),
                where="status <> 'done'", shows=lambda row: row["status"] is not None and row["status"] != "done",
                on_missing="drop", on_delete_conflict="keep"),
        Section("rows", LINES, (one(text("name")), one(number("quantity"), "add")), is_list=True, parent="code",
                on_delete_conflict="reject"))),
)


CONFLICTS = ("client-wins", "server-wins", "reject")
ROWS = {"on_missing": ("drop", "restore", "reject"), "on_delete_conflict": ("delete", "keep", "reject")}


def draw_policies(random) -> dict:
    """Policies that replace those above, by resource, section, and group or setting."""
    found = {}
    for resource in RESOURCES:
        for section in resource.sections:
            place = f"{resource.name}.{section.name}"
            drawn = {f"{place}.{name}": random.choice(words) for name, words in ROWS.items()}
            drawn |= {f"{place}.groups.{group.name}": random.choice(CONFLICTS) for group in section.groups}
            found |= {name: word for name, word in drawn.items() if random.random() < 0.5}
    return found


def resources(policies: dict) -> dict:
    """The resources by name, with these policies."""
    return {r.name: Resource(r.name, tuple(with_policies(s, f"{r.name}.{s.name}", policies) for s in r.sections))
            for r in RESOURCES}


def with_policies(section: Section, place: str, policies: dict) -> Section:
    groups = tuple(replace(g, on_conflict=policies.get(f"{place}.groups.{g.name}", g.on_conflict)) for g in section.groups)
    drawn = {name: policies[f"{place}.{name}"] for name in ROWS if f"{place}.{name}" in policies}
    return replace(section, groups=groups, **drawn)
