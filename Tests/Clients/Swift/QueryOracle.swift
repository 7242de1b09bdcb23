import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Queries by ranks: each field has a few values in their order, each with spellings that mean the same.
///
/// It reads no value by its type, so it has nothing in common with the evaluator.
enum QueryOracle {
    struct Field: Sendable {
        let path: String
        /// The values in their order.
        ///
        /// The first form of each is that of the gateway.
        let values: [[JSONValue]]
        var isSet = false
        var isText = false

        var isList: Bool { path.hasPrefix("lines.") }
        var section: String { String(path.prefix { $0 != "." }) }
        var name: String { String(path.drop { $0 != "." }.dropFirst()) }

        /// The ranks of the values of a record; -1 is null.
        func ranks(_ record: JSONValue) -> [Int] {
            let rows = isList ? record[section].arrayValue ?? [] : [record[section]]
            return rows.flatMap { row -> [Int] in
                let value = row[name]
                return (isSet ? value.arrayValue ?? [value] : [value]).map { one in
                    if let rank = values.firstIndex(where: { $0.contains(one) }) { return rank }
                    if !one.isNull { Issue.record("\(one) is no value of \(path)") }
                    return -1
                }
            }
        }
    }

    static let fields: [Field] = [
        // By code points. UTF-16 has another order.
        Field(path: "order.title", values: texts.map { [.string($0.0)] }, isText: true),
        Field(path: "order.status", values: [["done"], ["late"], ["open"]], isText: true),
        Field(
            path: "order.amount",
            values: [
                ["-20.00", -20, "-2e1"], ["-2.00", -2], ["0.00", 0, "-0"], ["1.00", "1", 1, "0.1e1"], ["1.10", 1.1],
                ["9.99"], ["10.00", 10, "1e1"],
            ]),
        Field(
            path: "order.serial",
            values: [[-5, "-5"], [7, "7.0"], [9_007_199_254_740_992], ["9007199254740993"], ["9007199254740994"]]),
        Field(path: "order.weight", values: [[-0.5, "-0.50"], [0.1, "1e-1"], [1e21, "1000000000000000000000"]]),
        Field(
            path: "order.planned",
            values: [
                ["2026-11-20T09:59:59.999Z"], ["2026-11-20T10:00:00.000Z", "2026-11-20 11:00:00+01:00"],
                ["2026-11-20T10:00:00.001Z", "2026-11-20T04:30:00.0010-0530"], ["2026-12-01T00:00:00.000Z"],
            ]),
        Field(
            path: "order.scheduled",
            values: [
                ["2025-01-31T23:59:59.000"], ["2026-11-05T00:00:00.000", "2026-11-05", "2026-11-05 00:00:00"],
                ["2026-11-05T00:00:00.500", "2026-11-05T00:00:00.5"],
            ]),
        Field(
            path: "order.opens",
            values: ["-01:00:00", "-00:30:00", "00:00:00", "09:30:00", "100:00:00"].map {
                [.string($0), .string("\($0).000000")]
            }),
        Field(path: "order.paid", values: [[false, 0], [true, 1]]),
        Field(path: "order.tags", values: [["blue"], ["green"], ["red"]], isSet: true),
        Field(path: "lines.article", values: [[5, "5"], [7], [40]]),
        Field(path: "delivery.floor", values: [[-1], [2, "2"], [10]]),
    ]

    /// Texts in the order of code points, and their words.
    static let texts: [(String, [String])] = [
        ("", []), ("STRASSE 5", ["strasse", "5"]), ("Straße", ["strasse"]), ("Zoë 5", ["zoe", "5"]),
        ("a\u{0}b", ["a", "b"]), ("e\u{301}t", ["et"]), ("ét", ["et"]), ("ｚ", ["ｚ"]), ("😀 party", ["party"]),
    ]
    static let searches: [(String, [String])] = [
        ("STR", ["str"]), ("ß", ["ss"]), ("é", ["e"]), ("5 zoe", ["5", "zoe"]), ("b", ["b"]), ("Ｚ", ["ｚ"]), ("-", []),
    ]

    /// A query, and the same by ranks.
    struct Question {
        var query = RecordQuery("orders")
        var tests: [(Field, ([Int]) -> Bool)] = []
        var words: [String] = []
        var order: [(Field, Bool)] = []
        var isIDDown = false

