import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// `CommitEvidence` distinguishes a committed transaction from one that was rolled back.
@Suite struct CommitEvidenceTests {
    private typealias Effects = [(resource: Resource, effect: RowEffect)]

    /// The rows of the tables that the effects name, as words of their first field.
    private struct Rows {
        var orders: [Int128: String] = [1: "new", 2: "new"]
        var lines: [Int128: String] = [5: "tea"]
    }

    private static func kept(_ word: String?) -> [Int: KeptValue]? { word.map { [0: .plain(.word($0))] } }

    private static func effect(
        _ resource: Resource, record: Int128, section: Int = 0, key: Int128? = nil, from before: String?,
        to after: String?
    ) -> (resource: Resource, effect: RowEffect) {
        let row = RowEffect.Row(
            record: RecordKey([.integer(record)]), section: section, key: RecordKey([.integer(key ?? record)]))
        return (resource, RowEffect(row, before: kept(before), after: kept(after)))
    }

    private static func isCommitted(_ effects: Effects, _ rows: Rows, _ book: OrderBook) throws -> Bool {
        try CommitEvidence(effects, schema: book.active.schema, digest: { _, _ in "" }).isCommitted { piece in
            guard case .integer(let key)? = piece.effect.row.key?.parts.first else { return .none }
            let isOrder = piece.section.table.name == "orders"
            guard let word = (isOrder ? rows.orders : rows.lines)[key] else { return .row(nil) }
            var row = [Value](repeating: .null, count: piece.section.columns.count)
            row[piece.section.fields[0].column] = .word(word)
            return .row(row)
        }
    }

    @Test("An item that moves to another record is one row")
    func movedItem() async throws {
        let book = try await OrderBook()
        let effects = [
            Self.effect(book.orders, record: 1, section: 1, key: 5, from: "tea", to: nil),
            Self.effect(book.orders, record: 2, section: 1, key: 5, from: nil, to: "tea"),
            Self.effect(book.orders, record: 2, from: "new", to: "moved"),
        ]
        var rows = Rows()
        #expect(try !Self.isCommitted(effects, rows, book))
        rows.orders[2] = "moved"
        #expect(try Self.isCommitted(effects, rows, book))
    }

    @Test("A row that two resources change there and back proves nothing")
    func twoResources() async throws {
        let book = try await OrderBook()
        // The second fields are compared too: "lines" has the order's number first.
        let there = Self.effect(book.orders, record: 1, section: 1, key: 5, from: "tea", to: "rice")
        let back = Self.effect(book.orders, record: 1, section: 1, key: 5, from: "rice", to: "tea")
        let other = (
            resource: book.lines,
            effect: RowEffect(
                RowEffect.Row(record: RecordKey([.integer(5)]), section: 0, key: RecordKey([.integer(5)])),
                before: [1: .plain(.word("rice"))], after: [1: .plain(.word("tea"))])
        )
        let order = Self.effect(book.orders, record: 1, from: "new", to: "paid")
        for effects in [[there, back, order], [there, other, order]] {
            var rows = Rows()
            #expect(try !Self.isCommitted(effects, rows, book))
            rows.orders[1] = "paid"
            #expect(try Self.isCommitted(effects, rows, book))
        }
    }

    @Test("A deletion by one resource and a creation by another prove nothing")
    func recreated() async throws {
        let book = try await OrderBook()
        let effects = [
            Self.effect(book.orders, record: 1, section: 1, key: 5, from: "tea", to: nil),
            (
                resource: book.lines,
                effect: RowEffect(
                    RowEffect.Row(record: RecordKey([.integer(5)]), section: 0, key: RecordKey([.integer(5)])),
                    before: nil, after: [1: .plain(.word("rice"))])
            ),
            Self.effect(book.orders, record: 1, from: "new", to: "paid"),
        ]
        var rows = Rows()
        #expect(try !Self.isCommitted(effects, rows, book))
        (rows.orders[1], rows.lines[5]) = ("paid", "rice")
        #expect(try Self.isCommitted(effects, rows, book))
    }

    @Test("Without strong evidence, one earlier value means that nothing was committed")
    func weak() async throws {
        let book = try await OrderBook()
        let effects = [
            Self.effect(book.orders, record: 1, section: 1, key: 5, from: "tea", to: "rice"),
            (
                resource: book.lines,
                effect: RowEffect(
                    RowEffect.Row(record: RecordKey([.integer(6)]), section: 0, key: RecordKey([.integer(6)])),
                    before: nil, after: [1: .plain(.word("beans"))])
            ),
        ]
        var rows = Rows()
        #expect(try !Self.isCommitted(effects, rows, book))
        rows.lines[6] = "beans"
        #expect(try !Self.isCommitted(effects, rows, book))
        rows.lines[5] = "rice"
        #expect(try Self.isCommitted(effects, rows, book))
    }

    @Test("If no row can be read, the transaction was committed, since its push may have been answered")
    func unreadable() async throws {
        let book = try await OrderBook()
        let effects = [
            Self.effect(book.orders, record: 1, from: "new", to: "paid"),
            Self.effect(book.orders, record: 2, from: "new", to: nil),
        ]
        for effects in [effects, []] {
            let evidence = CommitEvidence(effects, schema: book.active.schema, digest: { _, _ in "" })
            #expect(try evidence.isCommitted { _ in .none })
        }
    }

    @Test("If other programs changed all rows, the transaction was committed")
    func overtaken() async throws {
        let book = try await OrderBook()
        var rows = Rows()
        rows.orders[1] = "other"
        #expect(try Self.isCommitted([Self.effect(book.orders, record: 1, from: "new", to: "paid")], rows, book))
    }
}
