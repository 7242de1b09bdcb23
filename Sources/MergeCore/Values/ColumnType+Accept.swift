extension ColumnType {
    /// Converts a client's value to the value that the column would store.
    ///
    /// It accepts legacy values (`Value.isLegacyOnly`, the ENUM error value), because a client may have them in its
    /// base. `forbidsWriting` decides if a value may be written. The caller checks NULL.
    ///
    /// - Throws: `ValueProblem` if the column cannot store the value exactly.
    package func accept(_ scalar: Scalar) throws(ValueProblem) -> Value {
        if case .null = scalar { return .null }
        switch self {
        case .boolean, .coded: return try acceptBoolean(scalar)
        case .integer(let range): return .integer(try scalar.integer(in: range))
        case .bit(let width): return .integer(try scalar.integer(in: 0...((Int128(1) << width) - 1)))
        case .year:
            let year = try scalar.integer(in: 0...2_155)
            guard year == 0 || year >= 1_901 else { throw ValueProblem("is not a year of 1901 to 2155, or 0") }
            return .integer(year)
        case .decimal(let precision, let scale, let isUnsigned):
            return .decimal(try scalar.decimal(precision: precision, scale: scale, isUnsigned: isUnsigned))
        case .numeric: return .decimal(try scalar.numeric())
        case .float(let isUnsigned, let digits): return .float(try scalar.float(isUnsigned: isUnsigned, digits))
        case .double(let isUnsigned, let digits): return .double(try scalar.double(isUnsigned: isUnsigned, digits))
        case .text(let type): return .text(try type.fitted(try scalar.string()))
        case .enumeration(let members):
            let text = ExactText(try scalar.string())
            guard members.contains(text) || text.string.isEmpty else {
                throw ValueProblem("is none of the column's ENUM members")
            }
            return .text(text)
        case .set(let members): return .members(try scalar.members(of: members))
        case .delimitedSet(let separator, let type):
            return .members(try scalar.members(separator: separator, type: type))
        case .date, .dateTime, .timestamp, .time: return try acceptTime(scalar)
        case .binary(let length):
            let bytes = try scalar.bytes(maximum: length)
            return .bytes(bytes + [UInt8](repeating: 0, count: length - bytes.count))
        case .bytes(let maximum): return .bytes(try scalar.bytes(maximum: maximum))
        case .uuid: return .text(try scalar.uuid())
        case .inet4:
            guard let address = NetworkAddress(version4: try scalar.string()) else {
                throw ValueProblem("is not an IPv4 address")
            }
            return .address(address)
        case .inet6:
            guard let address = NetworkAddress(version6: try scalar.string()) else {
                throw ValueProblem("is not an IPv6 address")
            }
            return .address(address)
        case .wellKnownText: return .text(ExactText(try scalar.string()))
        case .json(let type):
            let tree = try JSONTree(scalar)
            guard !tree.isDeeper(than: JSONParser.maximumDepth) else {
                throw ValueProblem("is nested more than \(JSONParser.maximumDepth) levels deep")
            }
            _ = try type.fitted(tree.text, isJSON: true)
            return .json(tree)
        }
    }

    /// The reason for the refusal of a value of another type, with an example for dates and times.
    var foreignReason: String {
        switch self {
        case .date: "is not a date such as 2026-11-20"
        case .dateTime: "is not a date and time such as 2026-11-20T10:00:00"
        case .timestamp: "is not a date and time such as 2026-11-20T10:00:00Z"
        case .time: "is not a time such as 10:00:00"
        default: "does not have the column's type, \(name)"
        }
    }

    /// Returns the reason why a base may contain the value but no write may, or nil if it can be written.
    package func forbidsWriting(_ value: Value) -> ValueProblem? {
        if value.isLegacyOnly { return ValueProblem("has a zero month or day, which is never written") }
        if case .enumeration(let members) = self, case .text(let text) = value, !members.contains(text) {
            return ValueProblem("is the ENUM error value, which is never written")
        }
        if isForeign(value) { return ValueProblem(foreignReason) }
        if case .set = self, case .members(let members) = value, members.contains(where: \.string.isEmpty) {
            return ValueProblem("has an empty member, which a SET takes by its number alone")
        }
        if case .json(let type) = self, type.turnsNumbers, case .json(.integer(let number)) = value,
            Int64(exactly: number) == nil
        {
            return ValueProblem("is a number that the column's affinity would change")
        }
        if case .numeric(let scale?) = self, case .decimal(let number) = value, number.fractionDigits > scale {
            return ValueProblem("has more than the column's \(scale) decimals")
        }
        return nil
    }

    /// Returns true if a value has another type than the column, which only a loose column can contain.
    ///
    /// Such a value is displayed and compared unchanged, and never written.
    package func isForeign(_ value: Value) -> Bool {
        switch (self, value) {
        case (_, .null), (.boolean, .boolean), (.integer, .integer), (.bit, .integer), (.year, .integer),
            (.decimal, .decimal), (.numeric, .decimal), (.float, .float), (.double, .double), (.text, .text),
            (.enumeration, .text), (.uuid, .text), (.set, .members), (.delimitedSet, .members), (.date, .date),
            (.dateTime, .dateTime), (.timestamp, .dateTime), (.time, .time), (.binary, .bytes), (.bytes, .bytes),
            (.json, .json), (.wellKnownText, .text), (.coded, .boolean), (.inet4, .address), (.inet6, .address):
            false
        default: true
        }
    }

    /// Converts a client's value for a column that may contain values of other types.
    func acceptLoosely(_ scalar: Scalar) throws(ValueProblem) -> Value {
        do {
            return try accept(scalar)
        } catch {
            let value: Value
            switch scalar {
            case .text(let text): value = .text(ExactText(text))
            case .integer(let number): value = .integer(Int128(number))
            case .number(let number):
                guard let double = Double(number.text), ExactDecimal(shortest: double) == number else { throw error }
                value = .double(double)
            default: throw error
            }
            // A value of the column's own type that it refuses stays refused.
            guard isForeign(value) else { throw error }
            return value
        }
    }

    private func acceptBoolean(_ scalar: Scalar) throws(ValueProblem) -> Value {
        switch scalar {
        case .boolean(let flag): return .boolean(flag)
        case .integer(0): return .boolean(false)
        case .integer(1): return .boolean(true)
        case .number(let number) where number.text == "0" || number.text == "1": return .boolean(number.text == "1")
        default: throw ValueProblem("is \(scalar.kind) that is neither true nor false, neither 1 nor 0")
        }
    }
}

