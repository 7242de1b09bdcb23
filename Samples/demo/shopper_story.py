"""A phone and a tablet edit one shopper: each group by itself, and a note word by word."""

from __future__ import annotations

from typing import Any

import fieldmerge
import report
from story import Json, Shop, create, delete, expect, push, sync

RESOURCE = "shoppers"

NOTES = "Ring twice.\nThe bell is weak."
MERGED_NOTES = "Ring three times.\nThe bell is broken.\nMind the dog."


def tell(shop: Shop) -> None:
    office = shop.office()
    shopper = create(office, RESOURCE, new_shopper())
    try:
        run(shop, shopper)
    finally:
        delete(office, RESOURCE, shopper)


def run(shop: Shop, shopper: Any) -> None:
    phone, tablet = shop.device(RESOURCE), shop.device(RESOURCE)
    before = phone.record(RESOURCE, shopper)
    report.heading("Phone and tablet keep the shopper, and go offline")
    report.record(before)

    on_phone = edit_on_phone(phone, shopper)
    on_tablet = edit_on_tablet(tablet, shopper)

    expect("collisions of the phone", push("The phone", phone, RESOURCE, on_phone, before=before), {})

    beans = before.groceries[0].id
    collisions = {
        ("customer", None, "creditLimit"): "server-won",
        ("customer", None, "notes"): "combined",
        ("groceries", beans, "item"): "client-won",
    }
    met = push("The tablet", tablet, RESOURCE, on_tablet, before=before)
    expect("collisions of the tablet", met, collisions)

    sync(phone)
    report.heading("The phone syncs again: the record as both left it")
    merged = phone.record(RESOURCE, shopper)
    report.record(merged)
    check(merged)
    expect("the tablet's changes after its sync", tablet.status.unsent, 0)
    expect("the record on the tablet", tablet.record(RESOURCE, shopper), merged)


def new_shopper() -> Json:
    groceries = [{"name": "Beans", "quantity": "1 tin"}, {"name": "Tea", "quantity": "1 box"}]
    address = {"street": "1 High St", "county": "Kent", "postCode": "CT1 1AA"}
    customer = {"firstName": "Joe", "lastName": "Shaw", **address, "creditLimit": "50.00", "notes": NOTES}
    return {"customer": customer, "groceries": groceries}


def edit_on_phone(phone: fieldmerge.Store, shopper: Any) -> fieldmerge.Ticket:
    with phone.edit(RESOURCE, shopper) as record:
        record.customer.firstName = "Bob"
        record.customer.creditLimit = "75.00"
        record.customer.notes = "Ring three times.\nThe bell is weak.\nMind the dog."
        record.groceries[0].quantity = "2 tins"
        record.groceries.append({"name": "Rice", "quantity": "1 kg"})
    ticket: fieldmerge.Ticket = record.ticket
    return ticket


def edit_on_tablet(tablet: fieldmerge.Store, shopper: Any) -> fieldmerge.Ticket:
    with tablet.edit(RESOURCE, shopper) as record:
        # A trigger of the database turns the post code into upper case: see what the tablet gets back.
        record.customer.update(street="2 High St", postCode="ct1 1ab")
        record.customer.creditLimit = "100.00"
        record.customer.notes = "Ring twice.\nThe bell is broken."
        record.groceries[0].name = "Corn"
        record.groceries.append({"name": "Sugar", "quantity": "500 g"})
    ticket: fieldmerge.Ticket = record.ticket
    return ticket


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
