import MergeCore
import RecordStore

/// The memory of one section that the gateway which scans holds.
final class UnitScan {
    let unit: ScanUnit
    let id: Int
    /// The latest revision at the beginning of the last whole pass.
    var scanned: Int
    /// All rows have marks.
    var isComplete: Bool
    /// In the order of the keys.
    var ranges: [MarkRange]
    /// The number of the next range that is new.
    private var nextID: Int
    /// The number under which the first range behind those that are there will be kept.
    private(set) var tailID: Int
    /// Passes for which it still counts as one that other programs write to.
    var heat = 0
    /// The time at which the last whole pass began, by the database's clock; nil where that is not known.
    var passBegan: Int?
    /// Most of it was written to between the last two passes, so that comparing many ranges at once is in vain.
    var isStirred = false
    /// Cycles in a row in which it was passed over, since nobody had written to it.
    var skipped = 0

    /// - Throws: `StoreError` where the marks do not hang together.
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

    /// Returns the number of a range that is new.
    func newID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    /// Moves the end of the chain behind another range.
    func advanceTail() -> Int {
        defer { tailID = newID() }
        return tailID
    }
}

/// A pass over one section, from its first row to its last.
final class UnitPass {
    let scan: UnitScan
    let revision: Int
    var notes: NoteCheck
    /// The position of the range that comes next.
    var index = 0
    /// The key behind which it begins.
    var low: RecordKey?
    var isDone = false
    /// Changes that it has found.
    var found = 0
    /// Rows that it found gone.
    var losses = LossCount()
    /// Records that are there, and were not when clients were sent all there were.
    var missed: [ScanHand.FoundChange] = []
    /// Rows that it has left out, because a value of them cannot be decoded.
    var omitted = OmittedRows()
    /// Rows that differ from their marks, whoever wrote them.
    var differing = 0
    /// Ranges that it has come by, and those of them in which rows differ.
    var ranges = (all: 0, differing: 0)
    /// The time at which it began by the database's clock; nil where that is not known.
    let began: Int?
    /// It is the rest of a pass that was broken off: nothing can be said of the section as a whole behind it.
    let isRest: Bool

    /// Begins with the ranges behind one.
    ///
    /// - Parameter low: the last key of that range.
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
