import RecordStore

/// Compares rows with the stored row digests of a range.
struct RangeDiff {
    /// A row that differs from its stored digest.
    struct Change: Hashable {
        /// nil for a new row.
        let former: Mark?
        /// nil for a deleted row.
        let now: Mark?
    }

    /// The rows that differ.
    private(set) var changes: [Change] = []
    /// The number of deleted rows.
    var losses: Int { changes.count { $0.now == nil } }
    /// Stored digests without a row, which may follow after the last row that was read.
    private(set) var left: [Mark] = []

    /// - Parameters:
    ///   - marks: the stored row digests.
    ///   - rows: the current rows from the start of the range.
    ///   - isWhole: true if the range has no further rows.
    init(_ marks: [Mark], with rows: [Mark], isWhole: Bool) {
        var known: [[UInt8]: Mark] = Dictionary(minimumCapacity: marks.count)
        for mark in marks { known[mark.key] = mark }
        for row in rows {
            let former = known.removeValue(forKey: row.key)
            if former != row { changes.append(Change(former: former, now: row)) }
        }
        for mark in marks where known[mark.key] != nil {
            if isWhole { changes.append(Change(former: mark, now: nil)) } else { left.append(mark) }
        }
    }
}

/// Splits rows into ranges that fit well into one row of the journal.
enum RangeSplit {
    /// The rows of a new range.
    static let target = 400
    /// The maximum rows of a range before it is split.
    static let most = 800
    /// The minimum rows of a range before it is joined with the next.
    static let least = 100

    /// Replaces a range by ranges of the usual size.
    ///
    /// - Parameters:
    ///   - range: the range to replace.
    ///   - rows: the row digests of the rows that were read, from its start.
    ///   - left: stored digests without a row if the range continues after the last row; nil if it ends there.
    ///   - newID: returns an id for a new range.
    /// - Returns: the ranges in order; the first keeps the old id.
    static func ranges(
        in range: MarkRange, _ rows: [Mark], left: [Mark]?, newID: () -> Int
    ) -> [(range: MarkRange, marks: [Mark])] {
        var pieces: [(marks: [Mark], high: [UInt8]?)] = []
        var rest = rows[...]
        while rest.count > most || (left != nil && !rest.isEmpty) {
            let piece = Array(rest.prefix(target))
            rest = rest.dropFirst(target)
            pieces.append((piece, piece.last?.key))
        }
        pieces.append((Array(rest) + (left ?? []), range.high))
        var ids = [range.id]
        for _ in pieces.dropFirst() { ids.append(newID()) }
        return pieces.enumerated().map { index, piece in
            let next = index + 1 < ids.count ? ids[index + 1] : range.next
            return (MarkRange(id: ids[index], next: next, high: piece.high, marks: piece.marks), piece.marks)
        }
    }

    /// Sorts the ranges of the journal by their links.
    ///
    /// - Parameter isWhole: true if the last range has no successor. Otherwise its successor does not exist yet.
    /// - Returns: nil if the chain is broken.
    static func chain(_ ranges: [MarkRange], isWhole: Bool) -> [MarkRange]? {
        var byID: [Int: MarkRange] = [:]
        for range in ranges { byID[range.id] = range }
        var ordered: [MarkRange] = []
        var next: Int? = ranges.isEmpty ? nil : 1
        while let id = next {
            guard let range = byID.removeValue(forKey: id) else {
                return isWhole || !byID.isEmpty ? nil : ordered
            }
            ordered.append(range)
            next = range.next
        }
        return byID.isEmpty ? ordered : nil
    }
}
