import MergeCore
import RecordStore

/// Updates that were decided and wait to be written together.
///
/// They are of different rows, and none waits that another could reach.
struct PendingUpdates {
    struct Update {
        let row: EditedRow
        let change: SectionSQL.Change
        /// The row's values before.
        let current: [Value]
    }

    /// Rows whose same columns are written.
    private struct Shape {
        let id: SectionID
        let columns: [Int]
        var updates: [Update]
    }

    /// The server looks through the CASE of each column once for every row, so a longer statement costs more than two.
    private static let maximumBatch = 64

    private var shapes: [Shape] = []
    /// The time by `RowChanges` of the first of them.
    private var start = 0
    private var tables: Set<String> = []
    /// Owners of updates that write unique columns, by the table.
    private var uniqueWriters: [String: Set<Int>] = [:]
    private var reachesOthers = false

    var isEmpty: Bool { shapes.isEmpty }

    /// The update that waits, where it is only one.
    var only: Update? { shapes.count == 1 && shapes[0].updates.count == 1 ? shapes[0].updates[0] : nil }

    /// Returns true where a row of the table may look otherwise once all is written.
    func mayChange(_ table: String) -> Bool { reachesOthers || tables.contains(table) }

    /// Returns true where an update has to wait until those that wait are written: it is of the same row, or the order
    /// of the two decides whether rows collide in a unique index.
    ///
    /// - Parameters:
    ///   - last: the time by `RowChanges` of the row's last change before; nil where there was none.
    ///   - owner: whose update it is; updates of different owners have no order.
    func mustGoBefore(_ last: Int?, in table: String, isUnique: Bool, owner: Int) -> Bool {
        // Whatever changes a row at once is written behind all that waits, so this change waits itself.
        if let last, !isEmpty, last >= start { return true }
        return isUnique && uniqueWriters[table]?.contains(owner) == true
    }

    /// - Parameter time: of the update by `RowChanges`.
    mutating func add(_ update: Update, at time: Int, reaching footprint: Footprint, isUnique: Bool, owner: Int) {
        let id = update.row.id
        if isEmpty { start = time }
        tables.insert(footprint.table)
        if isUnique { uniqueWriters[footprint.table, default: []].insert(owner) }
        if footprint.reach != .row { reachesOthers = true }
        // Most edits are of the same fields as the one before.
        let place = shapes.lastIndex { shape in
            shape.columns.count == update.change.assignments.count
                && zip(shape.columns, update.change.assignments).allSatisfy { $0 == $1.column } && shape.id == id
        }
        if let place {
            shapes[place].updates.append(update)
        } else {
            shapes.append(Shape(id: id, columns: update.change.assignments.map(\.column), updates: [update]))
        }
    }

    /// The updates in runs that one statement can write.
    var batches: [[Update]] {
        shapes.flatMap { shape in
            stride(from: 0, to: shape.updates.count, by: Self.maximumBatch).map { start in
                Array(shape.updates[start..<min(start + Self.maximumBatch, shape.updates.count)])
            }
        }
    }

    /// Forgets the updates of some edits.
    mutating func drop(_ isDropped: (PushPlan.Step) -> Bool) {
        for index in shapes.indices { shapes[index].updates.removeAll { isDropped($0.row.step) } }
        shapes.removeAll(where: \.updates.isEmpty)
    }
}
