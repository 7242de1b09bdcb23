"""The answer to a push, by the model."""

from .reading import temporary
from .values import as_id, shown_group, shown_section, wire


def record(database, resource, key):
    """A record as clients read it, or None."""
    row = database.get(resource.root.table, key)
    if row is None or not resource.root.visible(row):
        return None
    found = {"id": as_id(key), resource.root.name: shown_section(resource.root, row)}
    for section in resource.sections[1:]:
        rows = [(k, r) for k, r in sorted(database.rows[section.table.name].items())
                if r[section.parent] == key[0] and section.visible(r)]
        if section.is_list:
            found[section.name] = [{"id": as_id(k), **shown_section(section, r)} for k, r in rows]
        else:
            found[section.name] = shown_section(section, rows[0][1]) if rows else None
    return found


def shows(database, edit, section, row) -> bool:
    """A client finds the row in the edit's record."""
    if not section.visible(row):
        return False
    if not section.parent:
        return True
    root = database.get(edit.resource.root.table, edit.key) if edit.key else None
    return root is not None and edit.resource.root.visible(root) and (row[section.parent],) == edit.key


def outcome(database, edit, entry) -> dict:
    """One outcome, with the final values."""
    answer = {"section": entry.section.name, "outcome": entry.outcome}
    if entry.group:
        answer["group"] = entry.group.name
    if entry.section.is_list and entry.key is not None:
        answer["id"] = as_id(entry.key)
    if entry.conflict:
        row = database.get(entry.section.table, entry.key) if entry.key is not None else None
        if row is not None and not shows(database, edit, entry.section, row):
            row = None
        if entry.group:
            written = None if row is None else wire(entry.group, shown_group(entry.group, row))
        else:
            written = None if row is None else shown_section(entry.section, row)
        answer.update(conflict=True, old=entry.old, current=entry.current, new=entry.new, written=written)
        if entry.is_taken_back:
            answer["taken-back"] = True
    elif entry.current is not None and entry.outcome == "deleted":
        answer["current"] = entry.current
    return answer


def identity(run, edit, refused):
    """The record's key; for a record that was not created, the id that was sent."""
    root = edit.resource.root.table
    if refused and (edit.creates or temporary(root, edit.sent.get("id")) and run.final.get(root, edit.key) is None):
        return edit.sent.get("id")
    return as_id(edit.key) if edit.key else edit.sent.get("id")


def result(run, edit) -> dict:
    refused = edit.is_rejected or edit.problem or run.rolled_back
    status = "merged"
    if refused:
        rejected = edit.is_rejected or not run.is_alone and not edit.problem and any(e.is_rejected for e in run.edits)
        status = "rejected" if rejected else "failed"
    outcomes = [o for o in edit.outcomes if o.conflict or not refused]
    answer = {
        "resource": edit.resource.name, "status": status,
        "id": identity(run, edit, refused),
        "record": record(run.final, edit.resource, edit.met if refused else edit.key)
        if (edit.met if refused else edit.key) else None,
        "outcomes": [outcome(run.final, edit, o) for o in outcomes],
    }
    if not refused:
        answer["ids"] = edit.ids
    return answer


def answer(run) -> tuple:
    """The HTTP status and the body."""
    results = [result(run, e) for e in run.edits]
    merged = [r["status"] == "merged" for r in results]
    if all(merged):
        return 200, {"status": "merged", "results": results}
    if run.is_alone and any(merged):
        return 207, {"status": "partial", "results": results}
    status = results[0]["status"] if run.is_alone else (
        "rejected" if any(e.is_rejected for e in run.edits) else "failed")
    return 409 if status == "rejected" else 422, {"status": status, "results": results}
