import MergeCore
import Testing

/// Two sets of rules on one outcome of the journal.
@Suite struct RehearsalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        enum Expected: Sendable, Equatable {
            case same
            case different(OutcomeKind, RehearsalDifference.Effect)
            case unjudged(UnjudgedReason)
        }

        let testDescription: String
        let active: Section
        let new: Section
        var actions: [RehearsedEdit.Reading: RowAction] = [.withBase: RehearsalTests.edited]
        var fields = [0]
        /// The readings of the new rules; nil for those of the active rules.
        var newActions: [RehearsedEdit.Reading: RowAction]?
        let states: [RehearsedEdit.RowState]
        var newStates: [RehearsedEdit.RowState]?
        /// The recorded outcome; nil if other rules than the active ones decided.
        var recorded: OutcomeKind?
        var rule = "default"
        let expected: Expected
    }

    fileprivate static let unchanged = RehearsedEdit.RowState.present(Sample.row(7, 1, 0, 0))
    fileprivate static let changed = RehearsedEdit.RowState.present(Sample.row(7, 3, 0, 0))
    fileprivate static let edited = RowAction.edit([Sample.edit(0, [1], [2])])
    fileprivate static let created = RowAction.create(Sample.values([0], [2]))
    fileprivate static let deleted = RowAction.delete([GroupBase(group: 0, base: Sample.values([0], [1]))])
    fileprivate static let line = RuleReference(file: "items.yaml", line: 9)

    private static func frozen(_ sql: String?, _ conflict: ConflictPolicy = .clientWins) -> Section {
        Sample.section(conflict, frozenWhen: sql.map { Ruled($0, rule: line) })
    }

    static let table: [Case] = [
        Case(
            testDescription: "equal rules", active: Sample.section(), new: Sample.section(), states: [changed],
            expected: .same),
        Case(
            testDescription: "an edit without a conflict", active: Sample.section(), new: Sample.section(.reject),
            states: [unchanged], expected: .same),
        Case(
            testDescription: "the new rules refuse", active: Sample.section(), new: Sample.section(.reject),
            states: [changed], expected: .different(.rejected, .refused)),
        Case(
            testDescription: "the new rules keep the database's value", active: Sample.section(),
            new: Sample.section(.serverWins), states: [changed], expected: .different(.serverWon, .lost)),
        Case(
            testDescription: "the new rules take the client's value", active: Sample.section(.serverWins),
            new: Sample.section(), states: [changed], expected: .different(.clientWon, .overwritten)),
        Case(
            testDescription: "the new rules no longer refuse", active: Sample.section(.reject),
            new: Sample.section(), states: [changed], expected: .different(.clientWon, .accepted)),
        Case(
            testDescription: "the new rules add", active: Sample.section(), new: Sample.section(merge: .add),
            states: [changed], expected: .different(.combined, .other)),
        Case(
            testDescription: "the row is gone, and the new rules restore it", active: Sample.section(),
            new: Sample.section(missing: .restore), fields: [], states: [.gone], recorded: .missing,
            expected: .different(.restored, .other)),
        Case(
            testDescription: "the row is gone, and the new rules refuse", active: Sample.section(),
            new: Sample.section(missing: .reject), fields: [], states: [.gone, .unreachable], recorded: .missing,
            expected: .different(.rejected, .refused)),
        Case(
            testDescription: "the record may be gone", active: Sample.section(),
            new: Sample.section(missing: .restore), fields: [], states: [.gone, .unreachable], recorded: .missing,
            expected: .unjudged(.recordPresence)),
        Case(
            testDescription: "a restored row had a record", active: Sample.section(missing: .restore),
            new: Sample.section(), fields: [], states: [.gone, .unreachable], recorded: .restored,
            expected: .different(.missing, .lost)),
        Case(
            testDescription: "a changed row is kept", active: Sample.section(),
            new: Sample.section(deleting: .keep), actions: [.withBase: deleted], fields: [], states: [changed],
            recorded: .deleted, expected: .different(.kept, .lost)),
        Case(
            testDescription: "an unchanged row is deleted", active: Sample.section(),
            new: Sample.section(deleting: .keep), actions: [.withBase: deleted], fields: [], states: [unchanged],
            recorded: .deleted, expected: .same),
        Case(
            testDescription: "a creation may depend on the base", active: Sample.section(),
            new: Sample.section(merge: .add), actions: [.withBase: edited, .withoutBase: created],
            states: [changed], expected: .unjudged(.absentBase)),
        Case(
            testDescription: "the recorded outcome proves the base", active: Sample.section(merge: .add),
            new: Sample.section(), actions: [.withBase: edited, .withoutBase: created], states: [changed],
            recorded: .combined, expected: .different(.clientWon, .overwritten)),
        Case(
            testDescription: "a row may be frozen", active: frozen("c = 1", .serverWins), new: frozen("c = 1"),
            states: [changed], recorded: .serverWon, rule: "default", expected: .different(.clientWon, .overwritten)),
        Case(
            testDescription: "the recorded rule proves that the row was frozen",
            active: frozen("c = 1", .serverWins), new: frozen("c = 1"), states: [changed], recorded: .serverWon,
            rule: line.text, expected: .same),
        Case(
            testDescription: "other rules decided, so the row may have been frozen",
            active: frozen("c = 1", .serverWins), new: frozen("c = 1"), states: [changed],
            expected: .unjudged(.frozen)),
        Case(
            testDescription: "another condition freezes", active: frozen("c = 1"), new: frozen("c = 2"),
            states: [changed], recorded: .clientWon, expected: .unjudged(.frozen)),
        Case(
            testDescription: "values that do not explain the outcome", active: Sample.section(),
            new: Sample.section(.reject), states: [changed], recorded: .serverWon,
            expected: .unjudged(.unexplained)),
        Case(
            testDescription: "a record that the new rules do not restore", active: Sample.section(.serverWins),
            new: Sample.section(), states: [changed], newStates: [.unreachable], recorded: .serverWon,
            expected: .different(.missing, .other)),
        Case(
            testDescription: "a base that the new groups exclude", active: Sample.section(),
            new: Sample.section(.reject), actions: [.withBase: edited], newActions: [.withoutBase: created],
            states: [changed], expected: .unjudged(.unexplained)),
    ]

    @Test("Each case has its verdict", arguments: table) func verdict(_ test: Case) throws {
        let edit = RehearsedEdit(section: 1, fields: test.fields, actions: test.actions, states: test.states)
        let newEdit = RehearsedEdit(
            section: 1, fields: test.fields, actions: test.newActions ?? test.actions,
            states: test.newStates ?? test.states)
        let rehearsal = Rehearsal(
            active: try Self.resource(test.active), new: try Self.resource(test.new), digest: { _, _, _ in [] })
        let recorded = RecordedOutcome(
            kind: test.recorded ?? .applied, rule: test.rule, isOfActiveRules: test.recorded != nil)
        switch rehearsal.judge(recorded, active: edit, new: newEdit) {
        case .same: #expect(test.expected == .same)
        case .unjudged(let reason): #expect(test.expected == .unjudged(reason))
        case .different(let difference):
            #expect(test.expected == .different(try #require(difference.new.kinds.first), difference.effect))
        }
    }

    @Test("Both decisions name their rules") func reasons() throws {
        let edit = RehearsedEdit(
            section: 1, fields: [0], actions: [.withBase: Self.edited], states: [Self.changed])
        let rehearsal = Rehearsal(
            active: try Self.resource(Sample.section()), new: try Self.resource(Sample.section(.serverWins)),
            digest: { _, _, _ in [] })
        let recorded = RecordedOutcome(kind: .clientWon, rule: "default", isOfActiveRules: true)
        guard case .different(let difference) = rehearsal.judge(recorded, active: edit, new: edit) else {
            Issue.record("the decisions differ")
            return
        }
        #expect(
            difference.active.explained.map(\.why)
                == ["Both sides changed it; on-conflict: client-wins writes the client's (default)."])
        #expect(
            difference.new.explained.map(\.why)
                == ["Both sides changed it; on-conflict: server-wins keeps the database's (default)."])
    }

    private static func resource(_ section: Section) throws -> Resource {
        let root = Section(
            name: "root", kind: .root,
            table: SectionTable(
                TableName(name: "roots"),
                columns: [Column(name: "id", type: .integer(0...1_000), isNullable: false)], keyCount: 1,
                generatedKeyColumn: nil))
        return try #require(Resource(name: "roots", description: nil, sections: [root, section]))
    }
}
