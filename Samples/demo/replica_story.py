"""Two clients keep the whole shop; one of them is offline for three days. One sync each, and both are true."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import report
from gateway import Gateway, Json
from replica import Replica
from stock_story import RESOURCE
from story import create, delete, expect
from thinclient import Id, ThinClient

BARCODES = "2099999999981", "2099999999974"


# Within this the gateway has noticed what others write.
PATIENCE = 30.0


def tell(gateway: Gateway, old_till: str | None) -> None:
    office = ThinClient(gateway, RESOURCE)
    articles: list[Id] = []
    try:
        for barcode, name in zip(BARCODES, ("Tea", "Coffee")):
            article = {"barcode": barcode, "name": name, "price": "2.50", "pricedAt": "2025-12-01T08:00:00"}
            articles.append(create(office, {"article": {**article, "stock": 10}}))
        run(gateway, articles[0], articles[1], old_till)
    finally:
        for article in articles:
            delete(office, article)


def run(gateway: Gateway, tea: Id, coffee: Id, old_till: str | None) -> None:
    shop, van = Replica(gateway), Replica(gateway)
    report.heading(f"A till and a van take all {len(shop.records)} records; then the van drives off")

    for day, sold in enumerate((2, 1, 3), start=1):
        shop.edit(RESOURCE, tea, "article", "stock", shop.read(RESOURCE, tea)["article"]["stock"] - sold)
        results, changes = shop.sync()
        expect(f"the till's push of day {day}", [result["status"] for result in results], ["merged"])
        print(f"  day {day}: the till sells {sold} packets of tea and is told of {len(changes)} change")
    van.edit(RESOURCE, tea, "article", "stock", van.read(RESOURCE, tea)["article"]["stock"] - 4)
    van.edit(RESOURCE, coffee, "article", "name", "Coffee, ground")
    print("  meanwhile the van has sold 4, and has given the coffee another name")
    left = 10 - 2 - 1 - 3
    if old_till:
        left -= 1
        sell_at(old_till)
        print("  the old till, which knows of no gateway, sells one with an UPDATE of its own")
        changes = wait_for(shop, tea, left)
        expect("who did that", [change["by"] for change in changes], [None])

    report.heading("The van is online again: one request")
    results, changes = van.sync()
    for result in results:
        report.outcomes(result["results"][0])
    expect("the van's pushes", [result["status"] for result in results], ["merged", "merged"])
    expect("the stock of tea", van.read(RESOURCE, tea)["article"]["stock"], left - 4)
    shop.sync()

    held = {
        (resource, str(record["id"])): record
        for resource in {resource for resource, _ in shop.records}
        for record in gateway.records(resource)
    }
    expect("what the till holds", shop.records == held, True)
    expect("what the van holds", van.records == held, True)
    print(f"\n  The till, the van and the database hold the same {len(held)} records.")


def sell_at(old_till: str) -> None:
    with closing(sqlite3.connect(old_till, timeout=10)) as database, database:
        database.execute("UPDATE articles SET in_stock = in_stock - 1 WHERE barcode = ?", (BARCODES[0],))


def wait_for(shop: Replica, article: Id, stock: int) -> list[Json]:
    """Asks until the gateway has noticed what the old till sold, and answers what it told then."""
    end = time.monotonic() + PATIENCE
    while True:
        changes = shop.sync()[1]
        if shop.read(RESOURCE, article)["article"]["stock"] == stock or time.monotonic() > end:
            expect("what the gateway noticed", shop.read(RESOURCE, article)["article"]["stock"], stock)
            return changes
        time.sleep(0.1)
