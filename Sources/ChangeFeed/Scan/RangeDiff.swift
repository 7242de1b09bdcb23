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

    private(set) var changes: [Change] = []
    var losses: Int { changes.count { $0.now == nil } }
    /// Stored digests without a row so far.
    private(set) var left: [Mark] = []

    /// Without a unique key, several rows may have the same key, in any order.
    ///
    /// - Parameters:
    ///   - marks: the stored row digests.
    ///   - rows: the current rows from the start of the range.
    ///   - isWhole: true if the range has no further rows.
    init(_ marks: [Mark], with rows: [Mark], isWhole: Bool) {
        var known: [Mark: Int] = Dictionary(minimumCapacity: marks.count)
        for mark in marks { known[mark, default: 0] += 1 }
        let new = rows.filter { !known.takeOne($0) }
        let gone = marks.filter { known.takeOne($0) }
        var former = Dictionary(grouping: gone, by: \.key)
        changes = new.map { Change(former: former[$0.key]?.popLast(), now: $0) }
        let rest = gone.filter { former[$0.key]?.popLast() != nil }
        if isWhole { changes += rest.map { Change(former: $0, now: nil) } } else { left = rest }
    }
}

extension [Mark: Int] {
    /// Returns true if the count of an element was positive, and decrements it.
    fileprivate mutating func takeOne(_ mark: Mark) -> Bool {
        guard let count = self[mark], count > 0 else { return false }
        self[mark] = count - 1
        return true
    }
}

/// Splits rows into ranges that fit into one row of the journal.
enum RangeSplit {
    /// The rows of a new range.
    static let target = 400
    /// The size above which a range is split.
    static let most = 800
    /// The size below which a range is joined with the next.
    static let least = 100

    /// Replaces a range by ranges of the usual size.
    ///
    /// - Parameters:
    ///   - rows: the current rows from its start.
    ///   - left: stored digests without a row if the range was not read completely; otherwise nil.
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

    /// Sorts ranges by their links; nil if the chain is broken.
    ///
    /// - Parameter isWhole: true if the last range has no successor. Otherwise its successor does not exist yet.
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
