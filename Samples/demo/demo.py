#!/usr/bin/env python3
"""Two devices edit one shopper while offline, then push in turn.

Runs against a gateway that serves Samples/shop with MergeRules/shoppers.yaml. It works on a shopper
of its own, which it deletes at the end. The exit code is 0 only if every merge came out right.
"""

from __future__ import annotations

import argparse
import os
import sys

import report
from gateway import Gateway, GatewayError, Json
from thinclient import Id, NotMerged, ThinClient

RESOURCE = "shoppers"


class Unexpected(Exception):
    """A merge came out otherwise than the demo expects."""


def main() -> int:
    options = arguments()
    gateway = Gateway(options.url, options.token)
    try:
        office = ThinClient(gateway, RESOURCE)
        shopper = create_shopper(office)
        try:
            run(gateway, shopper)
        finally:
            delete_shopper(office, shopper)
    except (GatewayError, NotMerged, Unexpected) as error:
        report.failure(f"demo: {error}")
        return 1
    print("\nEvery merge came out as expected.")
    return 0


def run(gateway: Gateway, shopper: Id) -> None:
    phone, tablet = ThinClient(gateway, RESOURCE), ThinClient(gateway, RESOURCE)
    on_phone, on_tablet = phone.read(shopper), tablet.read(shopper)
    report.heading("Phone and tablet read the shopper, then go offline")
    report.record(on_phone)

    edit_on_phone(phone, on_phone)
    edit_on_tablet(tablet, on_tablet)

    expect("collisions of the phone", push("The phone", phone, shopper), {})

    beans = on_tablet["groceries"][0]["id"]
    collisions = {
        ("customer", None, "creditLimit"): "server-won",
        ("groceries", beans, "item"): "client-won",
    }
    expect("collisions of the tablet", push("The tablet", tablet, shopper), collisions)

    report.heading("The phone reads again: the record as both left it")
    merged = phone.read(shopper)
    report.record(merged)
    check(merged)
    expect("the tablet's changes after its push", tablet.changeset(shopper), {})
    expect("the record on the tablet", tablet.read(shopper), merged)


def create_shopper(office: ThinClient) -> Id:
    groceries = [
        {"id": office.temporary_id(), "name": "Beans", "quantity": "1 tin"},
        {"id": office.temporary_id(), "name": "Tea", "quantity": "1 box"},
    ]
    address = {"street": "1 High St", "county": "Kent", "postCode": "CT1 1AA"}
    customer = {"firstName": "Joe", "lastName": "Shaw", **address, "creditLimit": "50.00"}
    created = office.create({"customer": customer, "groceries": groceries})
    record = office.push(created)["record"]
    shopper: Id = record["id"]
    return shopper


def delete_shopper(office: ThinClient, shopper: Id) -> None:
    office.read(shopper)
    office.delete(shopper)
    expect("the deleted record", office.push(shopper)["record"], None)


def edit_on_phone(phone: ThinClient, record: Json) -> None:
    record["customer"]["firstName"] = "Bob"
    record["customer"]["creditLimit"] = "75.00"
    record["groceries"][0]["quantity"] = "2 tins"
    rice = {"id": phone.temporary_id(), "name": "Rice", "quantity": "1 kg"}
    record["groceries"].append(rice)


def edit_on_tablet(tablet: ThinClient, record: Json) -> None:
    # A trigger of the database turns the post code into upper case: see what the tablet gets back.
    record["customer"].update(street="2 High St", postCode="ct1 1ab")
    record["customer"]["creditLimit"] = "100.00"
    record["groceries"][0]["name"] = "Corn"
    sugar = {"id": tablet.temporary_id(), "name": "Sugar", "quantity": "500 g"}
    record["groceries"].append(sugar)


def push(who: str, client: ThinClient, shopper: Id) -> dict[tuple[str, Id | None, str | None], str]:
    """Pushes and reports; answers the outcomes of the conflicts by section, item and group."""
    report.heading(f"{who} sends")
    report.sent(client.changeset(shopper))
    result = client.push(shopper)
    report.heading("and the gateway answers")
    report.outcomes(result)
    return {
        (outcome["section"], outcome.get("id"), outcome.get("group")): outcome["outcome"]
        for outcome in result["outcomes"]
        if outcome.get("conflict")
    }


def check(merged: Json) -> None:
    customer = {
        "firstName": "Bob",  # from the phone
        "lastName": "Shaw",
        "street": "2 High St",  # from the tablet
        "county": "Kent",
        "postCode": "CT1 1AB",  # from the tablet, upper-cased by the trigger
        "creditLimit": "75.00",  # from the phone: server-wins, so the later tablet had to yield
    }
    groceries = [
        ("Corn", "1 tin"),  # from the tablet: client-wins, the whole group
        ("Tea", "1 box"),
        ("Rice", "1 kg"),  # from the phone
        ("Sugar", "500 g"),  # from the tablet
    ]
    expect("the customer", {field: merged["customer"][field] for field in customer}, customer)
    listed = [(item["name"], item["quantity"]) for item in merged["groceries"]]
    expect("the groceries", listed, groceries)


def expect(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise Unexpected(f"{what}: expected {expected}, found {actual}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Two clients edit one record offline, then merge.")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the gateway (%(default)s)")
    token = os.environ.get("FIELDMERGE_TOKEN")
    parser.add_argument("--token", default=token, help="a bearer token (or FIELDMERGE_TOKEN)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
