import MergeCore
import RecordStore

/// The state of one section in the memory of the scanning gateway.
final class UnitScan {
    let unit: ScanUnit
    let id: Int
    /// The latest revision at the start of the last complete pass.
    var scanned: Int
    /// True if all rows have digests.
    var isComplete: Bool
    var ranges: [MarkRange]
    private var nextID: Int
    /// The id reserved for the next range at the end.
    private(set) var tailID: Int
    /// The passes for which the section remains busy.
    var heat = 0
    /// The start of the last complete pass by the database's clock, or nil.
    var passBegan: Int?
    /// True if most ranges changed recently, so that comparing many ranges at once is useless.
    var isStirred = false
    /// The successive cycles without a pass over the section.
    var skipped = 0

    /// - Throws: `StoreError` if the chain of ranges is broken.
    init(_ unit: ScanUnit, _ known: ScanHand.Known) throws(StoreError) {
        self.unit = unit
        id = known.id
        scanned = known.scanned
        isComplete = known.isComplete
        guard let ordered = RangeSplit.chain(known.ranges, isWhole: known.isComplete) else {
            throw StoreError(.unreadable, "the marks of “\(unit.name)” do not hang together")
        }
        ranges = ordered
        tailID = ordered.last?.next ?? 1
        nextID = max(known.ranges.map(\.id).max() ?? 0, tailID) + 1
    }

    func newID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    /// Returns the reserved id of the end, and reserves another.
    func advanceTail() -> Int {
        defer { tailID = newID() }
        return tailID
    }
}

final class UnitPass {
    let scan: UnitScan
    let revision: Int
    var notes: NoteCheck
    /// The index of the next range.
    var index = 0
    /// The key before that range.
    var low: RecordKey?
    var isDone = false
    var found = 0
    var losses = LossCount()
    /// Records that were missing in delivered ranges but exist now.
    var missed: [ScanHand.FoundChange] = []
    /// The rows that were skipped because a value cannot be decoded.
    var omitted = OmittedRows()
    /// The rows that differ from their digests, including those of pushes.
    var differing = 0
    /// The compared ranges, and those with differences.
    var ranges = (all: 0, differing: 0)
    /// The start by the database's clock, or nil.
    let began: Int?
    /// True for the rest of an interrupted pass, which proves nothing about the whole section.
    let isRest: Bool

    /// Continues an interrupted pass.
    ///
    /// - Parameter low: the last key of the previous range.
    init(rest scan: UnitScan, from index: Int, low: RecordKey?) {
        self.scan = scan
        self.index = index
        self.low = low
        revision = scan.scanned
        notes = NoteCheck()
        began = nil
        isRest = true
    }

    init(_ scan: UnitScan, _ beginning: ScanHand.Beginning, began: Int?) {
        self.scan = scan
        revision = beginning.revision
        notes = beginning.notes
        self.began = began
        isRest = false
    }
}
