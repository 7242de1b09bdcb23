import RecordStore

/// The comparison of rows as they were read with the marks of their range.
///
/// Pure.
struct RangeDiff {
    /// A row that is not as its mark says.
    struct Change: Hashable {
        /// nil for a row that has come.
        let former: Mark?
        /// nil for a row that is gone.
        let now: Mark?
    }

    /// The rows that differ.
    private(set) var changes: [Change] = []
    /// The number of rows that are gone.
    var losses: Int { changes.count { $0.now == nil } }
    /// Marks of rows that have not been met, which may lie behind those that were read.
    private(set) var left: [Mark] = []

    /// - Parameters:
    ///   - marks: those of the range.
    ///   - rows: rows as they were read, from the beginning of the range on.
    ///   - isWhole: the range has no further rows.
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

/// Splits rows into ranges of a size that one row of the database holds well.
///
/// Pure.
enum RangeSplit {
    /// Rows of a range that is made.
    static let target = 400
    /// Rows above which a range is split.
    static let most = 800
    /// Rows below which a range is joined with the next.
    static let least = 100

    /// Puts marks in the place of a range.
    ///
    /// - Parameters:
    ///   - range: the range whose place it is.
    ///   - rows: the marks of the rows that were read, from its beginning on.
    ///   - left: marks of rows that were not met, where the range goes on behind the last row; nil where it does not.
    ///   - newID: names a range that is new.
    /// - Returns: the ranges in their order, the first under the number of the old one.
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

    /// Puts the ranges that the database keeps into their order.
    ///
    /// - Parameter isWhole: the last one has no successor; else it names the one that will come.
    /// - Returns: nil where the chain is broken.
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
