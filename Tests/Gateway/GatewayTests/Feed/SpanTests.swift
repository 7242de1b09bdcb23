import MergeCore
import RecordStore
import Testing
import TestSupport

@testable import ChangeFeed

/// Stretches that clients were sent whole are compared with the rows of a pass.
@Suite struct SpanTests {
    /// A delivered range, and the keys of its rows.
    private typealias Stretch = (low: Int?, high: Int?, keys: Set<Int>)

    /// Keys of a random part.
    private static func some(_ random: inout SeededRandom) -> [Int] {
        (0..<30).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
    }

    /// Records one snapshot in pages of a random size, or some pages of it.
    ///
    /// - Parameter pages: receives the contents of each page.
    private static func note(
        _ snapshot: Int, in check: inout SpanCheck, links: [UInt64], pages: inout [Int32: Set<Int>],
        random: inout SeededRandom
    ) -> Stretch? {
        let keys = some(&random)
        let size = Int.random(in: 1...10, using: &random)
        let skipped = Bool.random(using: &random) ? 0 : Int.random(in: 0...2, using: &random)
        let taken = Bool.random(using: &random) ? 100 : Int.random(in: 1...3, using: &random)
        var stretch: Stretch?
        for (number, first) in stride(from: 0, to: max(keys.count, 1), by: size).enumerated() {
            let page = Array(keys.dropFirst(first).prefix(size))
            let low = first == 0 ? nil : keys[first - 1]
            let high = first + size < keys.count ? page.last : nil
            guard number >= skipped, number < skipped + taken else { continue }
            let span = ShownSpan(
                snapshot: UInt64(snapshot), low: low.map { [UInt8($0)] }, high: high.map { [UInt8($0)] }, viewer: nil)
            let place = check.add(number, span, links: page.map { links[$0] }, revision: 1)
            pages[place, default: []].formUnion(page)
            let former = stretch ?? (low, high, [])
            stretch = (former.low, high, former.keys.union(page))
        }
        return stretch
    }

    /// Random snapshots, changes and parts of the delivery records.
    @Test("Each row that a client lacks is found")
    func missingRows() {
        var random = SeededRandom(seed: 15)
        var found = 0
        // Links are hashes.
        let links = (0..<30).map { _ in UInt64.random(in: .min ... .max, using: &random) }
        for _ in 0..<6_000 {
            var check = SpanCheck()
            var pages: [Int32: Set<Int>] = [:]
            var sent: [Stretch] = []
            for snapshot in 0..<Int.random(in: 1...3, using: &random) {
                if let stretch = Self.note(snapshot, in: &check, links: links, pages: &pages, random: &random) {
                    sent.append(stretch)
                }
            }
            // The rows when the pass begins, and the rows that it then reads.
            let rows = Self.some(&random)
            let changes = Set((0..<30).filter { _ in Int.random(in: 0..<15, using: &random) == 0 })
            let met = Set(rows).symmetricDifference(changes).sorted()
            for (index, end) in check.seal().enumerated() {
                let before = end.low.flatMap { low in rows.last { $0 <= Int(low[0]) } }
                let behind = end.high.map { high in rows.filter { $0 > Int(high[0]) }.prefix(20) } ?? []
                check.bound(index, before: before.map { links[$0] }, behind: behind.map { links[$0] })
            }
            var missed: Set<Int> = []
            for row in met {
                var runs = SpanCheck.Runs.none
                for (place, keys) in pages where keys.contains(row) { runs.formUnion(check.runs(of: place)) }
                if !check.passed(links[row], sentIn: runs).isEmpty { missed.insert(row) }
            }
            // A range whose beginning the pass did not read is compared again by the next pass.
            if check.isCompared {
                let lacking = sent.map { stretch in
                    met.filter { $0 > stretch.low ?? -1 && $0 <= stretch.high ?? 30 && !stretch.keys.contains($0) }
                }
                #expect(missed.isSuperset(of: lacking.joined()))
                found += lacking.joined().count
            }
            Self.expectNear(missed, sent, rows: rows, met: met)
        }
        #expect(found > 1_000)
    }

