/// The only way of a value from one column to another, or from one type of a column to another.
///
/// Sections may read one column under different types. So a value has a meaning only together with its column.
extension Column {
    /// Returns a value of another column as this column would contain it, or unchanged if it cannot contain the value.
    ///
    /// The result is exact if the other column has the type of the schema, or if a write of the gateway stored the
    /// value. Otherwise a date, a set or JSON may be stored in another spelling, which a text shows.
    ///
    /// - Parameter other: the same column under another type, or a column that contains the same values.
    package func converted(_ value: Value, from other: Column) -> Value {
        type == other.type ? value : type.value(ofStored: other.type.stored(value), in: self)
    }

    /// Returns the value of a key in the type of this column, if the key's column is unknown.
    package func converted(key value: Value) -> Value { type.value(ofStored: value, in: self) }
}

extension ColumnType {
    /// Returns the number, text or bytes that the database stores for a value.
    fileprivate func stored(_ value: Value) -> Value {
        if case .coded(let code) = self { return code.stored(value) }
        switch value {
        case .boolean(let flag): return .integer(flag ? 1 : 0)
        case .decimal(let number):
            guard case .numeric = self else { return value }
            if let whole = number.integer, Int64(exactly: whole) != nil { return .integer(whole) }
            return Double(number.text).map { .double($0) } ?? value
        case .null, .integer, .float, .double, .bytes, .text: return value
        case .members, .date, .dateTime, .time, .json, .address:
            return storedText(of: value).map { .text(ExactText($0)) } ?? value
        }
    }

    /// Returns the value of this type that the database stores as a number, text or bytes.
    fileprivate func value(ofStored stored: Value, in column: Column) -> Value {
        if stored.isNull { return .null }
        switch (self, stored) {
        case (.coded(let code), _):
            let own = code.type.value(ofStored: stored, in: column)
            return code.decoded(own) ?? own
        case (.boolean, _):
            guard let whole = stored.whole else { return stored }
            return whole == 0 || whole == 1 ? .boolean(whole == 1) : .integer(whole)
        case (.delimitedSet(let separator, _), .text(let text)):
            return .members(Scalar.heldMembers(text.string, separator: separator))
        case (.set, .text(let text)): return .members(Scalar.split(text.string, ","))
        case (.json, .text(let text)): return column.json(text.string)
        case (.date, .text(let text)), (.dateTime, .text(let text)), (.timestamp, .text(let text)),
            (.time, .text(let text)):
            return storedTime(text.string) ?? stored
        case (.decimal, .integer(let number)), (.numeric, .integer(let number)):
            return .decimal(ExactDecimal(number))
        case (.numeric, .double(let number)): return ExactDecimal(shortest: number).map { .decimal($0) } ?? stored
        default: return isForeign(stored) ? (accepted(stored) ?? stored) : stored
        }
    }

    /// Returns a number or text of another column as this type accepts it.
    private func accepted(_ stored: Value) -> Value? {
        storedText(of: stored.whole.map { .decimal(ExactDecimal($0)) } ?? stored).flatMap { try? accept(.text($0)) }
    }
}

extension Value {
    /// The integer of a number without a fraction.
    fileprivate var whole: Int128? {
        switch self {
        case .integer(let number): number
        case .decimal(let number): number.integer
        default: nil
        }
    }
}
