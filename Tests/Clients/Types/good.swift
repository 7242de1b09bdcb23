import FieldMergeClient
import Foundation

/// Uses of the types that must compile.
func use(_ store: FieldMergeStore) async throws -> (String, Decimal, String?) {
    let orders = store.of(Orders)
    guard let order = try await orders.record(7) else { throw CancellationError() }
    try await orders.edit(order.id) {
        $0.order.title = "Stools"
        $0.order.status = .open
        $0.order.total += 1
        $0.order.until = LocalDateTime(Date(), fraction: 3)
        $0.order.from = nil
        $0.order.customer = "c7"
        $0.order.flags = [.x]
        $0.order.extra = ["a": [1, nil]]
        $0.order.raw = Data([0])
        $0.lines.append(OrderLineRow(name: "Rice"))
        $0.lines[0].quantity = 2
        $0.import.append(OrderImport(id: TypedID(["a", "5"])))
    }
    let found = try await orders.query(where: [.equals("order.status", "open")], limit: 5)
    let titles: [String] = found.map(\.order.title)
    try await orders.create(
        Order(
            order: OrderOrder(
                title: "Stools", status: .open, labels: titles, total: 1, count: 1, paid: false, area: "K")))
    let buyers = try await orders.query(follow: ["buyer": "order.customer"]).followed("buyer", as: Customers)
    let names: [String] = buyers.compactMap { $0?.customer.name }
    print(names)
    for try await value in try orders.live(limit: 3) { print(value.first?.lines[0].name ?? "") }
    for try await value in try orders.observe(7) { print(value?.order.modified?.date ?? Date()) }
    try await store.transaction { t in
        let id = try t.create(Customers, Customer(id: "c8", customer: CustomerCustomer(name: "Joe")))
        try t.edit(Orders, 7) { $0.order.customer = id }
    }
    switch order.order.status {
    case .open: return (order.order.title, order.order.total, found.next)
    default: return ("", 0, nil)
    }
}
