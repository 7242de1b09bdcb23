import MergeCore

extension String {
    /// The text as JSON, which is also a literal of TypeScript.
    var quotedAsJSON: String {
        var bytes: [UInt8] = []
        JSONQuoting.append(self, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with a blank instead of each line break and control character.
    var inOneLine: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory.isPlain ? $0 : " " }))
    }

    /// Returns true if the text contains a word, not as a part of a longer one.
    func containsWord(_ word: String) -> Bool {
        split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { $0 == word }
    }

    /// A literal of Swift or Python with escapes for everything but letters and printable ASCII.
    ///
    /// - Parameter escape: the escape of a character.
    func literal(_ escape: (Unicode.Scalar) -> String) -> String {
        let escaped = unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": String(scalar)
            default: scalar.properties.isAlphabetic ? String(scalar) : escape(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isPlain: Bool {
        switch self {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
