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
    private static let dropped = "dropped "
    private static let batch = 128

    /// Returns the time of a refused push's successful resend, as SQL; NULL if there is none.
    func replayed(_ number: String) -> String {
        let name = dialect.joined("'\(Self.resent)'", with: number)
        return "(SELECT value FROM \(dialect.quoted(meta)) WHERE name = \(name))"
    }

    /// The condition of a refused push that no operator has dropped.
    func isNotDropped(_ number: String) -> String {
        let name = dialect.joined("'\(Self.resent)'", with: number)
        return "NOT EXISTS (SELECT 1 FROM \(dialect.quoted(meta)) WHERE name = \(name) "
            + "AND value LIKE '\(Self.dropped)%')"
    }

    /// Returns the statement that settles a refused push without a resend; it changes no row if the push is gone.
    ///
    /// It has the mark of a resend, so that a unique constraint admits only one of both.
    package func drop(_ number: Int, by who: String) -> Statement {
        let time = dialect.joined("'\(Self.dropped)'", with: dialect.nowText)
        let value = dialect.joined(dialect.joined(time, with: "' '"), with: "?")
        return Statement(
            sql: "INSERT INTO \(dialect.quoted(meta)) (name, value) SELECT ?, \(value) "
                + "FROM \(dialect.quoted(entries)) WHERE n = ? AND body IS NOT NULL",
            binds: [Self.bind(Self.mark(of: .resend(number))), Self.bind(Self.short(who)), Self.bind(number)])
    }

    /// The value of a mark has 255 characters at most.
    private static func short(_ who: String) -> String { String(who.prefix(200)) }

    /// Returns the statement that reads how a refused push was settled.
    package func settlement(of number: Int) -> Statement {
        Statement(
            sql: "SELECT value FROM \(dialect.quoted(meta)) WHERE name = ?",
            binds: [Self.bind(Self.mark(of: .resend(number)))], columns: [JournalColumn.text])
    }

    /// Decodes the value of a mark.
    package static func settlement(_ value: String) -> RefusalSettlement {
        // The token of a write-ahead transaction may follow the time.
        guard value.hasPrefix(dropped) else { return .resent(at: String(value.prefix { $0 != " " })) }
        let parts = value.dropFirst(dropped.count).split(separator: " ", maxSplits: 1).map(String.init)
        return .dropped(at: parts.first ?? "", by: parts.count > 1 ? parts[1] : "")
    }

    /// Returns the statement that erases the name of an operator who dropped pushes.
    package func forgetDrops(by who: String) -> Statement {
        let start = dialect.part(of: "value", from: Self.dropped.count + 1, upTo: " ")
        let prefix = dialect.joined(dialect.joined("'\(Self.dropped)'", with: start), with: "' '")
        return Statement(
            sql: "UPDATE \(dialect.quoted(meta)) SET value = \(dialect.joined(prefix, with: "?")) "
                + "WHERE name LIKE '\(Self.resent)%' AND value = \(dialect.joined(prefix, with: "?"))",
            binds: [Self.bind(Self.erasedSender), Self.bind(Self.short(who))])
    }

    /// Returns the statements that find another push with the key of a refused push that was merged.
    ///
    /// A stored refusal answers a push with its key, so only a pruned key can be merged later. A push whose key had
    /// expired may have been merged earlier.
    ///
    /// - Parameter name: the digest of sender and key, if the sender owns its keys by its name.
    package func otherMerges(of stored: StoredEntry, name: [UInt8]) -> [Statement] {
        guard let key = stored.key else { return [] }
        var statements = [
            Statement(
                sql: "SELECT n FROM \(dialect.quoted(entries)) WHERE name = ? AND n > ? AND code IN (200, 207)",
                binds: [Self.bind(name), Self.bind(stored.number)], columns: [JournalColumn.number])
        ]
        if let entry = stored.entry, stored.refused?.reason == ProblemCode.keyExpired.rawValue {
            statements.append(
                Statement(
                    sql: "SELECT n FROM \(dialect.quoted(entries)) WHERE resource = ? AND record = ? AND n < ? "
                        + "AND status = 'merged' AND push_key = ? AND who = ? LIMIT 1",
                    binds: [
                        Self.bind(entry.resource), Self.bind(entry.record), Self.bind(stored.number), Self.bind(key),
                        Self.bind(stored.sender.who),
                    ], columns: [JournalColumn.number]))
        }
        let later = DateTime(
            secondsSince1970: stored.at.microsecondsSince1970 / 1_000_000 + 3_600, microsecond: 0)
        if let entry = stored.entry, let later {
            // The entries of the same push are of the same time.
            statements.append(
                Statement(
                    sql: "SELECT n FROM \(dialect.quoted(entries)) WHERE resource = ? AND record = ? AND n > ? "
                        + "AND status = 'merged' AND push_key = ? AND who = ? AND at > ? LIMIT 1",
                    binds: [
                        Self.bind(entry.resource), Self.bind(entry.record), Self.bind(stored.number), Self.bind(key),
                        Self.bind(stored.sender.who),
                        Self.bind(later.text(separator: " ", fraction: dialect.nowFraction)),
                    ], columns: [JournalColumn.number]))
        }
        return statements
    }

    /// Returns the statements that record effects; a unique constraint refuses a second time.
    ///
    /// - Parameter token: of a write-ahead transaction, which may be rolled back later; else nil.
    package func mark(_ effects: [SingleEffect], of token: String? = nil) -> [Statement] {
        let value = token == nil ? dialect.nowText : dialect.joined(dialect.nowText, with: "?")
        return stride(from: 0, to: effects.count, by: Self.batch).map { start in
            let some = effects[start..<min(start + Self.batch, effects.count)]
            let rows = repeatElement("(?, \(value))", count: some.count).joined(separator: ", ")
            return Statement(
                sql: "INSERT INTO \(dialect.quoted(meta)) (name, value) VALUES " + rows,
                binds: some.flatMap { effect in
                    [Self.bind(Self.mark(of: effect))] + (token.map { [Self.bind(" " + $0)] } ?? [])
                })
        }
    }

    /// Returns the statement that deletes the effects of a write-ahead transaction that was rolled back.
    package func withdrawEffects(of token: String) -> Statement {
        Statement(
            sql:
                "DELETE FROM \(dialect.quoted(meta)) WHERE (name LIKE '\(Self.resent)%' OR name LIKE '\(Self.undone)%') "
                + "AND value LIKE ?",
            binds: [Self.bind("% " + token)])
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
