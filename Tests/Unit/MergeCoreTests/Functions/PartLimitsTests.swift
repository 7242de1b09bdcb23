import MergeCore
import Testing

/// A conflict reports a limited number of parts with a limited length.
@Suite struct PartLimitsTests {
    private static func object(_ count: Int, _ value: Int, name: String = "m") -> JSONTree {
        .object(
            JSONMembers((0..<count).map { JSONMember(name: ExactText("\(name)\($0)"), value: .integer(Int128(value))) })
        )
    }

    private static func merge(_ base: JSONTree, _ edited: JSONTree, _ current: JSONTree) -> Int? {
        (try? JSONMerge.merge(base: base, edited: edited, current: current, itemKey: nil, favouring: .client))?
            .parts.count
    }

    @Test("The number of parts is limited")
    func count() {
        let count = PartLimits.count
        #expect(Self.merge(Self.object(count, 0), Self.object(count, 1), Self.object(count, 2)) == count)
        #expect(Self.merge(Self.object(count + 1, 0), Self.object(count + 1, 1), Self.object(count + 1, 2)) == nil)
    }

    /// Each part repeats the names above it, so a long name above many short ones would be repeated for each.
    @Test("The length of paths is limited")
    func pathLength() {
        func under(_ tree: JSONTree, _ bytes: Int) -> JSONTree {
            .object(JSONMembers([JSONMember(name: ExactText(String(repeating: "n", count: bytes)), value: tree)]))
        }
        func parts(_ bytes: Int) -> Int? {
            Self.merge(
                under(Self.object(500, 0), bytes), under(Self.object(500, 1), bytes), under(Self.object(500, 2), bytes))
        }
        #expect(parts(100) == 500)
        #expect(parts(10_000) == nil)
    }

    private static func decide(_ type: ColumnType, _ function: MergeFunction, _ values: [Value]) -> GroupDecision {
        GroupDecision.decide(
            base: .values([values[0]]), edited: [values[1]], current: [values[2]],
            group: Group(name: "g", fields: 0..<1, onConflict: Ruled(.serverWins), merge: Ruled(function)),
            types: [type], digest: { _ in [] })
    }

    @Test("Beyond the limits, the value conflicts as a whole with a reason")
    func beyondLimits() throws {
        let trees = (0...2).map { Value.json(Self.object(PartLimits.count + 1, $0)) }
        let json = Self.decide(.json(TextType()), .json(itemKey: nil), trees)
        #expect(json.outcome == .serverWon && json.parts.isEmpty)
        #expect(json.fallback?.contains("too many of the same parts") == true, "\(json.fallback ?? "")")
        let texts = ["a", "b", "c"].map { word in
            Value.text(ExactText((0...PartLimits.count).map { "\(word) \($0)\n" }.joined()))
        }
        let text = Self.decide(.text(TextType()), .text, texts)
        #expect(text.outcome == .serverWon && text.parts.isEmpty)
        #expect(text.fallback?.contains("too many of the same parts") == true, "\(text.fallback ?? "")")
    }

    /// Its parts are not compared as characters, and the words next to it are merged.
    @Test("A long run of combining marks is one word")
    func marks() {
        let run = "x" + String(repeating: "\u{301}\u{316}", count: 50_000)
        let other = "x" + String(repeating: "\u{316}\u{301}", count: 50_000)
        let result = TextMerge.merge(
            base: "one \(run) two three", edited: "1 \(run) two three", current: "one \(other) two 3",
            favouring: .client)
        #expect(ExactText(result.text) == ExactText("1 \(other) two 3"), "canonically equivalent is not equal")
        #expect(result.parts.isEmpty)
    }
}
