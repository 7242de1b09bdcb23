/// A column that every insertion and update through a section sets (`stamp` in the rules).
package struct Stamp: Sendable, Hashable {
    /// The value of a stamp.
    package enum Source: Sendable, Hashable {
        /// The time of the write, in UTC.
        case now
        /// A claim of the client's token; `who` is the token's name.
        case claim(String)
        case constant(Value)
    }

    /// The position of the column in the section's `columns`.
    package let column: Int
    /// The value.
    package let source: Source
    /// The line of the rule file.
    package let rule: RuleReference

    /// Stamps a column.
    package init(column: Int, source: Source, rule: RuleReference) {
        self.column = column
        self.source = source
        self.rule = rule
    }
}

/// The time and the client of a write, for stamps.
package struct StampContext: Sendable {
    private let time: DateTime?
    private let author: Viewer

    /// Combines the time of a write in UTC with its client.
    package init(time: DateTime?, author: Viewer) {
        self.time = time
        self.author = author
    }

    /// Returns the stamped columns of a section with their values.
    ///
    /// - Throws: a 403 `Problem` if a claim is a list or no value of its column, or is missing and the column cannot be
    ///   NULL.
    package func assignments(for section: Section, path: WirePath) throws(Problem) -> [Assignment] {
        var assignments: [Assignment] = []
        for stamp in section.stamps {
            let column = section.columns[stamp.column]
            guard let value = value(of: stamp.source, in: column), column.type.forbidsWriting(value) == nil else {
                throw Self.problem(stamp, of: column, at: path)
            }
            assignments.append(Assignment(column: stamp.column, value: value))
        }
        return assignments
    }

    private func value(of source: Stamp.Source, in column: Column) -> Value? {
        switch source {
        case .constant(let value): return value
        case .now: return time.flatMap { column.type.value(at: $0) }
        case .claim(let name):
            if author.makes(name) { return author.value(of: name, in: column) }
            return column.isNullable ? .null : nil
        }
    }

    private static func problem(_ stamp: Stamp, of column: Column, at path: WirePath) -> Problem {
        guard case .claim(let name) = stamp.source else {
            return Problem(
                .outsideRows,
                detail: "The column “\(column.name)” cannot store the current time. Change rule \(stamp.rule).",
                path: path, retry: .never)
        }
        return Problem(
            .outsideRows,
            detail:
                "The token has no claim “\(name)” that the column “\(column.name)” can store. Rule \(stamp.rule) needs it. "
                + "Add the claim or change the rule.", path: path, retry: .never)
    }
}

extension ColumnType {
    /// True if the column can store the current time.
    package var storesNow: Bool {
        switch self {
        case .date, .dateTime, .timestamp: true
        case .integer(let range): range.contains(2_147_483_647)
        default: false
        }
    }

    /// Returns a time in UTC as a value of the column, without the digits that it does not store.
    ///
    /// An integer is the seconds since 1970. The result is nil for other types, and for times outside the column's range.
    package func value(at time: DateTime) -> Value? {
        switch self {
        case .date: return .date(time.date)
        case .dateTime(let digits): return time.truncated(to: digits).map { .dateTime($0) }
        case .timestamp(let digits, let range):
            guard let moment = time.truncated(to: digits), range?.contains(moment) ?? true else { return nil }
            return .dateTime(moment)
        case .integer(let range):
            let seconds = Int128(time.microsecondsSince1970 / 1_000_000)
            return range.contains(seconds) ? .integer(seconds) : nil
        default: return nil
        }
    }
}

extension DateTime {
    fileprivate func truncated(to digits: Int) -> DateTime? {
        var unit: Int64 = 1
        for _ in min(digits, 6)..<6 { unit *= 10 }
        return DateTime(date: date, microseconds: microseconds - microseconds % unit)
    }
}
