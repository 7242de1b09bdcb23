"""Two phones count the stock of one article: what each took or brought adds up."""

from __future__ import annotations

import report
from gateway import Gateway
from story import create, delete, expect, push
from thinclient import Id, ThinClient

RESOURCE = "articles"

# No label of the shop has this number. Should an earlier run have left the article, creating it
# again means the same one.
BARCODE = "2099999999998"


def tell(gateway: Gateway) -> None:
    office = ThinClient(gateway, RESOURCE)
    honey = {"barcode": BARCODE, "name": "Honey", "price": "3.20", "pricedAt": "2025-12-01T08:00:00"}
    article = create(office, {"article": {**honey, "stock": 20}})
    try:
        run(gateway, article)
    finally:
        delete(office, article)


def run(gateway: Gateway, article: Id) -> None:
    till, store = ThinClient(gateway, RESOURCE), ThinClient(gateway, RESOURCE)
    at_till, in_store = till.read(article), store.read(article)
    report.heading("Two phones read the stock of an article, then go offline")
    report.record(at_till)

    stock = at_till["article"]["stock"]
    at_till["article"]["stock"] -= 3  # sold
    in_store["article"]["stock"] += 12  # delivered

    expect("collisions of the first phone", push("The phone at the till", till, article), {})
    collisions = {("article", None, "stock"): "combined"}
    expect("collisions of the second phone", push("The phone in the store", store, article), collisions)
    expect("the stock", till.read(article)["article"]["stock"], stock - 3 + 12)