extension Scalar {
    func string() throws(ValueProblem) -> String {
        guard case .text(let text) = self else { throw ValueProblem("is \(kind); a string is needed") }
        return text
    }

    /// Returns an integer from a number with a zero fraction or from a decimal string.
    func integer(in range: ClosedRange<Int128>) throws(ValueProblem) -> Int128 {
        let value: Int128
        switch self {
        case .integer(let small): value = Int128(small)
        case .number(let number):
            guard let whole = number.integer else { throw outOfRange(number, range: range) }
            value = whole
        case .text(let text):
            guard let whole = Self.decimalInteger(text) else { throw ValueProblem("is not a decimal integer") }
            value = whole
        default: throw ValueProblem("is \(kind); an integer is needed")
        }
        guard range.contains(value) else {
            throw ValueProblem("is outside the column's range, \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// The integer value of a number with a zero fraction or of a decimal string, or nil for any other value.
    package var wholeNumber: Int128? {
        switch self {
        case .integer(let small): Int128(small)
        case .number(let number): number.integer
        case .text(let text): Self.decimalInteger(text)
        default: nil
        }
    }

    private func outOfRange(_ number: ExactDecimal, range: ClosedRange<Int128>) -> ValueProblem {
        number.fractionDigits > 0
            ? ValueProblem("has a fraction; an integer is needed")
            : ValueProblem("is outside the column's range, \(range.lowerBound) to \(range.upperBound)")
    }

    /// Reads a JSON number without an exponent and with a zero fraction, such as `-12` or `12.0`.
    private static func decimalInteger(_ text: String) -> Int128? {
        guard let form = NumberForm(text.utf8), !form.hasExponent, form.hasZeroFraction else { return nil }
        return Int128(text.prefix { $0 != "." })
    }

    private func exactNumber() throws(ValueProblem) -> ExactDecimal {
        switch self {
        case .integer(let small): return ExactDecimal(Int128(small))
        case .number(let number): return number
        case .text(let text):
            guard NumberForm(text.utf8) != nil, let number = ExactDecimal(text) else {
                throw ValueProblem("is not a decimal number")
            }
            return number
        default: throw ValueProblem("is \(kind); a number is needed")
        }
    }

    func decimal(precision: Int, scale: Int, isUnsigned: Bool) throws(ValueProblem) -> ExactDecimal {
        let number = try exactNumber()
        guard !(isUnsigned && number.isNegative) else { throw ValueProblem("is negative in an unsigned column") }
        guard number.fractionDigits <= scale else {
            throw ValueProblem("has more than the column's \(scale) decimals")
        }
        guard number.integerDigits <= precision - scale else {
            throw ValueProblem("has more than the column's \(precision - scale) digits before the point")
        }
        return number
    }

    /// Returns a number that SQLite's NUMERIC can store exactly, as a 64-bit integer or a double.
    func numeric() throws(ValueProblem) -> ExactDecimal {
        let number = try exactNumber()
        if let whole = number.integer, Int64(exactly: whole) != nil { return number }
        guard let double = Double(number.text), ExactDecimal(shortest: double) == number else {
            throw ValueProblem("has more digits than the column's affinity keeps")
        }
        return number
    }

    /// Returns a double whose shortest form has exactly the same decimal value.
    func double(isUnsigned: Bool, _ digits: FixedDigits?) throws(ValueProblem) -> Double {
        let number = try exactNumber()
        guard !(isUnsigned && number.isNegative) else { throw ValueProblem("is negative in an unsigned column") }
        guard let double = Double(number.text), ExactDecimal(shortest: double) == number else {
            throw ValueProblem("is not a number that a DOUBLE stores exactly")
        }
        guard digits?.hold(number, double) ?? true else { throw ValueProblem("has other digits than the column keeps") }
        return double
    }

    func float(isUnsigned: Bool, _ digits: FixedDigits?) throws(ValueProblem) -> Float {
        let number = try exactNumber()
        guard !(isUnsigned && number.isNegative) else { throw ValueProblem("is negative in an unsigned column") }
        guard let float = Float(number.text), ExactDecimal(shortest: float) == number else {
            throw ValueProblem("is not a number that a FLOAT stores exactly")
        }
        guard digits?.hold(number, float) ?? true else { throw ValueProblem("has other digits than the column keeps") }
        return float
    }

    func bytes(maximum: Int?) throws(ValueProblem) -> [UInt8] {
        guard let bytes = Base64.decode(try string()) else { throw ValueProblem("is not base64") }
        if let maximum, bytes.count > maximum { throw ValueProblem("is longer than the column's \(maximum) bytes") }
        return bytes
    }

    func uuid() throws(ValueProblem) -> ExactText {
        let sent = try string()
        // The length excludes most other texts at once.
        guard sent.utf8.count == 36 || sent.utf8.count == 32 else { throw ValueProblem("is not a UUID") }
        let text = sent.lowercased()
        let hex = text.utf8.filter { $0 != UInt8(ascii: "-") }
        let isHex = hex.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }
        guard hex.count == 32, isHex else {
            throw ValueProblem("is not a UUID")
        }
        var out: [UInt8] = []
        for (index, byte) in hex.enumerated() {
            if [8, 12, 16, 20].contains(index) { out.append(UInt8(ascii: "-")) }
            out.append(byte)
        }
        guard text.utf8.count == 32 || text.utf8.elementsEqual(out) else { throw ValueProblem("is not a UUID") }
        return ExactText(String(decoding: out, as: UTF8.self))
    }
}
