/// Finds the CHECK constraints in the definition of a table.
///
/// SQLite stores them only as text, and MariaDB hides them in information_schema from a user with few rights.
package struct CheckScanner {
    /// The conditions of the checks by name.
    package let checks: [String: String]
    /// The conditions of checks without a name, such as `(json_valid(`doc`))`.
    package let unnamed: [String]

    /// Reads the text of a CREATE TABLE.
    package init(_ definition: String) {
        let tokens = Self.tokens(definition)
        var checks: [String: String] = [:]
        var unnamed: [String] = []
        for index in tokens.indices.dropFirst() where tokens[index].hasPrefix("(") {
            if index >= 3, tokens[index - 3].uppercased() == "CONSTRAINT" {
                checks[Self.unquoted(tokens[index - 2])] = tokens[index]
            } else {
                unnamed.append(tokens[index])
            }
        }
        self.checks = checks
        self.unnamed = unnamed
    }

    /// Returns words, quoted names and strings, and complete parentheses after CHECK.
    private static func tokens(_ text: String) -> [String] {
        var tokens: [String] = []
        var rest = Substring(text)
        while let first = rest.first {
            if first == "(", tokens.last?.uppercased() == "CHECK" {
                let end = closing(rest)
                tokens.append(String(rest[..<end]))
                rest = rest[end...]
            } else if let close = quotes[first] {
                let end = rest.dropFirst().firstIndex(of: close).map { rest.index(after: $0) } ?? rest.endIndex
                tokens.append(String(rest[..<end]))
                rest = rest[end...]
            } else if isWord(first) {
                let word = rest.prefix(while: isWord)
                tokens.append(String(word))
                rest = rest[word.endIndex...]
            } else {
                rest = rest.dropFirst()
            }
        }
        return tokens
    }

    private static let quotes: [Character: Character] = ["\"": "\"", "'": "'", "`": "`", "[": "]"]

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    /// Returns the index after the parenthesis that closes the first one.
    private static func closing(_ text: Substring) -> Substring.Index {
        var depth = 0
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if let close = quotes[character] {
                quote = close
            } else if character == "(" {
                depth += 1
            } else if character == ")" {
                depth -= 1
                if depth == 0 { return text.index(after: index) }
            }
        }
        return text.endIndex
    }

    private static func unquoted(_ name: String) -> String {
        guard let first = name.first, quotes[first] != nil, name.count >= 2 else { return name }
        return String(name.dropFirst().dropLast())
    }
}
