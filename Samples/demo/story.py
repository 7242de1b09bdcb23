"""What the stories of the demo have in common: devices, syncing with a report, and comparing with what should be."""

from __future__ import annotations

from typing import Any

import fieldmerge
import report

Json = dict[str, Any]
Collisions = dict[tuple[str, Any, str | None], str]


class Unexpected(Exception):
    """A merge came out otherwise than the demo expects."""


class Shop:
    """The gateway of the shop, and every device that the demo opens on it."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url, self._token = url, token
        self._devices: list[fieldmerge.Store] = []

    def device(self, *resources: str) -> fieldmerge.Store:
        """A device that keeps the records of these resources (of all, where none is named), as they are now."""
        store = self._open(list(resources) or None)
        sync(store)
        return store

    def office(self) -> fieldmerge.Store:
        """A device that keeps nothing, and asks for each record when it needs it."""
        store = self._open([])
        sync(store)
        return store

    def _open(self, resources: list[str] | None) -> fieldmerge.Store:
        store = fieldmerge.open(
            ":memory:", server=self._url, user="demo", token=self._token, resources=resources, client="demo/1.0"
        )
        self._devices.append(store)
        return store

    def close(self) -> None:
        for store in self._devices:
            store.close()


def sync(store: fieldmerge.Store) -> fieldmerge.Report:
    """Syncs, and takes everything but success for an error."""
    done = store.sync()
    for refused in store.refused_edits():
        raise Unexpected(f"{refused.resource} {refused.id} was refused: {refused.problem.get('detail')}")
    if not done.ok:
        raise Unexpected(f"the gateway gives no answer: {done.error}")
    return done


def create(office: fieldmerge.Store, resource: str, sections: Json) -> Any:
    with office.create(resource) as record:
        for name, content in sections.items():
            record[name] = content
    sync(office)
    return record.ticket.id


def delete(office: fieldmerge.Store, resource: str, record_id: Any) -> None:
    ticket = office.delete(resource, record_id)
    sync(office)
    expect("the deleted record", ticket.outcome(timeout=0).record, None)


def push(who: str, store: fieldmerge.Store, resource: str, ticket: fieldmerge.Ticket, *, before: Any) -> Collisions:
    """Syncs a device that has edited a record, and reports; answers what became of the conflicts, by section, item
    and group."""
    report.heading(f"{who} is online again, and sends")
    report.changes(before, store.record(resource, ticket.id))
    sync(store)
    outcome = ticket.outcome(timeout=0)
    expect("what became of it", outcome.status, "merged")
    report.heading("and the gateway answers")
    report.outcome(outcome)
    return {(one.section or "", one.item, one.group): one.outcome or "" for one in outcome.conflicts}


def expect(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise Unexpected(f"{what}: expected {expected}, found {actual}")
