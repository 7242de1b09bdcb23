import MergeCore
import Testing

/// A merge uses steps of a budget.
///
/// Equal values use equal steps on each machine, and the merge ends when no steps are left.
@Suite struct WorkBudgetTests {
    /// - Returns: the steps of a merge, and its decision.
    private static func steps(of values: [Value], _ function: MergeFunction, of all: Int) -> (Int, GroupDecision) {
        var budget = WorkBudget(steps: all)
        let type: ColumnType = if case .json = function { .json(TextType()) } else { .text(TextType()) }
        let decision = GroupDecision.decide(
            base: .values([values[0]]), edited: [values[1]], current: [values[2]],
            group: Group(name: "g", fields: 0..<1, onConflict: Ruled(.serverWins), merge: Ruled(function)),
            types: [type], digest: { _ in [] }, spending: &budget)
        return (all - budget.left, decision)
    }

    /// Texts of lines that both sides changed throughout, without a word in common.
    private static func texts(_ lines: Int) -> [Value] {
        ["a", "b", "c"].map { side in
            .text(ExactText((0..<lines).map { "\(side)\($0 * 7 % lines) \(side)\($0)\n" }.joined()))
        }
    }

    /// An object with one member more on each side, and an array that only one of them changed.
    private static func trees(_ members: Int) -> [Value] {
        (0..<3).map { side in
            let numbers = (0..<members).map { JSONTree.integer(Int128($0)) } + (side == 1 ? [.integer(1)] : [])
            let all = (0..<members).map { JSONMember(name: ExactText("m\($0)"), value: .integer(Int128($0))) }
            let own = [
                JSONMember(name: ExactText("s\(side)"), value: .null),
                JSONMember(name: ExactText("list"), value: .array(numbers)),
            ]
            return .json(.object(JSONMembers(all + own)))
        }
    }

    /// The budget counts work, not time: twice the size needs about twice the steps.
    @Test("The work grows with the size")
    func growth() {
        let json = [1_000, 2_000, 4_000].map { Self.steps(of: Self.trees($0), .json(itemKey: nil), of: .max).0 }
        #expect(json[1] < 3 * json[0] && json[2] < 3 * json[1] && json[0] > 1_000, "\(json)")
        let text = [4_000, 8_000, 16_000].map { Self.steps(of: Self.texts($0), .text, of: .max).0 }
        #expect(text[1] < 3 * text[0] && text[2] < 3 * text[1] && text[0] > 4_000, "\(text)")
    }

    @Test("Equal values need equal steps")
    func equalWork() {
        let first = Self.steps(of: Self.texts(500), .text, of: .max)
        let again = Self.steps(of: Self.texts(500), .text, of: .max)
        #expect(first.0 == again.0 && first.1 == again.1)
        let exact = Self.steps(of: Self.texts(500), .text, of: first.0)
        #expect(exact.1 == first.1, "what it takes suffices")
    }

    @Test("Beyond the budget, the group conflicts as a whole with a reason")
    func beyondBudget() throws {
        for (values, function) in [(Self.texts(500), MergeFunction.text), (Self.trees(500), .json(itemKey: nil))] {
            let needed = Self.steps(of: values, function, of: .max).0
            let (spent, decision) = Self.steps(of: values, function, of: needed - 1)
            #expect(decision.outcome == .serverWon && decision.parts.isEmpty && decision.isConflict)
            #expect(decision.fallback?.contains("more work than one push may ask for") == true)
            #expect(spent == needed - 1, "nothing is left for what follows")
        }
    }

    /// The search stops during its work, not at its end.
    @Test("A search stops when the budget is used up")
    func stoppedSearch() {
        var budget = WorkBudget(steps: 10_000)
        let (a, b) = (Array(0..<Int32(20_000)), Array((0..<Int32(20_000)).reversed()))
        #expect(throws: WorkSpent.self) {
            try TokenDiff.hunks(
                from: a, to: b, areWords: Array(repeating: true, count: 20_000), effort: 100_000, spending: &budget)
        }
        #expect(budget.left == 0)
    }
}
