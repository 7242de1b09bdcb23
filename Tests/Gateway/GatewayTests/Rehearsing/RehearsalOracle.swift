import Crypto
import MergeCore
import TestSupport

/// Random rules, rows and pushes for a rehearsal; each push is of a separate record.
struct RehearsalOracle {
    static let sql = """
        CREATE TABLE things (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c TEXT, n INTEGER);
        CREATE TABLE parts (id INTEGER PRIMARY KEY, thing INTEGER NOT NULL, x INTEGER, y INTEGER NOT NULL);
        """

    private static let policies = ["client-wins", "server-wins", "reject"]
    private static let texts = [#"one two three"#, #"one 2 three"#, #"one two 3"#, #"1 two three"#]

    private var random: SeededRandom

    init(seed: Int) {
        random = SeededRandom(seed: seed)
    }

    // MARK: Rules

    /// One version of the rules.
    struct Rules {
        let text: String
        /// True if `b` and `c` are one group.
        let joinsGroups: Bool

        /// Returns the fields of a group.
        func fields(of group: String) -> [String] { group == "bc" ? ["b", "c"] : [group] }
    }

    mutating func rules() -> Rules {
        let joins = Int.random(in: 0..<4, using: &random) == 0
        let steps = oneOf("", ", transitions: {1: [2], 2: [3, 1]}")
        let groups =
            joins
            ? ["      bc: {fields: {b: b, c: c}, on-conflict: \(policy())}"]
            : [
                "      b: {column: b, on-conflict: \(policy())\(steps)}",
                "      c: {column: c, on-conflict: \(policy())\(oneOf("", ", merge: text"))}",
            ]
        let frozen = oneOf("", "", "    frozen-when: n = 1\n", "    frozen-when: n = 2\n")
        let text = """
            resource: things
            sections:
              thing:
                table: things
                on-missing: \(oneOf("drop", "restore", "reject"))
                on-delete-conflict: \(oneOf("delete", "keep", "reject"))
            \(frozen)    groups:
                  a: {column: a, on-conflict: \(policy())\(oneOf("", ", merge: add", ", merge: max", ", merge: min"))}
            \(groups.joined(separator: "\n"))
              parts:
                list: true
                table: parts
                parent: thing
                on-missing: \(oneOf("drop", "restore", "reject"))
                on-delete-conflict: \(oneOf("delete", "keep", "reject"))
                groups:
                  x: {column: x, on-conflict: \(policy())}
                  y: {column: y, on-conflict: \(policy())\(oneOf("", ", merge: add"))}

            """
        return Rules(text: text, joinsGroups: joins)
    }

    private mutating func policy() -> String { Self.policies.randomElement(using: &random) ?? "reject" }

    private mutating func oneOf(_ texts: String...) -> String { texts.randomElement(using: &random) ?? "" }

    // MARK: Records

    /// A record with its rows before the push, and the change that a client wants.
    struct Scene {
        let id: Int
        let sql: String
        /// The sides of the client's groups by group; `bc` is there in both forms.
        let edits: [String: (old: String, new: String)]
        let isDeletion: Bool
        let hashesBase: Bool
        let parts: String

        /// The body of `POST /v1/merge/things` for some rules.
        func body(_ rules: Rules) -> String {
            if isDeletion {
                let old = ["a", "b", "c"].map { #""\#($0)":\#(edits[$0]?.old ?? "null")"# }
                return #"{"id":\#(id),"changeset":{"thing":{"old":{\#(old.joined(separator: ","))},"new":null}}}"#
            }
            var groups: [String] = []
            if let a = edits["a"] {
                let base =
                    hashesBase
                    ? #""oldHash":"sha256:\#(Hex.encode(SHA256.hash(data: Array(a.old.utf8))))""# : #""old":\#(a.old)"#
                groups.append(#""a":{\#(base),"new":\#(a.new)}"#)
            }
            if rules.joinsGroups {
                if let b = edits["b"], let c = edits["c"] {
                    groups.append(
                        #""bc":{"old":{"b":\#(b.old),"c":\#(c.old)},"new":{"b":\#(b.new),"c":\#(c.new)}}"#)
                }
            } else {
                for name in ["b", "c"] {
                    if let edit = edits[name] { groups.append(#""\#(name)":{"old":\#(edit.old),"new":\#(edit.new)}"#) }
                }
            }
            return #"{"id":\#(id),"changeset":{"thing":{\#(groups.joined(separator: ","))},"parts":[\#(parts)]}}"#
        }
    }

    mutating func scene(_ id: Int) -> Scene {
        let isGone = Int.random(in: 0..<8, using: &random) == 0
        let isDeletion = Int.random(in: 0..<6, using: &random) == 0
        let rows = [number(), number(), text(), String(Int.random(in: 0...3, using: &random))]
        var sql =
            isGone ? "" : "INSERT INTO things VALUES (\(id), \(rows.map(Self.literal).joined(separator: ", ")));\n"
        var edits: [String: (old: String, new: String)] = [:]
        if isDeletion || Bool.random(using: &random) { edits["a"] = (number(), number()) }
        if isDeletion || Bool.random(using: &random) {
            edits["b"] = (number(), number())
            edits["c"] = (text(), text())
        }
        var parts: [String] = []
        for part in 0..<(isDeletion ? 0 : Int.random(in: 0...2, using: &random)) {
            let key = id * 10 + part
            if Int.random(in: 0..<4, using: &random) > 0 {
                sql += "INSERT INTO parts VALUES (\(key), \(id), \(number()), \(whole()));\n"
            }
            let (x, y) = ((old: number(), new: number()), (old: whole(), new: whole()))
            parts.append(
                Int.random(in: 0..<4, using: &random) == 0
                    ? #"{"id":\#(key),"old":{"x":\#(x.old),"y":\#(y.old)},"new":null}"#
                    : #"{"id":\#(key),"x":{"old":\#(x.old),"new":\#(x.new)},"y":{"old":\#(y.old),"new":\#(y.new)}}"#)
        }
        return Scene(
            id: id, sql: sql, edits: edits, isDeletion: isDeletion,
            hashesBase: Int.random(in: 0..<5, using: &random) == 0, parts: parts.joined(separator: ","))
    }

    private mutating func whole() -> String { String(Int.random(in: 1...3, using: &random)) }

    private mutating func number() -> String {
        Int.random(in: 0..<9, using: &random) == 0 ? "null" : whole()
    }

    private mutating func text() -> String { "\"" + (Self.texts.randomElement(using: &random) ?? "") + "\"" }

    private static func literal(_ json: String) -> String { json.replacing("\"", with: "'") }
}
