package import MergeCore

/// An action on a journal entry that takes effect at most once.
package enum SingleEffect: Sendable, Hashable {
    /// One outcome of the entry of this number is undone.
    case undo(Int, outcome: Int)
    /// The refused push of this number is sent again.
    case resend(Int)
}

/// Statements for undone and resent entries.
///
/// These records are kept as long as the entry, which is longer than the stored answer.
extension JournalTables {
    private static let resent = "replayed "
    private static let undone = "undone "
    private static let batch = 128

    /// Returns the time of a refused push's successful resend, as SQL; NULL if there is none.
    func replayed(_ number: String) -> String {
        let name = dialect.joined("'\(Self.resent)'", with: number)
        return "(SELECT value FROM \(dialect.quoted(meta)) WHERE name = \(name))"
    }

    /// Returns the statements that record effects; a unique constraint refuses a second time.
    package func mark(_ effects: [SingleEffect]) -> [Statement] {
        stride(from: 0, to: effects.count, by: Self.batch).map { start in
            let some = effects[start..<min(start + Self.batch, effects.count)]
            let rows = repeatElement("(?, \(dialect.nowText))", count: some.count).joined(separator: ", ")
            return Statement(
                sql: "INSERT INTO \(dialect.quoted(meta)) (name, value) VALUES " + rows,
                binds: some.map { Self.bind(Self.mark(of: $0)) })
        }
    }

    private static func mark(of effect: SingleEffect) -> String {
        switch effect {
        case .undo(let number, let outcome): "\(undone)\(number).\(outcome)"
        case .resend(let number): resent + String(number)
        }
    }

    /// Returns the statement that reads the undone outcomes of an entry.
    package func undone(_ number: Int) -> Statement {
        Statement(
            sql: "SELECT name FROM \(dialect.quoted(meta)) WHERE name LIKE ?",
            binds: [Self.bind("\(Self.undone)\(number).%")], columns: [JournalColumn.text])
    }

    /// Decodes a row of `undone` into the position of an outcome.
    package func undoneOutcome(_ row: [Value]) -> Int? {
        guard case .text(let name)? = row.first else { return nil }
        return name.string.split(separator: ".").last.flatMap { Int($0) }
    }

    /// Returns the statement that deletes the effects on deleted entries.
    package func forgetEffects(on numbers: [Int]) -> Statement {
        let marks = repeatElement("?", count: numbers.count).joined(separator: ", ")
        let number = dialect.part(of: "name", from: Self.undone.count + 1, upTo: ".")
        return Statement(
            sql: "DELETE FROM \(dialect.quoted(meta)) WHERE name IN (\(marks)) "
                + "OR (name LIKE '\(Self.undone)%' AND \(number) IN (\(marks)))",
            binds: numbers.map { Self.bind(Self.resent + String($0)) } + numbers.map { Self.bind(String($0)) })
    }

    /// Returns the statement that reads the answer to a push of which only some edits were merged.
    package func partialAnswer(_ number: Int) -> Statement {
        Statement(
            sql: "SELECT answer FROM \(dialect.quoted(entries)) WHERE n = ? AND code = \(Self.partial)",
            binds: [Self.bind(number)], columns: [JournalColumn.bytes])
    }

    /// Decodes a row of `partialAnswer`.
    package func partialAnswer(_ row: [Value]) -> [UInt8]? {
        if case .bytes(let answer)? = row.first { KeptAnswer.split(PackedBytes.unpack(answer)).body } else { nil }
    }
}
