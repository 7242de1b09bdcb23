import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// The rights of a client on rows as they are now and were before the push.
@Suite(.timeLimit(.minutes(1))) struct RowRightsTests {
    private static func order(_ state: String) -> [Value] { [.integer(1), .word(state), .integer(10)] }

    /// A clerk writes the state of new orders, a manager writes all fields of paid orders.
    private static func view(_ book: OrderBook, roles: [String]) throws -> ResourceView {
        let root = book.orders.root
        let all = book.orders.sections.map { SectionRights.all(of: $0) }
        let state = [SectionRights(isGiven: true, fields: [true, false])] + all.dropFirst()
        func role(_ name: String, _ writes: [SectionRights], in state: String, creates: Bool) -> RoleRule {
            RoleRule(
                name: ExactText(name), rule: .default, reads: all, writes: writes, creates: creates, deletes: creates,
                conditions: [RowCondition(column: 1, test: .value(.word(state)))])
        }
        let access = AccessRules(
            roles: [
                role("clerk", state, in: "new", creates: false), role("manager", all, in: "paid", creates: true),
            ], root: root)
        let resource = try #require(
            Resource(
                name: "orders", description: nil, sections: book.orders.sections, access: access,
                standingFor: book.orders))
        let viewer = Viewer(who: "eva", roles: Set(roles.map { ExactText($0) }), claims: AccessClaims())
        return try #require(viewer.view(of: resource))
    }

    /// Runs a test with the rights of a client.
    private static func rights<Answer: Sendable>(
        _ roles: [String],
        _ body: @escaping @Sendable (RowRights, EditedRow) throws -> Answer
    ) async throws -> Answer {
        let book = try await OrderBook()
        let view = try Self.view(book, roles: roles)
        let edit = book.edit(book.orders, 1, "total", from: .integer(10), to: .integer(20))
        return try await book.run([[edit]]) { stages in
            try body(RowRights(of: view, before: RowsBefore(stages.run)), stages.row(0))
        }
    }

    @Test("The roles that apply depend on the row")
    func roles() async throws {
        let found = try await Self.rights(["clerk", "manager"]) { rights, row in
            ["new", "paid", "sent"].map { rights.held(on: Self.order($0), report: EditReport(row.step.edit)).isEmpty }
        }
        #expect(found == [false, false, true])
    }

    @Test("An edit is refused if no role that applies to the row may write the group")
    func writing() async throws {
        for (roles, state, isAllowed) in [
            (["clerk"], "new", false), (["manager"], "paid", true), (["manager"], "new", false),
            (["clerk", "manager"], "new", false), (["clerk", "manager"], "paid", true),
        ] {
            let found = try await Self.rights(roles) { rights, row in
                do throws(DecidingStop) {
                    let report = EditReport(row.step.edit)
                    try rights.check(row.edit, isThere: true, root: Self.order(state), report: report)
                    return true
                } catch {
                    guard case .refused(let problem) = error, problem.code == .noRight else { throw error }
                    return false
                }
            }
            #expect(found == isAllowed, "\(roles) \(state)")
        }
    }

    @Test("A role that applied when the edit found the record must still apply")
    func rolesOfFirstRead() async throws {
        let isEmpty = try await Self.rights(["clerk", "manager"]) { rights, row in
            var report = EditReport(row.step.edit)
            report.held = rights.grants(on: Self.order("new"))
            return rights.held(on: Self.order("paid"), report: report).isEmpty
        }
        #expect(isEmpty)
    }

    @Test("A missing row is no refusal, which would reveal something")
    func missingRow() async throws {
        let isAllowed = try await Self.rights(["clerk"]) { rights, row in
            do throws(DecidingStop) {
                try rights.check(row.edit, isThere: false, root: nil, report: EditReport(row.step.edit))
                return true
            } catch {
                return false
            }
        }
        #expect(isAllowed)
    }

    @Test("Each written group needs its own roles, and a deletion of the record needs none later")
    func needs() async throws {
        let counts = try await Self.rights(["clerk", "manager"]) { rights, row in
            let outcomes = [0, 1].map { group in Outcome(.applied, group: group) }
            let update = RowChange.update([Assignment(column: 2, value: .integer(20))])
            return [
                rights.needs(of: update, by: row, outcomes: outcomes[...], among: .all).count,
                rights.needs(of: .none, by: row, outcomes: outcomes[...], among: .all).count,
                rights.needs(of: .delete, by: row, outcomes: outcomes[...], among: .all).count,
            ]
        }
        #expect(counts == [2, 0, 0])
    }
}