    /// Expects no report of a row that all clients got, or outside the keys of all ranges.
    private static func expectNear(_ missed: Set<Int>, _ sent: [Stretch], rows: [Int], met: [Int]) {
        for row in missed {
            let isNear = sent.contains { stretch in
                let low = stretch.low.flatMap { low in rows.last { $0 <= low } } ?? -1
                let high = stretch.high.flatMap { high in met.first { $0 > high && rows.contains($0) } } ?? 30
                return row > low && row < high && !stretch.keys.contains(row)
            }
            #expect(isNear, "row \(row)")
        }
    }

    @Test("Equal snapshots of many clients need the space of one")
    func equalSnapshots() {
        var check = SpanCheck()
        for snapshot in 0..<1_000 {
            let span = ShownSpan(snapshot: UInt64(snapshot), low: nil, high: nil, viewer: nil)
            _ = check.add(snapshot, span, links: [1, 2, 3], revision: snapshot)
        }
        #expect(check.seal().count == 1)
        #expect(check.numbers.count == 1_000)
        let missed = check.passed(4, sentIn: check.runs(of: -1))
        #expect(!missed.isEmpty)
        #expect(check.passed(2, sentIn: check.runs(of: 0)).isEmpty)
    }

    /// More different snapshots than one pass compares wait for the next.
    @Test("Ranges beyond the limit wait for the next pass")
    func limit() {
        var check = SpanCheck()
        for snapshot in 0..<100 {
            let span = ShownSpan(snapshot: UInt64(snapshot), low: nil, high: nil, viewer: nil)
            _ = check.add(snapshot, span, links: [UInt64(snapshot)], revision: 1)
        }
        #expect(check.seal().count == 64)
        #expect(check.numbers == Array(0..<64))
    }

    @Test("A range whose beginning was not read is compared once more")
    func missedBeginning() {
        var check = SpanCheck()
        _ = check.add(7, ShownSpan(snapshot: 1, low: [5], high: nil, viewer: nil), links: [6], revision: 1)
        _ = check.seal()
        check.bound(0, before: 5, behind: [])
        #expect(check.passed(8, sentIn: .none).isEmpty)
        #expect(check.numbers == [])
        _ = check.passed(5, sentIn: .none)
        #expect(!check.passed(8, sentIn: .none).isEmpty)
        #expect(check.numbers == [7])
    }

    /// Notes are read as they were written.
    @Test("Delivery records are read as they were written")
    func forms() {
        let claims: [ExactText: Scalar] = [
            ExactText("areas"): .array([.integer(-1), .number(ExactDecimal(7)), .text("é")]),
            ExactText("none"): .null, ExactText("is"): .boolean(true),
        ]
        let viewer = Viewer(
            who: "ann", roles: [ExactText("driver"), ExactText("late")], claims: AccessClaims(claims))
        let entries = [ShownNote.Entry(record: "7", link: 1, digest: .max)]
        let filter = RecordFilter([
            ExactText("orders"): [
                .init(section: "order", field: "status", test: .oneOf([.text("open"), .null])),
                .init(section: "order", field: "area", test: .range(from: .integer(3), before: nil)),
            ]
        ])
        for viewer in [nil, viewer, viewer.with([filter]), Viewer.anonymous.with([filter, RecordFilter([:])])] {
            for (low, high): ([UInt8]?, [UInt8]?) in [(nil, nil), ([], [1, 10]), ([0, 255], nil)] {
                let content = ShownNote.Content(
                    entries: entries, span: ShownSpan(snapshot: .max, low: low, high: high, viewer: viewer))
                #expect(ShownNote.Content(bytes: content.bytes) == content)
            }
        }
        // Values that conditions test precede the entries to which they apply.
        let tuples: [[UInt8]?] = [nil, [1], [1], nil, [1, 2], []]
        let seen = ShownNote.Content(
            entries: tuples.enumerated().map { number, tuple in
                ShownNote.Entry(
                    record: "\(number)", link: 1, digest: 2, conditions: tuple?.isEmpty == true ? nil : tuple)
            })
        #expect(ShownNote.Content(bytes: seen.bytes) == seen)
        let plain = ShownNote.Content(entries: entries)
        #expect(ShownNote.Content(bytes: plain.bytes) == plain)
        #expect(ShownNote.Content(bytes: [3, 1]) == nil)
    }
}
