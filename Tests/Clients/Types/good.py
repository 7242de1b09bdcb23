"""Uses of the types that must pass `mypy --strict`."""

from __future__ import annotations

from decimal import Decimal

from orders import Customers, Order, OrderImport, OrderLineRow, OrderOrder, Orders

import fieldmerge
from fieldmerge.typed import CalendarDate, LocalDateTime


def use(store: fieldmerge.Store) -> tuple[str, Decimal, str | None]:
    orders = store.of(Orders)
    order = orders.record(7)
    assert order is not None
    with orders.edit(7, base=order) as edit:
        edit.order.title = "Stools"
        edit.order.status = "open"
        edit.order.total += Decimal("0.50")
        edit.order.until = LocalDateTime("2026-11-20T10:00:00")
        edit.order.from_ = None
        edit.order.customer = "tmp:0"
        edit.order.extra = {"a": [1, None]}
        edit.order.raw = b"\x00"
        edit.lines.append(OrderLineRow(name="Rice"))
        edit.lines[0].quantity = Decimal(2)
        edit.import_.append(OrderImport(id=["a", 5]))
    found = orders.query(where={"order.status": ["open"]}, limit=5)
    titles: list[str] = [one.order.title for one in found]
    orders.create(
        Order(order=OrderOrder(title="Stools", status="open", labels=titles, total=Decimal(1), count=1, paid=False, area="K"))
    )
    with orders.live() as live:
        live.subscribe(lambda value: print(value[0].lines[0].name))
    end = orders.observe(7, lambda one: print(one.order.modified if one else None))
    end()
    buyers = orders.query(follow={"buyer": "order.customer"}).followed_as("buyer", Customers)
    names: list[str] = [one.customer.name for one in buyers if one]
    customer = store.of(Customers).record(names[0])
    day = CalendarDate("2026-11-20").date()
    return order.order.title, order.order.total, customer.customer.name if customer and day else found.next


async def use_asyncio(store: fieldmerge.aio.AsyncStore) -> str:
    orders = store.of(Orders)
    order = await orders.record(7)
    assert order is not None
    async with orders.edit(7, base=order) as edit:
        edit.order.title = "Stools"
    found = await orders.query(where={"order.status": ["open"]}, follow={"buyer": "order.customer"})
    buyers = found.followed_as("buyer", Customers)
    ticket = await orders.create(order)
    await orders.delete(7)
    async for one in orders.observe(7):
        print(one.order.modified if one else await orders.count())
    async with await orders.live(limit=3) as live:
        async for value in live:
            print(value[0].lines[0].name, (await ticket.outcome()).status)
    return buyers[0].customer.name if buyers[0] else order.order.title
