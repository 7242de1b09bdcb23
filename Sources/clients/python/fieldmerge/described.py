"""The rules of a resource as an app reads them, for the widgets of a form."""

from __future__ import annotations

from .changes import Json


def described(told: Json) -> Json:
    """Returns a client's rights on a resource, and the types of its fields, from the gateway's description."""
    return {
        "resource": told["resource"],
        "description": told.get("description"),
        "mayCreate": told.get("create", True),
        "mayDelete": told.get("delete", True),
        "sections": {one["section"]: _section(one) for one in told["sections"]},
    }


def _section(told: Json) -> Json:
    fields = {}
    for group in told["groups"]:
        may_write = group.get("write", True)
        of_group = {
            "group": group["group"],
            "policy": group["onConflict"],
            **{name: group[name] for name in ("merge", "transitions") if name in group},
            "mayWrite": may_write,
            "mayCreate": may_write or group.get("create") is True,
        }
        fields.update({field["field"]: {**_type(field), **of_group} for field in group["fields"]})
    for field in told.get("readOnly", []):
        fields[field["field"]] = {**_type(field), "mayWrite": False, "mayCreate": False}
    return {"kind": told["kind"], "key": told.get("key"), "fields": fields}


def _type(field: Json) -> Json:
    return {name: value for name, value in field.items() if name not in ("field", "formerly")}
