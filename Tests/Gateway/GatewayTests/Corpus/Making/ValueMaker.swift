import MergeCore
import TestSupport

/// Makes values as clients send them: mostly changes of their copies, rarely values that do not fit the column.
struct ValueMaker: Sendable {
    private static let words = [
        "a", "b", "x", "one", "two", "Zoë", "new", "open", "closed", "", "two words", "it's", "😀", "say \"hi\"", "c\td",
        "untidy", "grown", "seed",
    ]
    private static let emails = ["ann@x", "bob@x", "cy@x", "dee@x", "fay@x", "new1@x", "new2@x", "new3@x", "ANN@x"]
    private static let codes = ["AB", "ab", "cd", "CD", "ef", "a", "b", "c", "zz"]
    private static let times = [
        "2026-01-01T09:00:00", "2026-01-02T10:00:00", "2026-03-01T00:00:00", "2026-05-06 07:08:09",
        "2030-12-31T23:59:59",
    ]
    private static let others: [String: [String]] = [
        "boolean": ["true", "false", "0", "1", "true", "false"],
        "date": [#""2026-01-05""#, #""2026-02-28""#, #""1999-12-31""#, #""2026-02-30""#, #""2026-04-01""#],
        "time": [#""10:00:00""#, #""-838:59:59""#, #""00:00:01""#, #""839:00:00""#],
        "timestamp": [
            #""2026-01-01T10:00:00Z""#, #""2026-07-01T13:00:00+02:00""#, #""2037-01-01T00:00:00Z""#,
            #""2026-07-01T10:00:00""#,
        ],
        "year": ["1999", "2026", "2155", "1900"],
        "float": ["0.1", "3.3", "16777216", "16777217", "-2.5", "0"],
        "double": ["0.1", "1e300", "-2.5", "\"0.25\"", "1e-5", "0"],
        "binary": [#""AQI=""#, #""""#, #""AP8=""#, #""not base64""#],
        "uuid": [#""123e4567e89b12d3a456426655440001""#, #""123e4567-e89b-12d3-a456-426655440000""#],
        "inet6": [#""2001:db8::2""#, #""::ffff:192.0.2.1""#, #""::1""#],
    ]
    private static let misfits = [
        "true", "[1]", "{}", #""x""#, "12345678901234567890123", "1.5", #""\#(String(repeating: "long ", count: 60))""#,
        "{\"a\":{\"a\":1}}", "-1", "1e400", #""2026-13-01""#, "null",
    ]

    /// - Parameter base: the client's value; nil if it has none.
    /// - Returns: a value as JSON.
    static func value(
        _ field: FieldShape, merge: String?, base: JSON?, ids: (String) -> [String], _ dice: inout Dice
    ) -> String {
        if dice.chance(2) { return dice.pick(misfits) }
        if field.isNullable, dice.chance(6) { return "null" }
        if let resource = field.references {
            let known = ids(resource)
            return known.isEmpty || dice.chance(10) ? dice.pick(["77", "null", #""tmp:nobody""#]) : dice.pick(known)
        }
        switch field.type {
        case "integer", "bit": return integer(field, base, &dice)
        case "decimal": return decimal(field, base, &dice)
        case "text", "enum": return text(field, merge, base, &dice)
        case "set": return set(field.members.isEmpty ? ["a", "b", "c", "red", "blue"] : field.members, base, &dice)
        case "json": return merge == "set" ? set(["a", "b", "z", "q"], base, &dice) : json(base, &dice)
        case "datetime": return JSON(text: dice.pick(times)).description
        default: return dice.pick(others[field.type] ?? ["null"])
        }
    }

    private static func integer(_ field: FieldShape, _ base: JSON?, _ dice: inout Dice) -> String {
        if field.name == "score", dice.chance(12) { return dice.pick(["150", "-2000", "-7", "99"]) }
        if let base = base?.int { return String(base + dice.pick([1, 1, 2, 3, -1, -4, 10, 25])) }
        return String(dice.number(0...30))
    }

    private static func decimal(_ field: FieldShape, _ base: JSON?, _ dice: inout Dice) -> String {
        let digits = base?.text.map { $0.replacing(".", with: "") }
        let held = digits.flatMap { Int($0) } ?? dice.number(0...4_000)
        let value = held + dice.pick([1, 25, 100, -50, 333, -1_000])
        let scale = Array(repeating: 10, count: field.scale).reduce(1, *)
        let rest = String(abs(value) % scale + scale).dropFirst()
        let text = (value < 0 ? "-" : "") + "\(abs(value) / scale).\(rest)"
        return dice.chance(25) ? text : "\"\(text)\""
    }

    private static func text(
        _ field: FieldShape, _ merge: String?, _ base: JSON?, _ dice: inout Dice
    ) -> String {
        if merge == "text" { return JSON(text: prose(base?.text ?? "one two\nthree", &dice)).description }
        if field.name == "name", dice.chance(5) { return #""forbidden""# }
        let pool =
            switch field.name {
            case "email": emails
            case "code", "label": codes
            default: field.members.isEmpty ? words : field.members + ["none of them"]
            }
        return JSON(text: dice.pick(pool)).description
    }

    /// A text with a word or a line more, less or changed.
    private static func prose(_ text: String, _ dice: inout Dice) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let index = dice.number(0...max(lines.count - 1, 0))
        switch dice.number(1...5) {
        case 1: lines.append(dice.pick(["a new line", "last words"]))
        case 2 where lines.count > 1: lines.remove(at: index)
        case 3: lines.insert(dice.pick(["between", "above"]), at: index)
        default:
            var parts = (lines.isEmpty ? "" : lines[index]).split(separator: " ").map(String.init)
            if parts.isEmpty { parts = ["word"] }
            parts[dice.number(0...parts.count - 1)] = dice.pick(["uno", "due", "tre", "quattro"])
            if dice.chance(30) { parts.append("more") }
            if lines.isEmpty { lines = [""] }
            lines[index] = parts.joined(separator: " ")
        }
        return lines.joined(separator: "\n")
    }

    /// An array with an element more or less.
    private static func set(_ pool: [String], _ base: JSON?, _ dice: inout Dice) -> String {
        var members = (base?.array ?? []).compactMap(\.text)
        if !members.isEmpty, dice.chance(50) { members.remove(at: dice.number(0...members.count - 1)) }
        let more = dice.pick(pool + ["new"])
        if dice.chance(70), !members.contains(more) { members.append(more) }
        if dice.chance(4), !members.isEmpty { members.append(members[0]) }
        if dice.chance(6) { return JSON(text: members.joined(separator: ",")).description }
        return "[" + members.map { JSON(text: $0).description }.joined(separator: ",") + "]"
    }

    private static func json(_ base: JSON?, _ dice: inout Dice) -> String {
        guard let base, !base.object.isEmpty else {
            return dice.pick([#"{"a":1}"#, #"{"a":2,"b":[1]}"#, "[1,2,4]", "[3]", "1.5", "null", #""text""#, "{}"])
        }
        var members = base.object.mapValues(\.description)
        let name = dice.pick(members.keys.sorted() + ["new", "a"])
        let inner = dice.pick([#"{"c":3}"#, "7", "null", #""y""#, "[1,2,3]", #"[{"id":1,"n":5},{"id":3,"n":0}]"#])
        members[name] = dice.chance(25) ? nil : inner
        let parts = members.sorted { $0.key < $1.key }.map { "\(JSON(text: $0.key)):\($0.value)" }
        return "{" + parts.joined(separator: ",") + "}"
    }
}
