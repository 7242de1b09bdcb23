import MergeCore
import RecordStore

/// The meaning of a statement in the log (QUERY_EVENT).
enum BinlogQuery: Sendable, Hashable {
    case begin
    case commit
    case rollback
    /// The end of a prepared transaction; the id is nil if it cannot be read.
    case xaCommit(BinlogXID?)
    case xaRollback(BinlogXID?)
    /// A change of definitions, or TRUNCATE, which may concern each table that the text names.
    case definition(schema: String, text: String)
    /// A statement without an effect on rows, such as SAVEPOINT or GRANT.
    case ignored
    /// A statement that may have changed any row.
    case statement

    /// Decodes the event after its common header.
    init(_ reader: inout PackedReader, headerLength: Int, isCompressed: Bool) throws(BinlogFault) {
        guard headerLength >= 11 else { throw .unsupported }
        _ = try reader.take(8)
        let schemaLength = try reader.littleEndian(1)
        _ = try reader.take(2)
        let statusLength = headerLength >= 13 ? try reader.littleEndian(2) : 0
        _ = try reader.take(max(0, headerLength - 13))
        _ = try reader.take(statusLength)
        let schema = String(decoding: try reader.take(schemaLength), as: UTF8.self)
        _ = try reader.take(1)
        let text = isCompressed ? try BinlogInflation.inflate(&reader) : Array(try reader.rest())
        self.init(schema: schema, text: String(decoding: text, as: UTF8.self))
    }

    init(schema: String, text: String) {
        let statement = StatementWords(text)
        switch statement.words(2).map({ $0.uppercased() }).first2 {
        case ("BEGIN", _), ("START", "TRANSACTION"): self = .begin
        case ("COMMIT", _): self = .commit
        case ("ROLLBACK", let second):
            let isPartial = second == "TO" || second == "WORK" && statement.words(3).last?.uppercased() == "TO"
            self = isPartial ? .ignored : .rollback
        case ("XA", "COMMIT"): self = .xaCommit(BinlogXID(statement.rest(after: 2)))
        case ("XA", "ROLLBACK"): self = .xaRollback(BinlogXID(statement.rest(after: 2)))
        case ("XA", _), ("SAVEPOINT", _), ("RELEASE", "SAVEPOINT"), ("GRANT", _), ("REVOKE", _), ("FLUSH", _),
            ("SET", "PASSWORD"), ("SET", "DEFAULT"):
            self = .ignored
        case ("CREATE", _), ("ALTER", _), ("DROP", _), ("TRUNCATE", _), ("RENAME", _), ("OPTIMIZE", "TABLE"),
            ("ANALYZE", "TABLE"), ("REPAIR", "TABLE"), ("CHECK", "TABLE"):
            self = .definition(schema: schema, text: text)
        default: self = .statement
        }
    }
}

extension [String] {
    fileprivate var first2: (String, String) { (first ?? "", count > 1 ? self[1] : "") }
}

/// The first words of a statement, without comments.
private struct StatementWords {
    private let text: Substring

    init(_ text: String) { self.text = Self.withoutComments(text[...]) }

    /// Returns the first words, which consist of letters.
    func words(_ most: Int) -> [Substring] {
        var words: [Substring] = []
        var rest = text
        while words.count < most {
            let word = rest.prefix { $0.isASCII && $0.isLetter }
            guard !word.isEmpty else { break }
            words.append(word)
            rest = Self.withoutComments(rest[word.endIndex...])
        }
        return words
    }

    func rest(after count: Int) -> Substring {
        guard let last = words(count).last else { return "" }
        return Self.withoutComments(text[last.endIndex...])
    }

    /// Skips spaces and comments, and enters the conditional comments of the server.
    private static func withoutComments(_ text: Substring) -> Substring {
        var rest = text.drop { $0.isWhitespace }
        while true {
            if rest.hasPrefix("/*!") || rest.hasPrefix("/*M!") {
                rest = rest.drop { $0 != "!" }.dropFirst().drop { $0.isNumber }
            } else if rest.hasPrefix("/*") {
                guard let end = rest.firstRange(of: "*/") else { return "" }
                rest = rest[end.upperBound...]
            } else if rest.hasPrefix("#") || rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else {
                return rest
            }
            rest = rest.drop { $0.isWhitespace }
        }
    }
}

extension WatchedTable {
    /// Returns true if a change of definitions may concern this table: its text contains the table's name.
    ///
    /// Longer names and texts that contain the name count too, which costs a needless pass.
    func isNamed(in text: String) -> Bool {
        let words = text.lowercased()
        let names = [name.name] + (words.contains("database") || words.contains("schema") ? [name.schema ?? ""] : [])
        return names.contains { name in
            words.contains(name.lowercased()) || words.contains(name.lowercased().replacing("`", with: "``"))
        }
    }
}
