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
    private struct Shape: Hashable {
        let id: SectionID
        let columns: [Int]
    }

    /// The server looks through the CASE of each column once for every row, so a longer statement costs more than two.
    private static let maximumBatch = 64

    private var groups: [Shape: [Update]] = [:]
    private var order: [Shape] = []
    private var rows: [SectionID: Set<[Assignment]>] = [:]

    var isEmpty: Bool { order.isEmpty }

    /// Whether an update of this row waits already.
    func holds(_ key: [Assignment], _ id: SectionID) -> Bool { rows[id]?.contains(key) ?? false }

    mutating func add(_ update: Update, _ id: SectionID) {
        let shape = Shape(id: id, columns: update.change.assignments.map(\.column))
        if groups[shape] == nil { order.append(shape) }
        groups[shape, default: []].append(update)
        rows[id, default: []].insert(update.change.key)
    }

    /// The updates in runs that one statement can write.
    var batches: [[Update]] {
        order.flatMap { shape -> [[Update]] in
            let updates = groups[shape] ?? []
            return stride(from: 0, to: updates.count, by: Self.maximumBatch).map { start in
                Array(updates[start..<min(start + Self.maximumBatch, updates.count)])
            }
        }
    }

    /// Forgets the updates of some edits.
    mutating func drop(_ isDropped: (PushPlan.Step) -> Bool) {
        var kept = PendingUpdates()
        for shape in order {
            for update in groups[shape] ?? [] where !isDropped(update.step) { kept.add(update, shape.id) }
        }
        self = kept
    }
}

/// How a push writes: many rows at once as long as nothing is refused.
///
/// It outlives a run of the transaction, because a refusal is told from the next run, row by row.
final class WriteMode: Sendable {
    private let isSingle = Atomic<Bool>(false)

    var writesTogether: Bool { !isSingle.load(ordering: .relaxed) }

    func fallBack() { isSingle.store(true, ordering: .relaxed) }
}
