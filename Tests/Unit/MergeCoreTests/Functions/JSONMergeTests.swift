import MergeCore
import Testing
import TestSupport

/// JSON objects and items that both sides change.
@Suite struct JSONMergeTests {
    struct Case: Sendable {
        let base: String
        let edited: String
        let current: String
        var key: String?
        /// nil if the values are one conflict as a whole.
        let merged: String?
        var paths: [String] = []
    }

    /// In each conflict the client is favoured.
    static let cases: [Case] = [
        Case(base: #"{"a":1,"b":2}"#, edited: #"{"a":3,"b":2}"#, current: #"{"a":1,"b":4}"#, merged: #"{"a":3,"b":4}"#),
        Case(
            base: #"{"a":1,"b":2}"#, edited: #"{"b":2,"new":1}"#, current: #"{"b":2,"a":1,"x":0}"#,
            merged: #"{"b":2,"x":0,"new":1}"#),
        Case(
            base: #"{"a":{"x":1,"y":1}}"#, edited: #"{"a":{"x":2,"y":1}}"#, current: #"{"a":{"x":3,"y":4}}"#,
            merged: #"{"a":{"x":2,"y":4}}"#, paths: ["/a/x"]),
        Case(base: "{}", edited: #"{"a":{"x":1}}"#, current: #"{"a":{"y":2}}"#, merged: #"{"a":{"y":2,"x":1}}"#),
        Case(
            base: #"{"a":null}"#, edited: #"{"a":{"x":1}}"#, current: #"{"a":{"y":2}}"#, merged: #"{"a":{"x":1}}"#,
            paths: ["/a"]),
        Case(base: #"{"a":1}"#, edited: "{}", current: #"{"a":null}"#, merged: "{}", paths: ["/a"]),
        Case(base: #"{"a":1}"#, edited: #"{"a":null}"#, current: "{}", merged: #"{"a":null}"#, paths: ["/a"]),
        Case(base: #"{"a":1}"#, edited: "{}", current: #"{"a":1.0,"b":1}"#, merged: #"{"b":1}"#),
        Case(
            base: #"{"a":[1],"b":[1]}"#, edited: #"{"a":[1,2],"b":[2]}"#, current: #"{"a":[1],"b":[3]}"#,
            merged: #"{"a":[1,2],"b":[2]}"#, paths: ["/b"]),
        Case(
            base: #"{"a/b":{"~":1}}"#, edited: #"{"a/b":{"~":2}}"#, current: #"{"a/b":{"~":3}}"#,
            merged: #"{"a/b":{"~":2}}"#, paths: ["/a~1b/~0"]),
        Case(
            base: #"{"\u00e9":1}"#, edited: #"{"\u00e9":1,"e\u0301":2}"#, current: #"{"\u00e9":3}"#,
            merged: "{\"\u{E9}\":3,\"e\u{301}\":2}"),
        Case(base: "[1]", edited: "[2]", current: "[3]", merged: nil),
        Case(base: "null", edited: "{}", current: #"{"a":1}"#, merged: nil),
        Case(
            base: #"[{"id":1,"n":1},{"id":2,"n":1}]"#, edited: #"[{"id":1,"n":2},{"id":3},{"id":2,"n":1}]"#,
            current: #"[{"id":2,"n":9},{"id":1,"n":1}]"#, key: "id",
            merged: #"[{"id":2,"n":9},{"id":1,"n":2},{"id":3}]"#),
        Case(
            base: #"[{"id":1},{"id":2}]"#, edited: #"[{"id":2},{"id":1}]"#, current: #"[{"id":1},{"id":5},{"id":2}]"#,
            key: "id", merged: #"[{"id":2},{"id":1},{"id":5}]"#),
        Case(
            base: #"[{"id":1},{"id":2}]"#, edited: #"[{"id":0},{"id":1},{"id":2}]"#, current: #"[{"id":2,"a":1}]"#,
            key: "id", merged: #"[{"id":0},{"id":2,"a":1}]"#),
        Case(
            base: "[]", edited: #"[{"id":1}]"#, current: #"[{"id":"1"}]"#, key: "id",
            merged: #"[{"id":"1"},{"id":1}]"#),
        Case(
            base: #"[{"id":1,"n":1},{"id":2,"n":1}]"#, edited: #"[{"id":2,"n":2}]"#,
            current: #"[{"id":1,"n":5},{"id":2,"n":3}]"#, key: "id", merged: #"[{"id":2,"n":2}]"#,
            paths: ["/0", "/0/n"]),
        Case(base: "[]", edited: #"[{"id":1}]"#, current: #"[{"id":1},{"id":1}]"#, key: "id", merged: nil),
        Case(base: "[]", edited: #"[{"id":1.5}]"#, current: #"[{"id":1}]"#, key: "id", merged: nil),
        Case(base: "[]", edited: #"[{"id":null}]"#, current: #"[{"id":1}]"#, key: "id", merged: nil),
        Case(
            base: #"{"a":[{"k":true,"v":1}]}"#, edited: #"{"a":[{"k":true,"v":2}]}"#,
            current: #"{"a":[{"k":true,"v":1},{"k":false}]}"#, key: "k",
            merged: #"{"a":[{"k":true,"v":2},{"k":false}]}"#),
    ]

    @Test(arguments: 0..<cases.count) func merges(index: Int) throws {
        let test = Self.cases[index]
        let result = try JSONMerge.merge(
            base: try #require(JSONParser.parse(test.base)), edited: try #require(JSONParser.parse(test.edited)),
            current: try #require(JSONParser.parse(test.current)), itemKey: test.key.map { ExactText($0) },
            favouring: .client)
        #expect(result.map { ExactText($0.tree.text) } == test.merged.map { ExactText($0) })
        #expect(result?.parts.map(\.path) ?? [] == test.paths)
    }

    @Test("Parts contain both sides")
    func parts() throws {
        let base = try #require(JSONParser.parse(#"{"a":1}"#))
        let edited = try #require(JSONParser.parse("{}"))
        let current = try #require(JSONParser.parse(#"{"a":2}"#))
        let result = try JSONMerge.merge(base: base, edited: edited, current: current, itemKey: nil, favouring: .server)
        let part = try #require(result?.parts.first)
        #expect(part.base == .integer(1) && part.edited == nil && part.current == .integer(2))
        #expect(part.written == .integer(2))
    }

    @Test("Deep values are not divided")
    func deepValues() throws {
        let nested = { (leaf: Int) in
            (0..<1_000).reduce(JSONTree.integer(Int128(leaf))) { tree, _ in
                .object(JSONMembers([JSONMember(name: ExactText("a"), value: tree)]))
            }
        }
        let result = try JSONMerge.merge(
            base: nested(1), edited: nested(2), current: nested(3), itemKey: nil, favouring: .client)
        #expect(result?.tree == nested(2))
        #expect(result?.parts.map(\.path) == [String(repeating: "/a", count: JSONMerge.maximumDepth)])
    }

    private static func tree(_ depth: Int, _ random: inout SeededRandom) -> JSONTree {
        switch Int.random(in: depth > 0 ? 0...7 : 0...3, using: &random) {
        case 0: return .null
        case 1, 2: return .integer(Int128.random(in: 0...1, using: &random))
        case 3: return .text(ExactText(["", "a"].randomElement(using: &random) ?? ""))
        case 4:
            let keys = (0..<4).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
            return .array(keys.map { item($0, &random) })
        default: return .object(members(depth, &random))
        }
    }

    private static func item(_ key: Int, _ random: inout SeededRandom) -> JSONTree {
        let value = JSONMember(name: ExactText("v"), value: .integer(Int128.random(in: 0...1, using: &random)))
        return .object(JSONMembers([JSONMember(name: ExactText("id"), value: .integer(Int128(key))), value]))
    }

    private static func members(_ depth: Int, _ random: inout SeededRandom) -> JSONMembers {
        let names = ["a", "b", "c"].filter { _ in Int.random(in: 0...3, using: &random) > 0 }.shuffled(using: &random)
        return JSONMembers(names.map { JSONMember(name: ExactText($0), value: tree(depth - 1, &random)) })
    }

    /// A tree in which the order of the items does not count either.
    private static func unordered(_ tree: JSONTree) -> JSONTree {
        switch tree {
        case .array(let elements): .array(elements.map { unordered($0) }.sorted { $0.canonicalText < $1.canonicalText })
        case .object(let members):
            .object(JSONMembers(members.list.map { JSONMember(name: $0.name, value: unordered($0.value)) }))
        default: tree
        }
    }

    @Test(arguments: 0..<200) func lawsHold(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<30 {
            let (b, e, c) = (
                JSONTree.object(Self.members(3, &random)), JSONTree.object(Self.members(3, &random)),
                JSONTree.object(Self.members(3, &random))
            )
            let shown: Comment = "seed \(seed): \(b.text) \(e.text) \(c.text)"
            for key in [nil, ExactText("id")] {
                let merge = { (b: JSONTree, e: JSONTree, c: JSONTree, side: MergeSide) in
                    try #require(try JSONMerge.merge(base: b, edited: e, current: c, itemKey: key, favouring: side))
                }
                #expect(try merge(b, e, b, .client) == merge(b, e, b, .server), shown)
                #expect(try merge(b, e, b, .client).tree == e && merge(b, e, b, .client).parts.isEmpty, shown)
                #expect(try merge(b, b, c, .client).tree == c && merge(b, b, c, .client).parts.isEmpty, shown)
                #expect(try merge(b, c, c, .client).tree == c && merge(b, c, c, .client).parts.isEmpty, shown)
                let result = try merge(b, e, c, .client)
                let mirrored = try merge(b, c, e, .server)
                #expect(Self.unordered(result.tree) == Self.unordered(mirrored.tree), shown)
                #expect(result.parts.count == mirrored.parts.count, shown)
                let other = try merge(b, e, c, .server)
                if result.parts.isEmpty { #expect(result == other, shown) }
                for part in result.parts {
                    #expect(part.written == part.edited && part.edited != part.current, shown)
                    #expect(part.base != part.edited && part.base != part.current, shown)
                }
            }
        }
    }

    /// Each member is compared with the table of all cases.
    @Test("Members of flat objects follow the table", arguments: 0..<200)
    func flatMembers(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        let states: [JSONTree?] = [nil, .null, .integer(1), .text(ExactText("1")), .array([.integer(1)])]
        for _ in 0..<30 {
            let names = (0..<8).map { ExactText("m\($0)") }
            let rows = names.map { _ in (0..<3).map { _ in states.randomElement(using: &random) ?? nil } }
            let sides = (0..<3).map { side in
                JSONTree.object(
                    JSONMembers(
                        zip(names, rows).compactMap { name, row in row[side].map { JSONMember(name: name, value: $0) } }
                            .shuffled(using: &random)))
            }
            let result = try #require(
                try JSONMerge.merge(
                    base: sides[0], edited: sides[1], current: sides[2], itemKey: nil, favouring: .server))
            let expected = zip(names, rows).compactMap { name, row -> JSONMember? in
                let winner = row[0] == row[2] ? row[1] : row[2]
                return winner.map { JSONMember(name: name, value: $0) }
            }
            let conflicts = rows.filter { Set($0).count == 3 }.count
            #expect(result.tree == .object(JSONMembers(expected)), "seed \(seed)")
            #expect(result.parts.count == conflicts, "seed \(seed)")
        }
    }
}
