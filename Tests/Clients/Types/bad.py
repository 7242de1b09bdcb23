"""Uses that must not pass: mypy reports each of these comments that has no error before it."""

from __future__ import annotations

from orders import Customers, Order, OrderImport, OrderLineRow, OrderOrder, Orders

import fieldmerge
from fieldmerge.typed import CalendarDate, Timestamp


def misuse(store: fieldmerge.Store) -> None:
    orders = store.of(Orders)
    with orders.edit(7) as edit:
        edit.order.title = 5  # type: ignore[assignment]
        edit.order.title = None  # type: ignore[assignment]
        edit.order.modified = Timestamp("2026-11-20T10:00:00Z")  # type: ignore[misc]
        edit.order.secret = "x"  # type: ignore[misc]
        edit.order.area = "x"  # type: ignore[misc]
        edit.order.customerName = "Joe"  # type: ignore[misc]
        edit.id = 8  # type: ignore[misc]
        edit.order.until = "2026-11-20T10:00:00"  # type: ignore[assignment]
        edit.order.until = CalendarDate("2026-11-20")  # type: ignore[assignment]
        edit.order.status = "shut"  # type: ignore[assignment]
        edit.order.flags = ["z"]  # type: ignore[list-item]
        edit.order.total = 12.5  # type: ignore[assignment]
        edit.order.nothing = 5  # type: ignore[attr-defined]
        edit.nothing = 5  # type: ignore[attr-defined]
        edit.lines.append(OrderLineRow())  # type: ignore[call-arg]
        edit.lines.append(OrderLineRow(name="Rice", price=1))  # type: ignore[call-arg]
        edit.import_.append(OrderImport(x=5))  # type: ignore[call-arg]
    orders.create(Order(order=OrderOrder(title="Stools")))  # type: ignore[call-arg]
    order = orders.record(7)
    print(order.order.title)  # type: ignore[union-attr]
    assert order is not None
    count: str = order.order.count  # type: ignore[assignment]
    print(count, order.order.modified.datetime())  # type: ignore[union-attr]
    followed = orders.query(follow={"buyer": "order.customer"}).followed_as("buyer", Customers)
    print(followed[0].customer)  # type: ignore[union-attr]
    store.of("orders")  # type: ignore[arg-type]
