import MergeCore
import Testing
import TestSupport

/// The rows of section 4 of Protocol.md: created, edited and deleted, if the row exists and if it is missing.
@Suite struct RowDecisionTests {
    private static func assignment(_ column: Int, _ value: Int) -> Assignment {
        Assignment(column: column, value: .integer(Int128(value)))
    }

    @Test("A creation inserts the row")
    func creation() {
        let decision = Sample.decider(Sample.section()).decide(
            .create(Sample.values([0, 2], [5, 6])), item: nil, current: nil)
        #expect(decision.outcomes.map(\.kind) == [.inserted])
        #expect(decision.change == .insert([Self.assignment(1, 5), Self.assignment(3, 6)]))
    }

    @Test("A creation of an existing row merges it")
    func existing() {
        let decision = Sample.decider(Sample.section()).decide(
            .create(Sample.values([0, 2], [5, 6])), item: Sample.key, current: Sample.row(7, 5, 2, 3))
        #expect(decision.outcomes.map(\.kind) == [.already, .clientWon])
        // b was omitted and counts as current.
        #expect(decision.outcomes[1].conflict?.edited == .group([.integer(2), .integer(6)]))
        #expect(decision.outcomes[1].conflict?.base == .null)
        #expect(decision.change == .update([Self.assignment(3, 6)]))
    }

    @Test("Only different columns are written")
    func differences() {
        let decision = Sample.decider(Sample.section()).decide(
            .edit([Sample.edit(1, [2, 3], [2, 4])]), item: Sample.key, current: Sample.row(7, 1, 2, 3))
        #expect(decision.outcomes.map(\.kind) == [.applied])
        #expect(decision.change == .update([Self.assignment(3, 4)]))
    }

    @Test("Groups are decided separately")
    func separateGroups() {
        let decision = Sample.decider(Sample.section(.serverWins)).decide(
            .edit([Sample.edit(0, [1], [9]), Sample.edit(1, [2, 3], [2, 4])]), item: Sample.key,
            current: Sample.row(7, 1, 8, 3))
        #expect(decision.outcomes.map(\.kind) == [.applied, .serverWon])
        #expect(decision.change == .update([Self.assignment(1, 9)]))
        #expect(!decision.isRejected)
    }

    @Test("A rejected group rejects the row")
    func rejectedGroup() {
        let decision = Sample.decider(Sample.section(.reject)).decide(
            .edit([Sample.edit(0, [1], [9])]), item: Sample.key, current: Sample.row(7, 2, 8, 3))
        #expect(decision.isRejected)
        #expect(decision.change == .none)
        #expect(decision.outcomes.first?.conflict?.written == .group([.integer(2)]))
    }

    @Test("An edit of a missing row follows on-missing", arguments: MissingPolicy.allCases)
    func missingRow(_ policy: MissingPolicy) {
        let decider = Sample.decider(Sample.section(missing: policy))
        let decision = decider.decide(.edit([Sample.edit(0, [1], [9])]), item: Sample.key, current: nil)
        let kinds: [MissingPolicy: OutcomeKind] = [.drop: .missing, .restore: .restored, .reject: .rejected]
        #expect(decision.outcomes.map(\.kind) == [kinds[policy]])
        #expect(decision.isRejected == (policy == .reject))
        #expect(decision.outcomes.first?.conflict?.current == .null)
        #expect(decision.change == (policy == .restore ? .insert([Self.assignment(1, 9)]) : .none))
        let echo = decider.decide(.edit([Sample.edit(0, [1], [1])]), item: Sample.key, current: nil)
        #expect(echo.outcomes.isEmpty)
        #expect(!echo.isRejected)
    }

    @Test("A deletion of a missing row is already done")
    func deletedAgain() {
        let decision = Sample.decider(Sample.section(missing: .reject)).decide(
            .delete([GroupBase(group: 0, base: Sample.values([0], [1]))]), item: Sample.key, current: nil)
        #expect(decision.outcomes.map(\.kind) == [.already])
        #expect(decision.outcomes.first?.conflict == nil)
    }

    @Test(arguments: DeleteConflictPolicy.allCases) func deletingARow(_ policy: DeleteConflictPolicy) {
        let decider = Sample.decider(Sample.section(deleting: policy))
        let action = RowAction.delete([GroupBase(group: 1, base: Sample.values([1, 2], [2, 3]))])
        let clean = decider.decide(action, item: Sample.key, current: Sample.row(7, 100, 2, 3))
        #expect(clean.outcomes.map(\.kind) == [.deleted])
        #expect(clean.outcomes.first?.conflict == nil)
        #expect(clean.change == .delete)
        let conflict = decider.decide(action, item: Sample.key, current: Sample.row(7, 1, 2, 4))
        let expected: (OutcomeKind, RowChange) =
            switch policy {
            case .delete: (.deleted, .delete)
            case .keep: (.kept, .none)
            case .reject: (.rejected, .none)
            }
        #expect(conflict.outcomes.map(\.kind) == [expected.0])
        #expect(conflict.change == expected.1)
        #expect(conflict.isRejected == (policy == .reject))
        #expect(conflict.outcomes.first?.conflict?.current == .row(Sample.row(7, 1, 2, 4)))
    }

    @Test("No row is created under a missing record")
    func missingRecord() {
        let decision = Sample.decider(Sample.section()).decideWithoutRecord(
            .create(Sample.values([0], [5])), item: nil)
        #expect(decision.outcomes.map(\.kind) == [.missing])
        #expect(decision.change == .none)
    }

    @Test("A group that was not sent keeps its columns, and a group is written whole or not at all", arguments: 0..<200)
    func atomicGroups(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let section = Sample.section(ConflictPolicy.allCases.randomElement(using: &random) ?? .clientWins)
            var number: Int { Int.random(in: 0..<3, using: &random) }
            var edits: [GroupEdit] = []
            if Bool.random(using: &random) { edits.append(Sample.edit(0, [number], [number])) }
            if Bool.random(using: &random) { edits.append(Sample.edit(1, [number, number], [number, number])) }
            let current = Sample.row(7, number, number, number)
            let decision = Sample.decider(section).decide(.edit(edits), item: Sample.key, current: current)
            var after = current
            if case .update(let assignments) = decision.change {
                for assignment in assignments { after[assignment.column] = assignment.value }
            }
            for group in section.groups.indices {
                let before = section.values(of: group, in: current)
                let result = section.values(of: group, in: after)
                let sent = edits.first { $0.group == group }?.edited.values
                #expect(result == before || result == sent, "seed \(seed)")
            }
        }
    }
}
