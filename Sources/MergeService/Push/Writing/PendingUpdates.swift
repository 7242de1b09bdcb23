import MergeCore
import RecordStore

/// Decided updates that wait for a common statement.
///
/// They update different rows. None of them can change the row of another.
struct PendingUpdates {
    struct Update {
        let row: EditedRow
        let change: SectionSQL.Change
        let current: [Value]
    }

    private struct Shape {
        let id: SectionID
        let columns: [Int]
        var updates: [Update]
    }

    /// The server evaluates each column's CASE once for every row, so a longer statement costs more than two short
    /// ones.
    private static let maximumBatch = 64

    private var shapes: [Shape] = []
    /// The time of the first update in `RowChanges`.
    private var start = 0
    private var tables: Set<TableName> = []
    /// The pushes whose updates write unique columns, by table.
    private var uniqueWriters: [TableName: Set<Int>] = [:]
    private var reachesOthers = false

    var isEmpty: Bool { shapes.isEmpty }

    /// The waiting update, if it is the only one.
    var only: Update? { shapes.count == 1 && shapes[0].updates.count == 1 ? shapes[0].updates[0] : nil }

    func mayChange(_ table: TableName) -> Bool { reachesOthers || tables.contains(table) }

    /// Returns true if the waiting updates must be written before an update is added.
    ///
    /// They must if it changes the same row, or if its order decides whether rows collide in a unique index.
    ///
    /// - Parameters:
    ///   - last: the time of the row's previous change in `RowChanges`; nil if there was none.
    ///   - owner: the push of the update; updates of different pushes have no order.
    func mustGoBefore(_ last: Int?, in table: TableName, isUnique: Bool, owner: Int) -> Bool {
        // Immediate writes flush all waiting updates first, so a change since `start` is itself a waiting update.
        if let last, !isEmpty, last >= start { return true }
        return isUnique && uniqueWriters[table]?.contains(owner) == true
    }

    mutating func add(
        _ update: Update, at time: Int, in table: TableName, reaching reach: Footprint.Reach, isUnique: Bool, owner: Int
    ) {
        let id = update.row.id
        if isEmpty { start = time }
        tables.insert(table)
        if isUnique { uniqueWriters[table, default: []].insert(owner) }
        if reach != .row { reachesOthers = true }
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

    /// Updates for one statement each.
    var batches: [[Update]] {
        shapes.flatMap { shape in
            stride(from: 0, to: shape.updates.count, by: Self.maximumBatch).map { start in
                Array(shape.updates[start..<min(start + Self.maximumBatch, shape.updates.count)])
            }
        }
    }

    mutating func drop(_ isDropped: (PushPlan.Step) -> Bool) {
        for index in shapes.indices { shapes[index].updates.removeAll { isDropped($0.row.step) } }
        shapes.removeAll(where: \.updates.isEmpty)
    }
}
