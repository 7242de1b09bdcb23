/// A piece of the merged text, as bytes of one of the three texts, with all three sides if they conflict.
struct TextPiece {
    let bytes: Range<Int>
    var conflict: TextSides?
}

/// One range in each of the three texts, in bytes or tokens.
struct TextSides {
    let base: Range<Int>
    let edited: Range<Int>
    let current: Range<Int>
}

/// One merge of three texts that share a single buffer.
struct TextMerger {
    private let bytes: [UInt8]
    private let whole: TextSides
    private let favouring: MergeSide

    /// The approximate steps of a search for differences over all tokens.
    private static let budget = 60_000_000

    init(base: String, edited: String, current: String, favouring: MergeSide) {
        var bytes = Array(base.utf8)
        let first = bytes.count
        bytes.append(contentsOf: edited.utf8)
        let second = bytes.count
        bytes.append(contentsOf: current.utf8)
        self.bytes = bytes
        whole = TextSides(base: 0..<first, edited: first..<second, current: second..<bytes.count)
        self.favouring = favouring
    }

    func result(spending budget: inout WorkBudget) throws(WorkSpent) -> TextMergeResult {
        var writer = TextWriter(bytes: bytes)
        for piece in try merge(whole, by: .line, spending: &budget) { writer.append(piece) }
        return writer.result()
    }

    private func merge(
        _ sides: TextSides, by unit: TextUnit, spending budget: inout WorkBudget
    ) throws(WorkSpent) -> [TextPiece] {
        try budget.spend(sides.base.count + sides.edited.count + sides.current.count)
        let bounds = [sides.base, sides.edited, sides.current].map { unit.bounds(of: $0, in: bytes) }
        let total = bounds.reduce(0) { $0 + $1.count }
        var interner = TokenInterner(bytes: bytes, capacity: total)
        let base = interner.tokens(bounds[0])
        let edited = interner.tokens(bounds[1])
        let current = interner.tokens(bounds[2])
        let areWords = interner.areWords
        // All lines together have at most as many words as bytes.
        let effort = min(max(Self.budget / (unit == .line ? total : bytes.count), 32), 1_024)
        let edits = try TokenDiff.hunks(
            from: base.ids, to: edited.ids, areWords: areWords, effort: effort, spending: &budget)
        let changes = try TokenDiff.hunks(
            from: base.ids, to: current.ids, areWords: areWords, effort: effort, spending: &budget)
        return try TextAssembly(
            merger: self, unit: unit, base: base, edited: edited, current: current
        ).pieces(TextRegion.all(edited: edits, current: changes), spending: &budget)
    }

    /// Resolves a range that both sides changed differently.
    fileprivate func resolve(
        _ sides: TextSides, of unit: TextUnit, spending budget: inout WorkBudget
    ) throws(WorkSpent) -> [TextPiece] {
        unit == .line ? try merge(sides, by: .word, spending: &budget) : [conflict(sides)]
    }

    fileprivate func conflict(_ sides: TextSides) -> TextPiece {
        TextPiece(bytes: favouring == .client ? sides.edited : sides.current, conflict: sides)
    }

    fileprivate func isSame(_ a: Range<Int>, b: Range<Int>) -> Bool {
        a.count == b.count && bytes[a].elementsEqual(bytes[b])
    }

    fileprivate func parts(_ left: Range<Int>, right: Range<Int>, by unit: TextUnit) -> Bool {
        unit.parts(left, right, in: bytes)
    }
}

/// Joins the changed and the unchanged pieces of one range.
private struct TextAssembly {
    let merger: TextMerger
    let unit: TextUnit
    let base: TextTokens
    let edited: TextTokens
    let current: TextTokens

    func pieces(_ regions: [TextRegion], spending budget: inout WorkBudget) throws(WorkSpent) -> [TextPiece] {
        var pieces: [TextPiece] = []
        var done = 0
        var index = 0
        while index < regions.count {
            var next = index + 1
            while next < regions.count, regions[next - 1].touches(regions[next]) { next += 1 }
            let chain = regions[index..<next]
            if let first = chain.first, let last = chain.last {
                append(done..<first.base.lowerBound, to: &pieces)
                pieces += try resolve(chain, first.extended(to: last), spending: &budget)
                done = last.base.upperBound
            }
            index = next
        }
        append(done..<base.ids.count, to: &pieces)
        return pieces
    }

    private func append(_ unchanged: Range<Int>, to pieces: inout [TextPiece]) {
        if !unchanged.isEmpty { pieces.append(TextPiece(bytes: base.bytes(unchanged))) }
    }

    /// Resolves regions that touch each other.
    ///
    /// Pieces of two sides that become neighbours may run together: a last line without its end and the next line, or
    /// two halves of a word. The result would then contain a word or line that no side wrote. Such regions are resolved
    /// as one region. If that fails too, they are one conflict, whose ends meet as in the favoured side's text.
    private func resolve(
        _ chain: ArraySlice<TextRegion>, _ whole: TextRegion, spending budget: inout WorkBudget
    ) throws(WorkSpent) -> [TextPiece] {
        var apart: [[TextPiece]] = []
        for region in chain { apart.append(try resolve(region, spending: &budget)) }
        if isSound(apart, around: whole) { return apart.flatMap { $0 } }
        if chain.count > 1 {
            let together = try resolve(whole, spending: &budget)
            if isSound([together], around: whole) { return together }
        }
        return [merger.conflict(sides(whole))]
    }

    private func resolve(
        _ region: TextRegion, spending budget: inout WorkBudget
    ) throws(WorkSpent) -> [TextPiece] {
        let sides = sides(region)
        if !region.isCurrentChanged { return [TextPiece(bytes: sides.edited)] }
        if !region.isEdited || merger.isSame(sides.edited, b: sides.current) {
            return [TextPiece(bytes: sides.current)]
        }
        return try merger.resolve(sides, of: unit, spending: &budget)
    }

    private func sides(_ region: TextRegion) -> TextSides {
        TextSides(
            base: base.bytes(region.base), edited: edited.bytes(region.edited),
            current: current.bytes(region.current))
    }

    private func isSound(_ groups: [[TextPiece]], around region: TextRegion) -> Bool {
        // A single piece meets its neighbours as in its own text.
        if groups.count == 1, groups[0].count == 1 { return true }
        var last: Range<Int>?
        if region.base.lowerBound > 0 { last = base.bytes(region.base.lowerBound - 1..<region.base.lowerBound) }
        for group in groups {
            guard let first = group.first(where: { !$0.bytes.isEmpty }) else { continue }
            if let last, !merger.parts(last, right: first.bytes, by: unit) { return false }
            last = group.last { !$0.bytes.isEmpty }?.bytes
        }
        guard let last, region.base.upperBound < base.ids.count else { return true }
        return merger.parts(last, right: base.bytes(region.base.upperBound..<region.base.upperBound + 1), by: unit)
    }
}
