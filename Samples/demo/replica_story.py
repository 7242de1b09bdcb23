"""Two devices keep the whole shop; one of them is offline for three days. One sync each, and both are true."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import Any

import report
from stock_story import RESOURCE
from story import Shop, create, delete, expect, sync

EVERYTHING = "aisles", "articles", "orders", "shoppers"
BARCODES = "2099999999981", "2099999999974"


# Within this the gateway has noticed what others write.
PATIENCE = 30.0


def tell(shop: Shop, old_till: str | None) -> None:
    office = shop.office()
    articles: list[Any] = []
    try:
        for barcode, name in zip(BARCODES, ("Tea", "Coffee")):
            article = {"barcode": barcode, "name": name, "price": "2.50", "pricedAt": "2025-12-01T08:00:00"}
            articles.append(create(office, RESOURCE, {"article": {**article, "stock": 10}}))
        run(shop, articles[0], articles[1], old_till)
    finally:
        for article in articles:
            delete(office, RESOURCE, article)


def run(shop: Shop, tea: Any, coffee: Any, old_till: str | None) -> None:
    till, van = shop.device(), shop.device()
    count = sum(len(till.records(resource)) for resource in EVERYTHING)
    report.heading(f"A till and a van take all {count} records; then the van drives off")

    for day, sold in enumerate((2, 1, 3), start=1):
        with till.edit(RESOURCE, tea) as record:
            record.article.stock -= sold
        sync(till)
        expect(f"the till's edit of day {day}", record.ticket.outcome(timeout=0).status, "merged")
        print(f"  day {day}: the till sells {sold} of the tea")
    with van.edit(RESOURCE, tea) as sale:
        sale.article.stock -= 4
    with van.edit(RESOURCE, coffee) as renaming:
        renaming.article.name = "Coffee, ground"
    print(f"  meanwhile the van has sold 4, and has given the coffee another name: {van.status.unsent} edits wait")
    left = 10 - 2 - 1 - 3
    if old_till:
        left -= 1
        sell_at(old_till)
        print("  the old till, which knows of no gateway, sells one with an UPDATE of its own")
        wait_for(till, tea, left)

    report.heading("The van is online again: one request")
    sync(van)
    for edited in (sale, renaming):
        outcome = edited.ticket.outcome(timeout=0)
        expect("the van's edit", outcome.status, "merged")
        report.outcome(outcome)
    expect("the stock of tea", van.record(RESOURCE, tea).article.stock, left - 4)
    sync(till)

    office = shop.office()
    held = {resource: office.records(resource) for resource in EVERYTHING}
    expect("what the till holds", {resource: till.records(resource) for resource in EVERYTHING} == held, True)
    expect("what the van holds", {resource: van.records(resource) for resource in EVERYTHING} == held, True)
    count = sum(len(records) for records in held.values())
    print(f"\n  The till, the van and the database hold the same {count} records.")


def sell_at(old_till: str) -> None:
    with closing(sqlite3.connect(old_till, timeout=10)) as database, database:
        database.execute("UPDATE articles SET in_stock = in_stock - 1 WHERE barcode = ?", (BARCODES[0],))


def wait_for(till: Any, article: Any, stock: int) -> None:
    """Asks until the gateway has noticed what the old till sold."""
    end = time.monotonic() + PATIENCE
    while till.record(RESOURCE, article).article.stock != stock and time.monotonic() < end:
        sync(till)
        time.sleep(0.1)
    expect("what the gateway noticed", till.record(RESOURCE, article).article.stock, stock)
