"""Two phones count the stock of one article: what each took or brought adds up."""

from __future__ import annotations

from typing import Any

import report
from story import Shop, create, delete, expect, push, sync

RESOURCE = "articles"

# No label of the shop has this number. Should an earlier run have left the article, creating it
# again means the same one.
BARCODE = "2099999999998"


def tell(shop: Shop) -> None:
    office = shop.office()
    honey = {"barcode": BARCODE, "name": "Honey", "price": "3.20", "pricedAt": "2025-12-01T08:00:00"}
    article = create(office, RESOURCE, {"article": {**honey, "stock": 20}})
    try:
        run(shop, article)
    finally:
        delete(office, RESOURCE, article)


def run(shop: Shop, article: Any) -> None:
    till, store = shop.device(RESOURCE), shop.device(RESOURCE)
    before = till.record(RESOURCE, article)
    report.heading("Two phones keep the stock of an article, and go offline")
    report.record(before)

    with till.edit(RESOURCE, article) as at_till:
        at_till.article.stock -= 3  # sold
    with store.edit(RESOURCE, article) as in_store:
        in_store.article.stock += 12  # delivered

    expect(
        "collisions of the first phone",
        push("The phone at the till", till, RESOURCE, at_till.ticket, before=before),
        {},
    )
    collisions = {("article", None, "stock"): "combined"}
    met = push("The phone in the store", store, RESOURCE, in_store.ticket, before=before)
    expect("collisions of the second phone", met, collisions)
    sync(till)
    expect("the stock", till.record(RESOURCE, article).article.stock, before.article.stock - 3 + 12)
