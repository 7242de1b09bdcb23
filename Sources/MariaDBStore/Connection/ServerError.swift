import RecordStore

/// An error of the server or the client library, before it becomes a `StoreError`.
struct ServerError {
    let code: UInt32
    let state: String
    let text: String
    let place: String

    /// Returns true if the connection can no longer be used.
    static func isFatal(_ code: Int) -> Bool {
        (2_000...2_099).contains(code)
            || [1_927, 1_053, 1_152, 1_153, 1_158, 1_159, 1_160, 1_161, 4_031].contains(code)
    }

    /// Returns true if the server refused the user or the password.
    static func isRefusedLogin(_ code: Int) -> Bool { [1_045, 1_698].contains(code) }

    var storeError: StoreError {
        let number = Int(code)
        if isSignal { return violation(ConstraintViolation(.trigger, sentence: text)) }
        switch code {
        case 1_213, 1_020: return make(.serialization, message: "the transaction met another one in the database")
        case 1_205: return make(.locked, message: "rows stayed locked by another transaction")
        case 1_969, 3_024, 1_317: return make(.busy, message: "a statement took longer than it may")
        case 1_040, 1_203, 1_226:
            return make(.unavailable, message: "the database server at \(place) has no connection left")
        case 1_045, 1_698:
            return make(.unavailable, message: "the database server at \(place) refuses the user or the password")
        case 1_049: return make(.unavailable, message: "the database server at \(place) has no database of this name")
        case 2_026:
            return make(.unavailable, message: "no TLS connection to the database server at \(place): \(tlsFault)")
        case 1_044, 1_142, 1_143, 1_227, 1_370:
            return make(.denied, message: "the database user lacks a right: \(text)")
        case 1_288, 1_348, 1_393, 1_394, 1_395, 1_471:
            return make(.denied, message: "the view cannot be written this way: \(text)")
        case 1_153, 2_020:
            return make(
                .tooLarge, message: "a statement is longer than the database server accepts (max_allowed_packet)")
        // The last three report a column that is now generated.
        case 1_146, 1_054, 1_356, 1_412, 1_906, 3_105:
            return make(.schemaChanged, message: "the schema has changed: \(text)")
        case 1_021, 1_036, 1_114, 1_290, 1_836, 1_792:
            return make(.unwritable, message: "the database cannot be written: it is full or read-only")
        case 1_026 where text.contains("No space left"), 1_030 where text.contains("No space left"):
            return make(.unwritable, message: "the database cannot be written: its disk is full")
        case 1_064, 1_305, 1_582, 1_583, 1_630, 1_241, 1_111:
            return make(.other, message: "a statement is not understood: \(text)")
        case 1_665: return make(.other, message: "the server logs by STATEMENT and refuses READ COMMITTED")
        default: break
        }
        if let violation = constraint { return self.violation(violation) }
        if Self.isFatal(number) {
            return make(.disconnected, message: "the database server at \(place) cannot be reached")
        }
        return make(.other, message: "the database server refused a statement, SQLSTATE \(state)")
    }

    /// The reason of a failed handshake, in the client library's words if they are clear enough.
    private var tlsFault: String {
        // Connector/C reports only this if the chain is valid and the name is wrong.
        text.contains("Validation of SSL server certificate failed")
            ? "its certificate is that of another host" : text
    }

    private func make(_ kind: StoreError.Kind, message: String) -> StoreError {
        StoreError(kind, message, code: Int(code))
    }

    private func violation(_ violation: ConstraintViolation) -> StoreError {
        make(.constraint(violation), message: "a constraint refused the write: \(violation.kind.rawValue)")
    }

    /// True if a trigger refused the write with its own message.
    ///
    /// The SQLSTATE is reserved for users (45…), or the number belongs to SIGNAL, or no server uses the number.
    private var isSignal: Bool {
        state.hasPrefix("45") || (1_642...1_644).contains(code) || (Self.ownNumbers...).contains(code)
    }

    /// Servers and clients define no error numbers from here on.
    private static let ownNumbers: UInt32 = 6_000

    private var constraint: ConstraintViolation? {
        let names = text.backquoted
        switch code {
        case 1_062, 1_586:
            // MySQL writes `table.index`, MariaDB the index alone.
            let name = text.lastQuoted.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
            return ConstraintViolation(.unique, name: name)
        case 1_452, 1_216:
            return ConstraintViolation(.foreignKey, name: text.name(after: "CONSTRAINT "), columns: text.foreignColumns)
        case 1_451, 1_217:
            return ConstraintViolation(.referenced, name: text.name(after: "CONSTRAINT "))
        case 1_369:
            return ConstraintViolation(.check, name: names.last)
        // No partition accepts the row.
        case 1_526, 1_591, 1_748, 1_863:
            return ConstraintViolation(.value)
        // A trigger's own statement failed, and will fail as long as the rows do not change. It writes its own table,
        // reads no row or too many, matches no case, or calls itself.
        case 1_442, 1_172, 1_329, 1_242, 1_339, 1_424, 1_456:
            return ConstraintViolation(.trigger)
        case 4_025, 3_819:
            return ConstraintViolation(.check, name: names.first ?? text.firstQuoted)
        // MariaDB also reports 167, the storage engine's own number.
        case 1_467, 167:
            return ConstraintViolation(.exhausted)
        case 1_048, 1_364, 4_006:
            return ConstraintViolation(.notNull, columns: text.firstQuoted.map { [$0] } ?? [])
        case 1_406, 1_264, 1_265, 1_366, 1_292, 1_411, 1_367, 1_690, 1_365, 1_118, 3_140, 4_038:
            let column = text.name(after: "column ") ?? text.word(after: "column '")
            let last = names.count > 1 ? names.last : nil
            return ConstraintViolation(.value, columns: (last ?? column).map { [$0] } ?? [])
        default: return nil
        }
    }
}

extension String {
    fileprivate var backquoted: [String] { between("`") }

    fileprivate var firstQuoted: String? { between("'").first }

    fileprivate var lastQuoted: String? {
        guard let start = word(after: "for key '") else { return between("'").last }
        return start
    }

    /// The parts between pairs of a mark.
    private func between(_ mark: Character) -> [String] {
        let parts = split(separator: mark, omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 && $0 < parts.count - 1 }.map { String(parts[$0]) }
    }

    private func tail(after mark: String) -> Substring? {
        var found: Substring?
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(mark) { found = self[index...].dropFirst(mark.count) }
            index = self.index(after: index)
        }
        return found
    }

    /// Returns the text from the last `mark` to the next quote.
    fileprivate func word(after mark: String) -> String? {
        guard let tail = tail(after: mark), let end = tail.firstIndex(of: "'") else { return nil }
        return String(tail[..<end])
    }

    /// Returns the name in backquotes after the last `mark`.
    fileprivate func name(after mark: String) -> String? {
        guard let tail = tail(after: mark), tail.first == "`" else { return nil }
        return String(tail.dropFirst().prefix { $0 != "`" })
    }

    /// The columns of `FOREIGN KEY (…)`.
    fileprivate var foreignColumns: [String] {
        guard let tail = tail(after: "FOREIGN KEY (") else { return [] }
        return String(tail.prefix { $0 != ")" } + " ").backquoted
    }
}
