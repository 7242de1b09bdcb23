import MergeCore
import RecordStore

/// A pass over one section, between two steps.
struct SectionPass {
    var section: SectionScan
    /// The revision at the start of the pass.
    let revision: Int
    /// The start by the database's clock, or nil.
    let began: Int?
    /// True for the rest of an interrupted pass, which proves nothing about the whole section.
    let isRest: Bool
    /// A loss of most rows that an earlier pass met and did not report.
    let earlierLoss: EmptiedSection?
    /// The delivery records that the pass compares.
    var deliveries: NoteCheck
    /// The index of the next range.
    private(set) var index = 0
    /// The key before that range.
    private(set) var low: RecordKey?
    private(set) var isDone = false
    /// The changes that were stored.
    var found = 0
    /// Those of rows that differ from their digests, without those of delivery records.
    var foundInRows = 0
    var losses = LossCount()
    /// Records that were missing in delivered ranges but exist now.
    var missed: [ForeignChange] = []
    /// The rows that were skipped because a value cannot be decoded.
    var omitted = OmittedRows()
    /// The rows that differ from their digests, including those of pushes.
    var differing = 0
    /// The compared ranges, and those with differences.
    var ranges = (all: 0, differing: 0)

    /// The rows whose digests are compared at once.
    private static let group = 4_000

    init(
        _ section: SectionScan, _ beginning: ScanStore.Beginning, began: Int?, earlierLoss: EmptiedSection?
    ) {
        self.section = section
        self.began = began
        self.earlierLoss = earlierLoss
        revision = beginning.revision
        deliveries = beginning.notes
        isRest = false
    }

    /// Continues an interrupted pass after the range that ends with a packed key.
    ///
    /// - Returns: nil if no range ends there any more, or nothing follows.
    /// - Throws: `StoreError` if the key cannot be decoded.
    init?(restOf section: SectionScan, after end: [UInt8], earlierLoss: EmptiedSection?) throws(StoreError) {
        guard section.isComplete, let last = section.ranges.firstIndex(where: { $0.high == end }),
            last + 1 < section.ranges.count
        else { return nil }
        self.section = section
        self.earlierLoss = earlierLoss
        index = last + 1
        low = try section.unit.decodedKey(end)
        revision = section.scanned
        deliveries = NoteCheck()
        began = nil
        isRest = true
    }

    var unit: ScanUnit { section.unit }
    /// True if the next range has row digests to compare with.
    var hasDigests: Bool { index < section.ranges.count }
    var remaining: Int { section.ranges.count - index }
    /// The packed end of the last compared range; nil before the first, and while rows have no digests.
    var end: [UInt8]? { index > 0 && section.isComplete ? section.ranges[index - 1].high : nil }

    /// Moves to the range at an index.
    ///
    /// - Parameter high: the key before that range.
    mutating func advance(to index: Int, after high: RecordKey?) {
        self.index = index
        if let high { low = high }
        isDone = section.isComplete && index == section.ranges.count
    }

    /// Replaces the next ranges by others, whose row digests were stored.
    mutating func replace(_ count: Int, by ranges: [MarkRange]) {
        section.ranges.replaceSubrange(index..<index + count, with: ranges)
    }

    /// Ranges that are compared by the sums of their row digests.
    struct Group {
        var rows = 0
        var digest: UInt64 = 0
        /// The index after the last range.
        var end: Int
    }

    /// Returns the next ranges that are compared at once: at least one, and no more rows than a group.
    func nextGroup() -> Group {
        var group = Group(end: index)
        while group.end < section.ranges.count {
            let range = section.ranges[group.end]
            if group.end > index, group.rows + range.count > Self.group { break }
            group.rows += range.count
            group.digest &+= range.digest
            group.end += 1
        }
        return group
    }
}

extension ScanUnit {
    /// Decodes a key of a stored range.
    ///
    /// - Throws: `StoreError` if the type of a key column has changed since the range was stored.
    func decodedKey(_ packed: [UInt8]) throws(StoreError) -> RecordKey {
        guard let key = key(packed) else {
            throw StoreError(.unreadable, "the key of “\(name)” is another than its marks were made with")
        }
        return key
    }

    func decodedKey(_ packed: [UInt8]?) throws(StoreError) -> RecordKey? {
        guard let packed else { return nil }
        return try decodedKey(packed)
    }
}
