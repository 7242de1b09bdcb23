import MergeCore
import TestSupport

/// Valid and invalid values of clients as JSON: the limits of each type and values near them.
struct WireValues {
    private var random: SeededRandom

    init(seed: Int) {
        random = SeededRandom(seed: seed)
    }

    /// - Parameters:
    ///   - type: the type's name in `GET /v1/rules`.
    ///   - declaration: the column as it was declared, for its length and its members.
    mutating func value(_ type: String, _ declaration: String) -> String {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: return "null"
        case 1: return any()
        default: break
        }
        let isFew = !declaration.contains("(")
        let size = isFew ? 5 : number(in: declaration)
        switch type {
        case "integer", "bit", "year", "decimal", "float", "double": return number()
        case "boolean": return one(["true", "false", "0", "1", "1.0", "-0", "2", "\"1\"", "0e5", "1e-999"])
        case "enum":
            return one([quoted(one(members(declaration))), quoted(one(members(declaration)).uppercased()), text(size)])
        case "set": return set(members(declaration), size)
        case "date": return quoted(date())
        case "datetime": return quoted(moment())
        case "timestamp": return quoted(moment() + one(["Z", "Z", "Z", "+00:00", "+02:00", "-11:30", ""]))
        case "time": return quoted(time())
        case "binary": return quoted(base64(size))
        case "uuid": return quoted(uuid())
        case "inet4": return quoted(address4())
        case "inet6": return quoted(address6())
        case "json": return json(depth: 3)
        default: return text(size)
        }
    }

    /// One of several texts.
    mutating func any(of texts: [ExactText]) -> ExactText { one(texts) }

    private mutating func one<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func digits(_ count: Int) -> String {
        String((0..<count).map { _ in one(Array("0123456789")) })
    }

    private func number(in declaration: String) -> Int {
        Int(declaration.drop { !$0.isNumber || $0 == "_" }.prefix { $0.isNumber }) ?? 5
    }

    private func quoted(_ text: String) -> String { JSON(text: text).description }

    private mutating func any() -> String {
        one([
            "true", "7", "-1.5", "\"x\"", "[]", "{}", "[\"a\"]", "{\"a\":1}", "\"\"", "[null]", "1e999",
            "\"2026-11-20\"",
        ])
    }

    // MARK: Numbers

    private static let edges = [
        "0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "511", "512", "32767", "-32769", "65535",
        "8388607", "8388608", "16777215", "16777216", "16777217", "2147483647", "2147483648", "-2147483648",
        "4294967295", "4294967296", "9007199254740991", "9007199254740992", "9007199254740993",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "1901", "2155", "1900", "70", "1e3", "1E+2", "10e-1", "5.0",
        "1.50", "-0.0", "-0e5", "0e-99999", "1e-999", "-1e-9999", "1e999", "-1e9999", "1e99999999999999999999",
        "1e-99999999999999999999", "1.000000000000000005", "0.1", "0.3", "0.30000000000000004", "1e-7",
        "123456789012345678", "0.1234567890123456789", "4.9e-324", "5e-324", "2e-324", "2.2250738585072014e-308",
        "2.225073858507201e-308", "1.7976931348623157e308", "1.7976931348623159e308", "3.4028235e38", "3.4028236e38",
        "1.4e-45", "1e-45", "1.17549435e-38", "1e21", "1e22", "123456789012345680000", "12345678901234567890.5",
        "9007199254740993.5", "18446744073709551615.4", "9223372036854775807.5", "-9223372036854775808.5", "1e-6",
        "99999999.99", "-99999999.99", "100000000", "0.005", "1e-38", "12.345", "2e0", "9.3e18", "1e19",
        "5e17", "99999.99", "1.89", "0.57", "1.005",
    ]

    private mutating func number() -> String {
        let plain: String
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2: plain = one(Self.edges)
        case 3: plain = String(Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<63, using: &random))
        case 4:
            let double = Double(bitPattern: random.next())
            plain = double.isFinite ? "\(double)" : "1e308"
        case 5:
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            plain = float.isFinite ? "\(float)" : "1e38"
        case 6:
            plain =
                one(["", "-"]) + one(["0", "1", "12", "987654"]) + "." + digits(Int.random(in: 1...3, using: &random))
        default:
            plain =
                one(["", "-"]) + "7" + digits(Int.random(in: 0...40, using: &random)) + "."
                + digits(Int.random(in: 1...40, using: &random))
                + one(["", "", "e5", "E-20", "e+300", "e-340", "e-\(digits(4))"])
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1, 2: return quoted(plain)
        case 3:
            return quoted(
                one(["+1", " 1", "1 ", "0x10", "١", "1_000", "", "NaN", "Infinity", "-", ".5", "5.", "01", "1e"]))
        default: return plain
        }
    }

    // MARK: Texts

    private static let texts = [
        "", " ", "a ", " a", "a\t", "\t", "joe", "Joe", "JOE", "é", "e\u{301}", "ß", "€", "ł", "ž", "漢", "😀", "👩‍👩‍👧‍👦",
        "\u{0}", "a\u{0}b", "a\u{0}", "\u{1F}", "\u{7F}", "\u{81}", "\u{8D}", "\u{9F}", "\u{A0}", "\u{FFFD}",
        "\u{FEFF}a", "\u{FFFF}",
        "\u{10FFFF}", "\u{2028}", "?", "null", "it's", "\"", "\\", "\\u0041", "%_", "a\nb", "a\r\nb", "'; --", "007",
        "1e5", "0x1F",
        "0x1p3", "inf", "nan", "infinity", "1.", ".5", "+5", " 5 ", "5\n", "\u{B}5", "1e999", "-", "1e", "5\u{0}",
        "2026-11-20", "{\"a\":1}", "[1]", "\"x\"", "true", "1.50", "tmp", "a,b", ",", "a|b", "a||b",
    ]

    private mutating func plainText(_ size: Int) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1: return one(Self.texts)
        case 2:
            let length = max(0, min(size, 300) + Int.random(in: -1...1, using: &random))
            return String(repeating: one(["x", "é", "😀", " ", "e\u{301}"]), count: length)
        default: return one(Self.texts) + one(Self.texts)
        }
    }

    private mutating func text(_ size: Int) -> String { quoted(plainText(size)) }

    private func members(_ declaration: String) -> [String] {
        guard declaration.hasPrefix("ENUM") || declaration.hasPrefix("SET"), let open = declaration.firstIndex(of: "(")
        else { return ["a", "b", "c", "x y", "é", "|", "a|", "|a", ",", "5"] }
        return declaration[declaration.index(after: open)...].dropLast().split(separator: ",").map {
            String($0.drop { $0 == " " }.dropFirst().dropLast()).replacing("''", with: "'")
        }
    }

    private mutating func set(_ members: [String], _ size: Int) -> String {
        let count = Int.random(in: 0...4, using: &random)
        let chosen = (0..<count).map { _ in one(members) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return quoted(chosen.joined(separator: ","))
        case 1: return text(size)
        case 2: return "[" + (chosen + [plainText(size)]).map(quoted).joined(separator: ",") + "]"
        default: return "[" + chosen.map(quoted).joined(separator: ",") + "]"
        }
    }

    // MARK: Dates and times

    private mutating func date() -> String {
        one([
            "2026-11-20", "0000-00-00", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0001-01-01",
            "0000-01-01", "0000-02-29", "0099-12-31", "0999-01-01", "1582-10-10", "9999-12-31", "10000-01-01",
            "2020-00-00", "2020-05-00", "2026-1-1", "1970-01-01", "2038-01-19", "2038-01-20", "2106-02-07", "20261120",
            "",
            "\(digits(4))-\(one(["01", "06", "12", "13"]))-\(one(["01", "15", "28", "31"]))",
        ])
    }

    private mutating func fraction() -> String {
        one([
            "", "", ".0", ".5", ".25", ".999", ".999999", ".000001", ".1234567", ".1234560", ".", ".123456789",
            ".000000000",
        ])
    }

    private mutating func moment() -> String {
        date() + one(["T", "T", " ", "t", ""])
            + one([
                "00:00:00", "23:59:59", "10:00:00", "03:14:07", "03:14:08", "00:00:01", "24:00:00", "23:59:60", "10:00",
            ])
            + fraction()
    }

    private mutating func time() -> String {
        one(["", "", "-"])
            + one([
                "10:00:00", "00:00:00", "838:59:59", "839:00:00", "99:59:59", "100:00:00", "23:59:60", "1:00:00",
                "10:00",
                "0838:59:59", "012:00:00", "12:34:56",
            ]) + fraction()
    }

    // MARK: Bytes and addresses

    private mutating func base64(_ size: Int) -> String {
        let count = one([0, 1, 2, 3, size - 1, size, size + 1, 30])
        let bytes = (0..<max(0, count)).map { _ in one([0, 0xFF, UInt8(truncatingIfNeeded: random.next())]) }
        let text = String(decoding: Base64.encode(bytes), as: UTF8.self)
        return one([text, text, text, text, text + "=", "AQI", "AR==", "*", " AQI=", "AQI=\n"])
    }

    private mutating func uuid() -> String {
        let hex = String((0..<32).map { _ in one(Array("0123456789abcdefABCDEF")) })
        let parts = [
            hex.prefix(8), hex.dropFirst(8).prefix(4), hex.dropFirst(12).prefix(4), hex.dropFirst(16).prefix(4),
        ]
        let dashed = (parts + [hex.dropFirst(20)]).joined(separator: "-")
        return one([
            dashed, dashed, hex, dashed + "0", "{" + dashed + "}", "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ])
    }

    private mutating func address4() -> String {
        let parts = (0..<4).map { _ in one(["0", "1", "255", "10", "256", "01", "127"]) }
        return one([parts.joined(separator: "."), "192.0.2.1", "1.2.3", "1.2.3.4 ", "0.0.0.0"])
    }

    private mutating func address6() -> String {
        let groups = (0..<8).map { _ in one(["0", "1", "ffff", "0DB8", "00a", "0"]) }
        let cut = Int.random(in: 0...7, using: &random)
        return one([
            groups.joined(separator: ":"),
            groups.prefix(cut).joined(separator: ":") + "::" + groups.suffix(max(0, 6 - cut)).joined(separator: ":"),
            groups.prefix(cut).joined(separator: ":") + "::" + groups.suffix(7 - cut).joined(separator: ":"),
            "::", "::1", "1::", "::ffff:192.0.2.1", "::1.2.3.4", "64:ff9b::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", ":::",
            "12345::",
            "fe80::1%1", "::FFFF:1.2.3.256",
        ])
    }

    // MARK: JSON

    private mutating func json(depth: Int) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return one(["true", "false", "null"])
        case 1: return text(9)
        case 2, 3, 4: return jsonNumber()
        case 5 where depth > 0, 6 where depth > 0:
            return "["
                + (0..<Int.random(in: 0...4, using: &random)).map { _ in json(depth: depth - 1) }
                .joined(separator: ",") + "]"
        case 7 where depth > 0, 8 where depth > 0:
            var members: [String] = []
            for name in Set((0..<3).map { _ in one(["a", "b", "", "é", "e\u{301}", "a b", "\"", "𐐷", "\u{E000}"]) })
                .sorted()
            {
                members.append(quoted(name) + ": " + json(depth: depth - 1))
            }
            return "{ " + members.joined(separator: " ,") + "}"
        case 9 where depth == 3:
            let count = one([5, 20, 25])
            return String(repeating: "[", count: count) + jsonNumber() + String(repeating: "]", count: count)
        default: return "[]"
        }
    }

    private mutating func jsonNumber() -> String {
        while true {
            let number = number()
            if !number.hasPrefix("\"") { return number }
        }
    }
}
