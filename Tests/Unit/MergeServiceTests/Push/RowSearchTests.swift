import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The search for the row of an edit, as a table without reads of the database.
@Suite(.timeLimit(.minutes(1))) struct RowSearchTests {
    private static let order: [Value] = [.integer(1), .word("new"), .integer(10)]
    private static let tea: [Value] = [.integer(1), .integer(1), .word("tea")]

    /// The result of a search, or the reason why there is none.
    private enum Found: Equatable {
        case present([Value], identified: Bool)
        case gone
        case unreachable
        case asks([String])
        case refused(ProblemCode)
        case fault(ProblemCode)
    }

    private static func search(
        _ book: OrderBook, _ edit: Edit, root: [Value]?,
        knowing facts: @Sendable @escaping (inout Facts) throws -> Void = { _ in }
    ) async throws -> Found {
        try await book.run([[edit]]) { stages in
            let row = stages.row(0)
            var known = Facts(stages.run)
            try facts(&known)
            let view = FactView(run: stages.run, facts: known, changes: RowChanges(), keys: CreatedKeys())
            var report = EditReport(edit)
            report.key = edit.id.key
            do throws(DecidingStop) {
                let found = try RowSearch(
                    row: row, action: row.edit.action, root: root, report: report, facts: view
                ).result()
                switch found.row.state {
                case .present(let values): return .present(values, identified: found.isIdentified)
                case .gone: return .gone
                case .unreachable: return .unreachable
                }
            } catch {
                switch error {
                case .unanswered(let questions): return .asks(questions.map { "\($0)".prefix { $0 != "(" } + "" })
                case .refused(let problem): return .refused(problem.code)
                case .fault(let problem): return .fault(problem.code)
                }
            }
        }
    }

    private static func item(_ book: OrderBook, _ action: RowAction, id: RowID) -> Edit {
        Edit(
            resource: book.orders, id: RowID(RecordKey([.integer(1)])),
            rows: [RowEdit(section: 1, id: id, action: action, path: WirePath("lines"))], path: WirePath("edits"))
    }

    @Test("The root row is present or deleted")
    func root() async throws {
        let book = try await OrderBook()
        let edit = book.edit(book.orders, 1, "state", from: .word("new"), to: .word("paid"))
        #expect(try await Self.search(book, edit, root: Self.order) == .present(Self.order, identified: false))
        #expect(try await Self.search(book, edit, root: nil) == .gone)
    }

    @Test("A creation searches rows with its natural key, and finds one, none or too many")
    func identity() async throws {
        let book = try await OrderBook(identity: [2])
        let edit = book.newLine("tea", of: 1, as: "tmp:a")
        let place = SectionPlace(book.lines, 0)
        let question = Question.identity(place, columns: [2], values: [.word("tea")])
        #expect(try await Self.search(book, edit, root: nil) == .asks(["identity"]))
        let cases: [([[Value]], Found)] = [
            ([Self.tea], .present(Self.tea, identified: true)), ([], .gone),
            ([Self.tea, [.integer(2), .integer(1), .word("tea")]], .refused(.ambiguousIdentity)),
        ]
        for (rows, expected) in cases {
            let found = try await Self.search(book, edit, root: nil) { $0.store(rows, for: question, at: 0) }
            #expect(found == expected)
        }
    }

    @Test("A singleton is searched by the link of its record, and is unreachable without the record")
    func singleton() async throws {
        let book = try await OrderBook(hasDelivery: true)
        let edit = book.address(1, from: "Rome", to: "Oslo")
        let place = SectionPlace(book.orders, 2)
        #expect(try await Self.search(book, edit, root: Self.order) == .asks(["singleton"]))
        #expect(try await Self.search(book, edit, root: nil) == .unreachable)
        let rows: [[Value]] = [[.integer(1), .word("Rome")]]
        let found = try await Self.search(book, edit, root: Self.order) {
            $0.store(rows, for: .singleton(place, link: [.integer(1)]), at: 0)
        }
        #expect(found == .present(rows[0], identified: false))
    }

    @Test("A row of another record is not an item of this one")
    func itemOfAnotherRecord() async throws {
        let book = try await OrderBook()
        let place = SectionPlace(book.orders, 1)
        let edit = Self.item(book, .delete([]), id: RowID(RecordKey([.integer(3)])))
        #expect(try await Self.search(book, edit, root: Self.order) == .asks(["row"]))
        let beans: [Value] = [.integer(3), .integer(2), .word("beans")]
        let found = try await Self.search(book, edit, root: Self.order) {
            try $0.store([beans], askedFor: [RecordKey([.integer(3)])], of: place, at: 0)
        }
        #expect(found == .gone)
    }

    @Test("A negative key that no edit creates is a fault, unless the row exists")
    func suspectKey() async throws {
        let book = try await OrderBook()
        let place = SectionPlace(book.orders, 1)
        let key = RecordKey([.integer(-5)])
        let id = RowID(parts: [.value(.integer(-5))], isSuspect: true)
        let edit = Self.item(book, .delete([]), id: id)
        for (rows, expected) in [
            ([], Found.fault(.unknownTemporary)),
            (
                [[.integer(-5), .integer(1), .word("tea")]],
                .present([.integer(-5), .integer(1), .word("tea")], identified: false)
            ),
        ] as [([[Value]], Found)] {
            let found = try await Self.search(book, edit, root: Self.order) {
                try $0.store(rows, askedFor: [key], of: place, at: 0)
            }
            #expect(found == expected)
        }
    }

    @Test("A row whose creation depends on a missing row is unreachable, whatever the database contains")
    func dependsOnMissing() async throws {
        let book = try await OrderBook(identity: [2])
        let new = FieldValues(
            fields: [0], values: [.null], pending: [PendingReference(position: 0, id: TemporaryID("tmp:b"))])
        let edit = Self.item(book, .create(new), id: RowID(parts: [.generated], temporary: TemporaryID("tmp:a")))
        let root = Edit(
            resource: book.lines, id: RowID(parts: [.generated], temporary: TemporaryID("tmp:b")),
            rows: [
                RowEdit(
                    section: 0, id: RowID(parts: [.generated], temporary: TemporaryID("tmp:b")),
                    action: .create(FieldValues(fields: [0], values: [.integer(1)])), path: WirePath("line"))
            ], path: WirePath("edits"))
        let found = try await book.run([[edit, root]]) { stages in
            let row = stages.row(0)
            let view = FactView(
                run: stages.run, facts: Facts(stages.run), changes: RowChanges(), keys: CreatedKeys())
            let found = try RowSearch(
                row: row, action: row.edit.action, root: Self.order, report: EditReport(edit), facts: view
            ).result()
            if case .unreachable = found.row.state { return found.row.item }
            return nil
        }
        #expect(found == .temporary(TemporaryID("tmp:a")))
    }
}
