"""What the stories of the demo have in common: pushing, reporting, and comparing with what should be."""

from __future__ import annotations

import report
from gateway import Json
from thinclient import Id, ThinClient

Collisions = dict[tuple[str, Id | None, str | None], str]


class Unexpected(Exception):
    """A merge came out otherwise than the demo expects."""


def create(office: ThinClient, record: Json) -> Id:
    record_id: Id = office.push(office.create(record))["record"]["id"]
    return record_id


def delete(office: ThinClient, record_id: Id) -> None:
    office.read(record_id)
    office.delete(record_id)
    expect("the deleted record", office.push(record_id)["record"], None)


def push(who: str, client: ThinClient, record_id: Id) -> Collisions:
    """Pushes and reports; answers the outcomes of the conflicts by section, item and group."""
    report.heading(f"{who} sends")
    report.sent(client.changeset(record_id))
    result = client.push(record_id)
    report.heading("and the gateway answers")
    report.outcomes(result)
    return {
        (outcome["section"], outcome.get("id"), outcome.get("group")): outcome["outcome"]
        for outcome in result["outcomes"]
        if outcome.get("conflict")
    }


def expect(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise Unexpected(f"{what}: expected {expected}, found {actual}")
