import MergeCore
import RecordStore

/// The row digests of one section in the memory of the scanning gateway, without the digests of single rows.
struct SectionScan {
    let unit: ScanUnit
    /// The number of the section in the journal.
    let id: Int
    /// The latest revision at the start of the last complete pass.
    var scanned: Int
    /// True if all rows have digests.
    var isComplete: Bool
    var ranges: [MarkRange]
    private var nextID: Int
    /// The id reserved for the next range at the end.
    private(set) var tailID: Int
    /// True if most ranges changed recently, so that comparing many ranges at once is useless.
    var isMostlyChanged = false

    /// - Throws: `StoreError` if the chain of ranges is broken.
    init(_ unit: ScanUnit, _ known: ScanStore.Known) throws(StoreError) {
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

    mutating func newID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    /// Returns the reserved id of the end, and reserves another.
    mutating func advanceTail() -> Int {
        defer { tailID = newID() }
        return tailID
    }
}
