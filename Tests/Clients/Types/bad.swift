import FieldMergeClient
import Foundation

/// Uses that must not compile: the compiler has to report exactly the lines with this comment.
func misuse(_ store: FieldMergeStore, _ other: Customer) async throws {
    let orders = store.of(Orders)
    try await orders.edit(7) {
        $0.order.title = 5  // error
    }
    try await orders.edit(7) {
        $0.order.title = nil  // error
    }
    try await orders.edit(7) {
        $0.order.modified = Timestamp(Date())  // error
    }
    try await orders.edit(7) {
        $0.order.secret = ""  // error
    }
    try await orders.edit(7) {
        $0.order.area = ""  // error
    }
    try await orders.edit(7) {
        $0.order.customerName = ""  // error
    }
    try await orders.edit(7) {
        $0.order.until = CalendarDate(Date())  // error
    }
    try await orders.edit(7) {
        $0.order.status = "open"  // error
    }
    try await orders.edit(7) {
        $0.order.status = .shut  // error
    }
    try await orders.edit(7) {
        $0.order.nothing = 5  // error
    }
    try await orders.edit(other.id) { _ in }  // error
    _ = OrderImport(x: 5)  // error
    _ = OrderOrder(title: "Stools")  // error
    _ = store.of("orders")  // error
    guard let order = try await orders.record(7) else { return }
    let count: String = order.order.count  // error
    print(count)
}
