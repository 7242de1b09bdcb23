"""A phone and a tablet edit one shopper: each group by itself, and a note word by word."""

from __future__ import annotations

import report
from gateway import Gateway, Json
from story import create, delete, expect, push
from thinclient import Id, ThinClient

RESOURCE = "shoppers"

NOTES = "Ring twice.\nThe bell is weak."
MERGED_NOTES = "Ring three times.\nThe bell is broken.\nMind the dog."


def tell(gateway: Gateway) -> None:
    office = ThinClient(gateway, RESOURCE)
    shopper = create(office, new_shopper(office))
    try:
        run(gateway, shopper)
    finally:
        delete(office, shopper)


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
        ("customer", None, "notes"): "combined",
        ("groceries", beans, "item"): "client-won",
    }
    expect("collisions of the tablet", push("The tablet", tablet, shopper), collisions)

    report.heading("The phone reads again: the record as both left it")
    merged = phone.read(shopper)
    report.record(merged)
    check(merged)
    expect("the tablet's changes after its push", tablet.changeset(shopper), {})
    expect("the record on the tablet", tablet.read(shopper), merged)


def new_shopper(office: ThinClient) -> Json:
    groceries = [
        {"id": office.temporary_id(), "name": "Beans", "quantity": "1 tin"},
        {"id": office.temporary_id(), "name": "Tea", "quantity": "1 box"},
    ]
    address = {"street": "1 High St", "county": "Kent", "postCode": "CT1 1AA"}
    customer = {"firstName": "Joe", "lastName": "Shaw", **address, "creditLimit": "50.00", "notes": NOTES}
    return {"customer": customer, "groceries": groceries}


def edit_on_phone(phone: ThinClient, record: Json) -> None:
    record["customer"]["firstName"] = "Bob"
    record["customer"]["creditLimit"] = "75.00"
    record["customer"]["notes"] = "Ring three times.\nThe bell is weak.\nMind the dog."
    record["groceries"][0]["quantity"] = "2 tins"
    rice = {"id": phone.temporary_id(), "name": "Rice", "quantity": "1 kg"}
    record["groceries"].append(rice)


def edit_on_tablet(tablet: ThinClient, record: Json) -> None:
    # A trigger of the database turns the post code into upper case: see what the tablet gets back.
    record["customer"].update(street="2 High St", postCode="ct1 1ab")
    record["customer"]["creditLimit"] = "100.00"
    record["customer"]["notes"] = "Ring twice.\nThe bell is broken."
    record["groceries"][0]["name"] = "Corn"
    sugar = {"id": tablet.temporary_id(), "name": "Sugar", "quantity": "500 g"}
    record["groceries"].append(sugar)


def check(merged: Json) -> None:
    customer = {
        "firstName": "Bob",  # from the phone
        "lastName": "Shaw",
        "street": "2 High St",  # from the tablet
        "county": "Kent",
        "postCode": "CT1 1AB",  # from the tablet, upper-cased by the trigger
        "creditLimit": "75.00",  # from the phone: server-wins, so the later tablet had to yield
        "notes": MERGED_NOTES,  # from both: merge: text
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
