import Foundation

/// The words of texts, for search: runs of letters and digits without case and accents.
enum SearchWords {
    /// Returns the words of a text, in UTF-8.
    static func words(of text: String) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var word: [UInt8] = []
        func endWord() {
            if !word.isEmpty { words.append(word) }
            word = []
        }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            for byte in text.utf8 {
                switch byte {
                case 0x30...0x39, 0x61...0x7A: word.append(byte)
                case 0x41...0x5A: word.append(byte + 0x20)
                default: endWord()
                }
            }
        } else {
            for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars where !isMark(scalar) {
                for folded in scalar.properties.lowercaseMapping.unicodeScalars where !isMark(folded) {
                    switch folded {
                    case "ß": word += "ss".utf8
                    case "ς": word += "σ".utf8
                    case _ where isLetterOrDigit(folded): word += Array(UTF8.encode(folded) ?? .init())
                    default: endWord()
                    }
                }
            }
        }
        endWord()
        return words
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}
