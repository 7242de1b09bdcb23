import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// Facts that decisions use, and the writes after which they must be read again.
@Suite(.timeLimit(.minutes(1))) struct FactViewTests {
    private static let tea: [Value] = [.integer(1), .integer(1), .word("tea")]

    /// Returns the facts after some writes.
    ///
    /// The facts were stored at the time 0.
    private static func isKnown(
        _ book: OrderBook, after write: @escaping @Sendable (inout RowChanges, Footprints) -> Void,
        _ fact: @escaping @Sendable (FactView) throws(DecidingStop) -> [[Value]]
    ) async throws -> Bool {
        let edit = book.edit(book.lines, 1, "article", from: .word("tea"), to: .word("oil"))
        return try await book.run([[edit]]) { stages in
            let (list, delivery) = (SectionPlace(book.orders, 1), SectionPlace(book.orders, 2))
            var facts = Facts(stages.run)
            try facts.store([Self.tea], askedFor: [RecordKey([.integer(1)])], of: list, at: 0)
            facts.store([Self.tea], for: .identity(list, columns: [2], values: [.word("tea")]), at: 0)
            facts.store([[Value]](), for: .identity(list, columns: [2], values: [.word("oil")]), at: 0)
            facts.store([[.integer(1), .word("Rome")]], for: .singleton(delivery, link: [.integer(1)]), at: 0)
            var changes = RowChanges()
            write(&changes, book.active.footprints)
            do throws(DecidingStop) {
                _ = try fact(FactView(run: stages.run, facts: facts, changes: changes, keys: CreatedKeys()))
                return true
            } catch {
                guard case .unanswered = error else { throw error }
                return false
            }
        }
    }

    /// Writes a row of a section, as `ChangeWriter` records it.
    private static func write(
        _ key: Int, of section: Section, moves: Bool
    ) -> @Sendable (inout RowChanges, Footprints) -> Void {
        { changes, footprints in
            let reference = footprints[section].reference(to: RecordKey([.integer(Int128(key))]))
            changes.note(reference, .row, moves: moves)
        }
    }

    @Test("A write makes the facts outdated that it may have changed, through either resource of the table")
    func outdated() async throws {
        let book = try await OrderBook(identity: [2], hasDelivery: true)
        let (list, delivery) = (SectionPlace(book.orders, 1), SectionPlace(book.orders, 2))
        typealias Fact = @Sendable (FactView) throws(DecidingStop) -> [[Value]]
        let row: Fact = { facts throws(DecidingStop) in
            [try facts.row(RecordKey([.integer(1)]), of: list, equated: false) ?? []]
        }
        let present: Fact = { facts throws(DecidingStop) in
            try facts.rows(of: list, identifiedBy: [2], [.word("tea")])
        }
        let absent: Fact = { facts throws(DecidingStop) in
            try facts.rows(of: list, identifiedBy: [2], [.word("oil")])
        }
        let singleton: Fact = { facts throws(DecidingStop) in
            [try facts.singleton(delivery, of: [.integer(1), .word("new"), .integer(10)]) ?? []]
        }
        let (line, order) = (book.lines.root, book.orders.root)
        let cases: [(write: @Sendable (inout RowChanges, Footprints) -> Void, known: [Bool])] = [
            ({ _, _ in }, [true, true, true, true]),
            // An update of the same row through the other resource, of a column by which no section searches.
            (Self.write(1, of: line, moves: false), [false, false, true, true]),
            (Self.write(2, of: line, moves: false), [true, true, true, true]),
            // An insertion, or an update of the identity.
            (Self.write(2, of: line, moves: true), [true, false, false, true]),
            (Self.write(1, of: order, moves: true), [true, true, true, true]),
            (Self.write(1, of: delivery.section, moves: false), [true, true, true, false]),
            ({ changes, _ in changes.recordEverything() }, [false, false, false, false]),
        ]
        for (index, (write, known)) in cases.enumerated() {
            var found: [Bool] = []
            for fact in [row, present, absent, singleton] {
                found.append(try await Self.isKnown(book, after: write, fact))
            }
            #expect(found == known, "case \(index)")
        }
    }
}
