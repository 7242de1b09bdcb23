"""The schema as SQL for an engine, and as rule files."""

import json

from .schema import TABLES

ON_DELETE = {"plain": "", "cascade": " ON DELETE CASCADE", "null": " ON DELETE SET NULL"}


def tables(engine: str) -> str:
    """The statements that make all tables, in an order that foreign keys allow."""
    return "\n".join(statement(t, engine) for t in TABLES)


def statement(table, engine: str) -> str:
    numbering = " PRIMARY KEY" + (" AUTO_INCREMENT" if engine == "mariadb" else "")
    parts = []
    for name, kind in table.columns.items():
        part = f"{quoted(name)} {'TEXT' if kind == 'JSON' and engine == 'sqlite' else kind}"
        if table.numbered and (name,) == table.key:
            part += numbering
        elif name in table.required or name in table.key:
            part += " NOT NULL"
        if name in table.defaults:
            part += f" DEFAULT {literal(table.defaults[name])}"
        parts.append(part)
    if not table.numbered:
        parts.append(f"PRIMARY KEY ({listed(table.key)})")
    parts += [f"CONSTRAINT u_{table.name}_{'_'.join(u)} UNIQUE ({listed(u)})" for u in table.uniques]
    for key in table.foreign:
        # A foreign key refers to an earlier table, or to the table itself.
        target = next(t for t in TABLES if t.name == key.table)
        parts.append(f"CONSTRAINT f_{table.name}_{key.column} FOREIGN KEY ({quoted(key.column)}) "
                     f"REFERENCES {quoted(key.table)} ({listed(target.key)}){ON_DELETE[key.on_delete]}")
    parts += [f"CONSTRAINT {name} CHECK ({sql})" for name, sql, _ in table.checks]
    return f"CREATE TABLE {quoted(table.name)} (\n  " + ",\n  ".join(parts) + ");"


def listed(names) -> str:
    return ", ".join(quoted(n) for n in names)


def quoted(name: str) -> str:
    return f"`{name}`"


def literal(value) -> str:
    if isinstance(value, dict):
        value = json.dumps(value)
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def rules(resources: dict) -> dict:
    """The rule files by their names."""
    return {r.name: "\n".join(lines(r)) + "\n" for r in resources.values()}


def lines(resource):
    yield f"resource: {resource.name}"
    yield "sections:"
    for section in resource.sections:
        yield f"  {section.name}:"
        yield f"    table: {section.table.name}"
        if section.is_list:
            yield "    list: true"
        if section.parent:
            yield f"    parent: {section.parent}"
        if section.is_list:
            yield f"    order: [{', '.join(section.table.key)}]"
        if section.where:
            yield f"    where: \"{section.where}\""
        if section.soft:
            yield "    delete: {set: {" + ", ".join(f"{n}: {v}" for n, v in section.soft.items()) + "}}"
        if section.identity:
            yield f"    identity: [{', '.join(section.identity)}]"
        yield f"    on-missing: {section.on_missing}"
        yield f"    on-delete-conflict: {section.on_delete_conflict}"
        yield "    groups:"
        for group in section.groups:
            yield f"      {group.name}:"
            yield "        fields:"
            for field in group.fields:
                more = {"set": ", type: set, separator: \",\"", "json": ", type: json"}.get(field.kind, "")
                yield f"          {field.name}: {{column: {field.column}{more}}}"
            yield f"        on-conflict: {group.on_conflict}"
            if group.merge.startswith("latest:"):
                yield f"        merge: {{latest: {group.merge[7:]}}}"
            elif group.merge:
                yield f"        merge: {group.merge}"
        if section.checks:
            yield "    checks:"
        for check in section.checks:
            yield (f"      - {{name: {check.name}, sql: \"{check.sql}\", fields: [{', '.join(check.fields)}], "
                   f"on-failure: {check.on_failure}}}")


def filling(rows: dict) -> str:
    """The statements that empty all tables and fill them again."""
    statements = [f"DELETE FROM {quoted(t.name)};" for t in TABLES]
    for table in TABLES:
        for row in rows[table.name].values():
            values = ", ".join(literal(v) for v in row.values())
            statements.append(f"INSERT INTO {quoted(table.name)} ({listed(row)}) VALUES ({values});")
    return "\n".join(statements)