        init(_ dice: inout SeededDice) {
            for _ in 0..<dice.pick([0, 1, 1, 2]) {
                let field = dice.pick(QueryOracle.fields)
                let (condition, test) = Self.condition(on: field, &dice)
                query.conditions.append(condition)
                tests.append((field, test))
            }
            if dice.chance(0.2) {
                let (text, words) = dice.pick(QueryOracle.searches)
                (query.search, self.words) = (text, words)
            }
            let sortable = QueryOracle.fields.filter { !$0.isSet && !$0.isList }
            for _ in 0..<dice.pick([0, 1, 1, 2]) {
                let (field, isDown) = (dice.pick(sortable), dice.chance(0.5))
                query.sort.append((isDown ? "-" : "") + field.path)
                order.append((field, isDown))
            }
            if dice.chance(0.3) {
                isIDDown = true
                query.sort.append("-id")
            }
            if dice.chance(0.7) { query.limit = dice.pick([1, 2, 3, 5, 50]) }
        }

        private static func condition(
            on field: Field, _ dice: inout SeededDice
        ) -> (QueryCondition, ([Int]) -> Bool) {
            func value(_ dice: inout SeededDice) -> (Int, JSONValue) {
                let rank = Int.random(in: 0..<field.values.count, using: &dice)
                return (rank, dice.pick(field.values[rank]))
            }
            let (rank, spelling) = value(&dice)
            switch dice.pick(["equals", "null", "oneOf", "from", "before", "both", "startsWith", "not"]) {
            case "null": return (.equals(field.path, .null), { $0.contains(-1) })
            case "oneOf":
                let (other, second) = value(&dice)
                return (
                    .oneOf(field.path, [spelling, second, .null]), { !Set($0).isDisjoint(with: [rank, other, -1]) }
                )
            case "from": return (.range(field.path, from: spelling), { $0.contains { $0 >= rank } })
            case "before":
                return (.range(field.path, before: spelling), { $0.contains { $0 >= 0 && $0 < rank } })
            case "both":
                let (other, second) = value(&dice)
                return (
                    .range(field.path, from: spelling, before: second), { $0.contains { $0 >= rank && $0 < other } }
                )
            case "startsWith" where field.isText:
                let scalars = (spelling.stringValue ?? "").unicodeScalars.prefix(1)
                let beginning = String(String.UnicodeScalarView(scalars))
                let matching = Set(
                    field.values.indices.filter {
                        field.values[$0][0].stringValue?.unicodeScalars.starts(with: scalars) == true
                    })
                return (.startsWith(field.path, beginning), { !matching.isDisjoint(with: $0) })
            case "not":
                let (inner, test) = condition(on: field, &dice)
                return (.not(inner), { !test($0) })
            default: return (.equals(field.path, spelling), { $0.contains(rank) })
            }
        }

        /// Returns the ids of all records that match, in the order of the query.
        func ids(of records: [Record]) -> [JSONValue] {
            records.map(\.value).filter { record in
                tests.allSatisfy { field, test in test(field.ranks(record)) }
                    && words.allSatisfy { word in
                        let found = texts.first { .string($0.0) == record["order"]["title"] }?.1
                        return found?.contains { $0.hasPrefix(word) } == true
                    }
            }.sorted { one, other in
                for (field, isDown) in order {
                    let (left, right) = (field.ranks(one)[0], field.ranks(other)[0])
                    if left != right { return (left < right) != isDown }
                }
                return JSONValue.precedes(one["id"], other["id"]) != isIDDown
            }.map { $0["id"] }
        }
    }

    /// Returns a record with values at random.
    static func record(_ id: Int, _ dice: inout SeededDice) -> JSONValue {
        var order: JSONValue = ["due": nil, "quantity": nil, "settings": nil, "parent": nil, "modified": nil]
        for field in fields where field.section == "order" { order[field.name] = value(of: field, &dice) }
        let lines = (0..<dice.pick([0, 1, 2])).map { index -> JSONValue in
            [
                "id": .integer(Int128(id * 10 + index)), "article": value(of: fields[10], &dice), "price": nil,
                "note": nil,
            ]
        }
        let delivery: JSONValue = dice.chance(0.5) ? .null : ["street": nil, "floor": value(of: fields[11], &dice)]
        return ["id": .integer(Int128(id)), "order": order, "lines": .array(lines), "delivery": delivery]
    }

    /// Returns a value of a field as the gateway spells it.
    static func value(of field: Field, _ dice: inout SeededDice) -> JSONValue {
        guard !dice.chance(0.2) else { return .null }
        guard field.isSet else { return dice.pick(field.values)[0] }
        return .array(field.values.filter { _ in dice.chance(0.4) }.map { $0[0] })
    }
}
