import MergeCore
import Testing
import TestSupport

/// The table of section 4 of Protocol.md, row by row, with small numbers as groups.
@Suite struct GroupDecisionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let base: Int?
        let edited: Int
        let current: Int
        let policy: ConflictPolicy
        let outcome: OutcomeKind
        let written: Int?

        var testDescription: String {
            "base \(base.map(String.init) ?? "none"), edited \(edited), current \(current), \(policy)"
        }
    }

    static let table: [Case] = ConflictPolicy.allCases.flatMap { policy in
        let conflict: (OutcomeKind, (Int) -> Int?) =
            switch policy {
            case .clientWins: (.clientWon, { $0 })
            case .serverWins: (.serverWon, { _ in nil })
            case .reject: (.rejected, { _ in nil })
            }
        return [
            Case(base: 1, edited: 1, current: 1, policy: policy, outcome: .unchanged, written: nil),
            Case(base: 1, edited: 1, current: 2, policy: policy, outcome: .unchanged, written: nil),
            Case(base: 1, edited: 2, current: 2, policy: policy, outcome: .already, written: nil),
            Case(base: 1, edited: 2, current: 1, policy: policy, outcome: .applied, written: 2),
            Case(base: 1, edited: 2, current: 3, policy: policy, outcome: conflict.0, written: conflict.1(2)),
            Case(base: nil, edited: 2, current: 2, policy: policy, outcome: .already, written: nil),
            Case(base: nil, edited: 2, current: 3, policy: policy, outcome: conflict.0, written: conflict.1(2)),
        ]
    }

    private static func group(_ number: Int) -> [Value] { [.integer(Int128(number)), .text(ExactText("x\(number)"))] }

    /// A replacement of SHA-256 that distinguishes groups.
    private static func digest(_ values: [Value]) -> [UInt8] { Array("\(values)".utf8) }

    private static func decide(_ test: Case, byDigest: Bool) -> GroupDecision {
        let base = test.base.map { number -> GroupState in
            byDigest ? .digest(digest(group(number))) : .values(group(number))
        }
        return GroupDecision.decide(
            base: base, edited: group(test.edited), current: group(test.current),
            group: Group(name: "g", fields: 0..<2, onConflict: Ruled(test.policy)),
            types: [.integer(-1_000...1_000), .text(TextType(maximumCharacters: 10))], digest: digest)
    }

    @Test(arguments: table, [false, true]) func everyRow(_ test: Case, byDigest: Bool) {
        let decision = Self.decide(test, byDigest: byDigest)
        #expect(decision.outcome == test.outcome)
        #expect(decision.written == test.written.map(Self.group))
        #expect(decision.isConflict == [.clientWon, .serverWon, .rejected].contains(test.outcome))
    }

    // MARK: Amounts

    struct Amount: Sendable, CustomTestStringConvertible {
        let base: GroupState?
        let edited: Value
        var current: Value?
        var type = ColumnType.integer(0...10)
        let outcome: OutcomeKind
        var written: Value?

        var testDescription: String { "\(base.map { "\($0)" } ?? "none") to \(edited), \(outcome)" }
    }

    /// The row has the edited value unless the case has another value; on-conflict is server-wins.
    static let amounts: [Amount] = [
        Amount(base: .values([.integer(5)]), edited: .integer(6), outcome: .combined, written: .integer(7)),
        Amount(base: .values([.integer(6)]), edited: .integer(5), outcome: .combined, written: .integer(4)),
        Amount(base: .values([.integer(5)]), edited: .integer(5), outcome: .unchanged),
        // 15 does not fit the column, so on-conflict decides.
        Amount(base: .values([.integer(0)]), edited: .integer(8), outcome: .serverWon),
        Amount(base: nil, edited: .integer(6), outcome: .already),
        Amount(base: .values([.null]), edited: .integer(6), outcome: .already),
        Amount(base: .values([.integer(6)]), edited: .null, outcome: .already),
        Amount(base: .digest([1]), edited: .integer(6), outcome: .already),
        Amount(base: .values([.text(ExactText("a"))]), edited: .integer(6), outcome: .already),
        Amount(
            base: .values([.integer(0)]), edited: .integer(1), current: .integer(0), outcome: .applied,
            written: .integer(1)),
        Amount(
            base: .values([.boolean(false)]), edited: .boolean(true), type: .boolean, outcome: .already),
        Amount(
            base: .values([.double(0.1)]), edited: .double(0.3), type: .double(isUnsigned: false), outcome: .combined,
            written: .double(0.5)),
    ]

    /// Two clients that both count from 5 to 6 make 7.
    ///
    /// Values that are not amounts are `already`.
    @Test("Equal additions are both applied", arguments: amounts)
    func equalAmounts(_ test: Amount) {
        let decision = GroupDecision.decide(
            base: test.base, edited: [test.edited], current: [test.current ?? test.edited],
            group: Group(name: "n", fields: 0..<1, onConflict: Ruled(.serverWins), merge: Ruled(.add)),
            types: [test.type]
        ) { _ in [0] }
        #expect(decision.outcome == test.outcome)
        #expect(decision.written == test.written.map { [$0] })
        #expect(decision.isConflict == [.combined, .serverWon].contains(test.outcome))
    }

    /// The table again, as simply as possible.
    private static func oracle(_ base: Int?, _ edited: Int, _ current: Int, _ policy: ConflictPolicy) -> (
        OutcomeKind, Int
    ) {
        if let base, base == edited { return (.unchanged, current) }
        if edited == current { return (.already, current) }
        if let base, base == current { return (.applied, edited) }
        if policy == .clientWins { return (.clientWon, edited) }
        return (policy == .reject ? .rejected : .serverWon, current)
    }

    @Test("Each decision equals the oracle's", arguments: 0..<200)
    func oracle(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let base = Bool.random(using: &random) ? Int.random(in: 0..<4, using: &random) : nil
            let edited = Int.random(in: 0..<4, using: &random)
            let current = Int.random(in: 0..<4, using: &random)
            let policy = ConflictPolicy.allCases.randomElement(using: &random) ?? .reject
            let test = Case(
                base: base, edited: edited, current: current, policy: policy, outcome: .kept, written: nil)
            let decision = Self.decide(test, byDigest: Bool.random(using: &random))
            let (outcome, stands) = Self.oracle(base, edited, current, policy)
            #expect(decision.outcome == outcome, "seed \(seed): \(test.testDescription)")
            #expect(
                (decision.written ?? Self.group(current)) == Self.group(stands), "seed \(seed): \(test.testDescription)"
            )
        }
    }
}
