import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The explanation of a violated constraint.
@Suite(.timeLimit(.minutes(1))) struct ConstraintExplainerTests {
    private static let new = [
        Assignment(column: 1, value: .integer(2)), Assignment(column: 2, value: .word("tea")),
    ]

    private static func refusal(_ violation: ConstraintViolation, in book: OrderBook) async throws -> EditRefusal {
        let edit = book.newLine("tea", of: 2, as: "tmp:a")
        return try await book.run([[edit]]) { stages in
            let stop = try ConstraintExplainer(row: stages.row(0), run: stages.run)
                .refusal(violation, assignments: new, current: nil)
            guard case .refused(let refusal) = stop else { throw stop }
            return refusal
        }
    }

    @Test("A collision names the index, the fields and the row in the way")
    func collision() async throws {
        let book = try await OrderBook()
        let refusal = try await Self.refusal(ConstraintViolation(.unique, columns: ["article"]), in: book)
        #expect(refusal.edit == 0)
        #expect(refusal.problem.code == .unique)
        #expect(refusal.problem.fields == ["article"])
        #expect(refusal.problem.index?.contains("lines") == true)
        #expect(refusal.problem.rowInTheWay?.record == RecordKey([.integer(1)]))
        #expect(refusal.problem.rowInTheWay?.resource === book.lines)
    }

    @Test(
        "Each kind has its code and its fields",
        arguments: [
            (ConstraintViolation(.foreignKey, columns: ["order_no"]), ProblemCode.foreignKey, ["order_no"]),
            (ConstraintViolation(.referenced), .referenced, []),
            (ConstraintViolation(.check, name: "article <> ''"), .check, ["article"]),
            (ConstraintViolation(.notNull, columns: ["article"]), .notNull, ["article"]),
            (ConstraintViolation(.notNull, columns: ["unnamed"]), .notNull, []),
            (ConstraintViolation(.value, columns: ["order_no"]), .value, ["order_no"]),
            (ConstraintViolation(.exhausted), .keysExhausted, ["id"]),
        ])
    func kinds(_ violation: ConstraintViolation, _ code: ProblemCode, _ fields: [String]) async throws {
        let book = try await OrderBook()
        let problem = try await Self.refusal(violation, in: book).problem
        #expect(problem.code == code)
        #expect(problem.fields == fields)
        #expect(problem.retry == .never)
        #expect(problem.path?.text == "line")
    }

    @Test("The message of a trigger is the detail")
    func trigger() async throws {
        let book = try await OrderBook()
        let problem = try await Self.refusal(
            ConstraintViolation(.trigger, sentence: "Closed on Sundays."), in: book
        ).problem
        #expect(problem.code == .trigger && problem.detail == "Closed on Sundays.")
    }
}
