/// The limits of a text column.
package struct TextType: Sendable, Hashable {
    /// CHAR(n) and VARCHAR(n) count characters.
    package let maximumCharacters: Int?
    /// The TEXT types count bytes.
    package let maximumBytes: Int?
    package let repertoire: Repertoire
    /// CHAR: trailing spaces are padding and no part of the value.
    package let isPadded: Bool
    /// SQLite's NUMERIC affinity would store a text that looks like a number as that number.
    package let turnsNumbers: Bool

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

    /// The text as the column would hold it.
    /// - Throws: `ValueProblem` where it is too long or has a character that the column's set lacks.
    package func fitted(_ string: String) throws(ValueProblem) -> ExactText {
        var text = string
        if isPadded, text.utf8.last == UInt8(ascii: " ") {
            var bytes = text.utf8[...]
            while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
            text = String(bytes) ?? text
        }
        if let missing = repertoire.firstMissing(in: text) {
            let code = String(missing.value, radix: 16, uppercase: true)
            throw ValueProblem("has a character that the column's character set cannot hold (U+\(code))")
        }
        if turnsNumbers, Double(text.trimmingASCIISpaces) != nil {
            throw ValueProblem("looks like a number, which the column's affinity would change")
        }
        // Bytes are never fewer than characters, so the count of characters is needed only for long texts.
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
    fileprivate var trimmingASCIISpaces: Substring {
        let isSpace = { (character: Character) in character.isASCII && character.isWhitespace }
        return drop(while: isSpace).reversed().drop(while: isSpace).reversed().reduce(into: Substring()) {
            $0.append($1)
        }
    }
}
