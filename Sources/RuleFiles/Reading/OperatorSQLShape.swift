/// Checks the form of the operator's SQL, which is put in parentheses and followed by other SQL.
///
/// An unclosed part would include the following SQL, and an extra parenthesis would end the condition early. Then a
/// condition that hides rows may hide none.
enum OperatorSQLShape {
    /// Returns the error in the SQL as the end of a sentence, if any.
    static func fault(in sql: String) -> String? {
        // A backslash escapes a quote in MariaDB, but not in SQLite.
        var fault: String?
        for escapes in [true, false] {
            var scanner = SQLScanner(Array(sql.utf8), escapes: escapes)
            guard let found = scanner.scan() else { return nil }
            fault = fault ?? found
        }
        return fault
    }
}

private struct SQLScanner {
    private let bytes: [UInt8]
    private let escapes: Bool
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8], escapes: Bool) {
        self.bytes = bytes
        self.escapes = escapes
    }

    private func byte(_ offset: Int) -> UInt8? {
        index + offset < bytes.count ? bytes[index + offset] : nil
    }

    mutating func scan() -> String? {
        while let byte = byte(0) {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                guard passQuoted(byte) else { return "has a quote that is not closed" }
                continue
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth < 0 { return "closes a parenthesis that it did not open" }
            case UInt8(ascii: "?"): return "has a bare “?”, a placeholder without a value"
            case UInt8(ascii: ";"): return "has a semicolon, and must not be a statement"
            case UInt8(ascii: "/") where self.byte(1) == UInt8(ascii: "*"):
                if let fault = passComment() { return fault }
                continue
            case UInt8(ascii: "-") where self.byte(1) == UInt8(ascii: "-"), UInt8(ascii: "#"):
                passLine()
                continue
            default: break
            }
            index += 1
        }
        return depth == 0 ? nil : "opens a parenthesis that it does not close"
    }

    /// Skips to the end of quoted text; a doubled quote is part of it.
    private mutating func passQuoted(_ quote: UInt8) -> Bool {
        index += 1
        while let byte = byte(0) {
            if escapes, byte == UInt8(ascii: "\\"), quote != UInt8(ascii: "`") {
                index += 2
                continue
            }
            index += 1
            if byte == quote { return true }
        }
        return false
    }

    private mutating func passComment() -> String? {
        let first = byte(2)
        if first == UInt8(ascii: "!") || (first == UInt8(ascii: "M") && byte(3) == UInt8(ascii: "!")) {
            return "has a comment that some servers run"
        }
        index += 2
        while byte(0) != nil {
            if byte(0) == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
                index += 2
                return nil
            }
            index += 1
        }
        return "has a comment that is not closed"
    }

    private mutating func passLine() {
        while let byte = byte(0), byte != UInt8(ascii: "\n") { index += 1 }
    }
}
