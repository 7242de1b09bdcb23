import MergeCore
import TestSupport

/// Changes JSON a little: mostly into other JSON of nearly the same shape, now and then into something else.
struct Mutator {
    /// Names that have a meaning in these pushes.
    let names: [String]

    private static let odd = [
        "null", "true", "false", "0", "-1", "-3", "1e400", "1E-400", "9223372036854775808", "-9223372036854775808",
        "1.0",
        "123456789012345678901234567890", "0.1234567890123456789", "\"\"", "\"tmp:a\"", "\"tmp:\"", "\"-3\"", "\"x\"",
        "\"\\u0000\"", "\"\\ud800\"", "\"e\u{301}\"", "\"\u{E9}\"", "\"\u{301}\u{316}\u{301}\u{316}\"", "{}", "[]",
        "[[]]", "{\"old\":1}",
        "\"sha256:00\"", "{\"old\":null,\"new\":{}}", "\"2026-02-30\"", "\"\\n a  b\\r\\n\"",
    ]

    /// Returns JSON that differs in a few places.
    func mutated(_ tree: JSONTree, _ random: inout SeededRandom) -> [UInt8] {
        var text = tree.text
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            guard let parsed = JSONParser.parse(text) else { break }
            text = changed(parsed, &random, depth: 0)
        }
        var bytes = Array(text.utf8)
        if Int.random(in: 0..<12, using: &random) == 0 { scramble(&bytes, &random) }
        return bytes
    }

    /// Goes down to some place and writes something else there.
    private func changed(_ tree: JSONTree, _ random: inout SeededRandom, depth: Int) -> String {
        let stops = Int.random(in: 0..<5, using: &random) == 0 && depth > 0
        switch tree {
        case .object(let members) where !stops && !members.list.isEmpty:
            let place = Int.random(in: 0..<members.list.count, using: &random)
            var parts: [String] = []
            for (index, member) in members.list.enumerated() {
                var name = JSONTree.text(member.name).text
                var value = member.value.text
                if index == place {
                    switch Int.random(in: 0..<12, using: &random) {
                    case 0: continue
                    case 1: name = JSONTree.text(ExactText(names.randomElement(using: &random) ?? "")).text
                    case 2: parts.append("\(name):\(value)")
                    case 3: parts.append("\"more\":1")
                    default: value = changed(member.value, &random, depth: depth + 1)
                    }
                }
                parts.append("\(name):\(value)")
            }
            return "{" + parts.joined(separator: ",") + "}"
        case .array(let elements) where !stops && !elements.isEmpty:
            let place = Int.random(in: 0..<elements.count, using: &random)
            var parts = elements.map(\.text)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: parts.remove(at: place)
            case 1: parts.insert(parts[place], at: place)
            case 2: parts.swapAt(place, 0)
            default: parts[place] = changed(elements[place], &random, depth: depth + 1)
            }
            return "[" + parts.joined(separator: ",") + "]"
        default: return odd(tree, &random)
        }
    }

    private func odd(_ tree: JSONTree, _ random: inout SeededRandom) -> String {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return String(repeating: "[", count: 40) + tree.text + String(repeating: "]", count: 40)
        case 1:
            guard case .text(let text) = tree else { break }
            return JSONTree.text(ExactText(text.string + " and more\n" + text.string)).text
        case 2:
            guard case .integer(let number) = tree else { break }
            return "\(number &+ Int128(Int.random(in: -3...3, using: &random)))"
        default: break
        }
        return Self.odd.randomElement(using: &random) ?? "null"
    }

    private func scramble(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            case 3: bytes.removeSubrange(place...)
            default: bytes.insert(contentsOf: bytes[place..<min(place + 20, bytes.count)], at: place)
            }
        }
    }
}
