/// The limits of a text column.
package struct TextType: Sendable, Hashable {
    /// The limit of CHAR(n) and VARCHAR(n), in characters.
    package let maximumCharacters: Int?
    /// The limit of the TEXT types, in bytes.
    package let maximumBytes: Int?
    /// The column's character set.
    package let repertoire: Repertoire
    /// True for CHAR, whose trailing spaces are padding and not part of the value.
    package let isPadded: Bool
    /// True if SQLite's NUMERIC affinity would turn a text that looks like a number into a number.
    package let turnsNumbers: Bool

    /// Creates the limits of a column.
    package init(
        maximumCharacters: Int? = nil, maximumBytes: Int? = nil, repertoire: Repertoire = .unicode,
        isPadded: Bool = false, turnsNumbers: Bool = false
    ) {
        self.maximumCharacters = maximumCharacters
        self.maximumBytes = maximumBytes
        self.repertoire = repertoire
        self.isPadded = isPadded
        self.turnsNumbers = turnsNumbers
    }

    /// Returns the text as the column would store it.
    ///
    /// - Parameter isJSON: True if the text is JSON, so that a number is as good as its text.
    /// - Throws: `ValueProblem` if the text is too long or has a character that the character set lacks.
    package func fitted(_ string: String, isJSON: Bool = false) throws(ValueProblem) -> ExactText {
        var text = string
        if isPadded, text.utf8.last == UInt8(ascii: " ") {
            var bytes = text.utf8[...]
            while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
            text = String(bytes) ?? text
        }
        if let missing = repertoire.firstMissing(in: text) {
            let code = String(missing.value, radix: 16, uppercase: true)
            throw ValueProblem("has a character that the column's character set cannot store (U+\(code))")
        }
        if turnsNumbers, !isJSON, text.isNumberToSQLite {
            throw ValueProblem("is like a number, which the column's affinity would change")
        }
        // A text never has fewer bytes than characters, so short texts need no count of characters.
        if let limit = maximumCharacters, text.utf8.count > limit, text.unicodeScalars.count > limit {
            throw ValueProblem("is longer than the column's \(limit) characters")
        }
        if let limit = maximumBytes, repertoire.byteCount(text) > limit {
            throw ValueProblem("is longer than the column's \(limit) bytes")
        }
        return ExactText(text)
    }
}

extension String {
    /// True if NUMERIC affinity would turn the text into a number: a decimal number with optional white space around it
    /// (https://www.sqlite.org/datatype3.html section 3).
    fileprivate var isNumberToSQLite: Bool {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        var rest = utf8.drop(while: isSpace)
        func sign() { if let first = rest.first, first == 0x2B || first == 0x2D { rest = rest.dropFirst() } }
        func digits() -> Int {
            let run = rest.prefix(while: isDigit)
            rest = rest[run.endIndex...]
            return run.count
        }
        sign()
        var count = digits()
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            count += digits()
        }
        guard count > 0 else { return false }
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            sign()
            guard digits() > 0 else { return false }
        }
        return rest.allSatisfy(isSpace)
    }
}
