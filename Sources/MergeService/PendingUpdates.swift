import MergeCore
import RecordStore
import Synchronization

/// Updates that were decided and wait to be written together.
struct PendingUpdates {
    struct Update {
        let section: Section
        let change: SectionSQL.Change
        let row: [Value]
        let edit: RowEdit
        let step: PushPlan.Step
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
    private var rows: [SectionID: Set<[Assignment]>] = [:]

    var isEmpty: Bool { shapes.isEmpty }

    /// The update that waits, where it is only one.
    var only: Update? { shapes.count == 1 && shapes[0].updates.count == 1 ? shapes[0].updates[0] : nil }

    /// Whether an update of this row waits already.
    func holds(_ key: [Assignment], _ id: SectionID) -> Bool { rows[id]?.contains(key) ?? false }

    /// - Parameter mayRepeat: the row may be updated once more; else it is not remembered.
    mutating func add(_ update: Update, _ id: SectionID, mayRepeat: Bool) {
        if mayRepeat { rows[id, default: []].insert(update.change.key) }
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
        for index in shapes.indices { shapes[index].updates.removeAll { isDropped($0.step) } }
        shapes.removeAll(where: \.updates.isEmpty)
    }
}

/// How a push writes: many rows at once as long as nothing is refused, and all edits but those that were found out to be
/// refused.
///
/// It outlives a run of the transaction, because a refusal is told from the next run, row by row.
final class WriteMode: Sendable {
    private let isSingle = Atomic<Bool>(false)

    var writesTogether: Bool { !isSingle.load(ordering: .relaxed) }

    func fallBack() { isSingle.store(true, ordering: .relaxed) }

    private let refusals = Mutex<[Int: Problem]>([:])

    /// Returns why the edit at a position of the push is refused in any run from now on; nil where it is not.
    func refusal(of edit: Int) -> Problem? { refusals.withLock { $0[edit] } }

    func refuse(_ edit: Int, for problem: Problem) { refusals.withLock { $0[edit] = problem } }
}
