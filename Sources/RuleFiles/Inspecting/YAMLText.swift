/// Spells names so that YAML reads them back as they are, whatever they hold.
enum YAMLText {
    /// Words that YAML 1.1 takes for something else than text.
    private static let words: Set<String> = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]

    /// The text as a scalar: plain where nothing can misread it, else in double quotes.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.unicodeScalars.first.map { isLetter($0) || $0 == "_" } == true
            && text.unicodeScalars.allSatisfy { isLetter($0) || $0 == "_" || $0 == "-" || ("0"..."9").contains($0) }
            && !words.contains(text.lowercased())
        if isPlain { return text }
        return "\"" + text.unicodeScalars.map(escaped).joined() + "\""
    }

    /// A single name by itself, several as a list.
    static func names(_ names: [String]) -> String {
        names.count == 1 ? scalar(names[0]) : "[" + names.map(scalar).joined(separator: ", ") + "]"
    }

    /// Text for a comment: what could end the line, or is not allowed in YAML at all, becomes a space.
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

    /// Characters that may stand in a YAML stream and break no line.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}
