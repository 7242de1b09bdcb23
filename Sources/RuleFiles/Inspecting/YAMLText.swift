/// Writes names so that YAML reads them back unchanged.
enum YAMLText {
    /// Words that YAML 1.1 does not read as text.
    private static let words: Set<String> = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]

    /// Returns the text as a scalar, in double quotes unless it is safe without them.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.unicodeScalars.first.map { isLetter($0) || $0 == "_" } == true
            && text.unicodeScalars.allSatisfy { isLetter($0) || $0 == "_" || $0 == "-" || ("0"..."9").contains($0) }
            && !words.contains(text.lowercased())
        if isPlain { return text }
        return "\"" + text.unicodeScalars.map(escaped).joined() + "\""
    }

    /// Returns a single name as a scalar, several names as a list.
    static func names(_ names: [String]) -> String {
        names.count == 1 ? scalar(names[0]) : "[" + names.map(scalar).joined(separator: ", ") + "]"
    }

    /// Returns a comment, with spaces for line breaks and for characters that YAML forbids.
    static func comment(_ text: String) -> String {
        "# " + String(String.UnicodeScalarView(text.unicodeScalars.map { isPrintable($0) ? $0 : " " }))
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        if isPrintable(scalar) { return String(Character(scalar)) }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let width = scalar.value > 0xFFFF ? 8 : 4
        return (width == 8 ? "\\U" : "\\u") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Returns true for characters that YAML allows and that break no line.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}
