package import MergeCore

/// Encodes and decodes the values of key columns.
///
/// Each kind of value has its own complete form. The declared type of the column, such as its number of fraction
/// digits, does not affect the encoding.
package enum PackedValues {
    private enum Mark: UInt8 {
        case null = 0
        case integer, wide, text, bytes, boolean
        /// The text that the column stores: the form of decimals, times and addresses in former versions.
        case stored
        case decimal, date, dateTime, time, address, double
    }

    /// Returns true if keys of a column can be encoded: the database compares exactly their value.
    package static func holds(_ type: ColumnType) -> Bool {
        switch type {
        case .float, .double, .json, .wellKnownText, .set, .delimitedSet: false
        default: true
        }
    }

    /// Encodes values; nil if the kind of a value cannot be a key.
    package static func bytes(_ values: some Sequence<Value>, of columns: [Column]) -> [UInt8]? {
        var out: [UInt8] = []
        for (value, column) in zip(values, columns) {
            guard append(value, of: column, to: &out) else { return nil }
        }
        return out
    }

    /// Appends one encoded value.
    ///
    /// - Returns: false if the kind of the value cannot be a key.
    package static func append(_ value: Value, of column: Column, to out: inout [UInt8]) -> Bool {
        switch value {
        case .null: out.append(Mark.null.rawValue)
        case .integer(let number):
            if let small = Int64(exactly: number) {
                append(.integer, signed: small, to: &out)
            } else {
                append(.wide, String(number).utf8, to: &out)
            }
        case .boolean(let flag): out += [Mark.boolean.rawValue, flag ? 1 : 0]
        case .text(let text): append(.text, text.string.utf8, to: &out)
        case .bytes(let bytes): append(.bytes, bytes, to: &out)
        case .decimal(let number): append(.decimal, number.text.utf8, to: &out)
        case .date(let date):
            out.append(Mark.date.rawValue)
            append(date, to: &out)
        case .dateTime(let moment):
            out.append(Mark.dateTime.rawValue)
            append(moment.date, to: &out)
            PackedNumber.append(UInt64(moment.microseconds), to: &out)
        case .time(let span): append(.time, signed: span.microseconds, to: &out)
        case .address(let address): append(.address, address.text.utf8, to: &out)
        case .double(let number):
            out.append(Mark.double.rawValue)
            number.bitPattern.appendPacked(to: &out)
        case .float, .members, .json: return false
        }
        return true
    }

    private static func append(_ mark: Mark, signed number: Int64, to out: inout [UInt8]) {
        out.append(mark.rawValue)
        PackedNumber.append(UInt64(bitPattern: number << 1 ^ number >> 63), to: &out)
    }

    private static func append(_ date: CalendarDate, to out: inout [UInt8]) {
        PackedNumber.append(UInt64(date.year) << 9 | UInt64(date.month) << 5 | UInt64(date.day), to: &out)
    }

    private static func append(_ mark: Mark, _ bytes: some Collection<UInt8>, to out: inout [UInt8]) {
        out.append(mark.rawValue)
        PackedNumber.append(UInt64(bytes.count), to: &out)
        out += bytes
    }

    /// Decodes `bytes`; nil if they are damaged or the columns have changed.
    package static func values(_ bytes: some Sequence<UInt8>, of columns: [Column]) -> [Value]? {
        var reader = PackedReader(Array(bytes))
        var values: [Value] = []
        for column in columns {
            guard let value = value(from: &reader, column), column.isLoose || !column.type.isForeign(value) else {
                return nil
            }
            values.append(value)
        }
        return reader.isAtEnd ? values : nil
    }

    private static func value(from reader: inout PackedReader, _ column: Column) -> Value? {
        guard let mark = reader.byte().flatMap({ Mark(rawValue: $0) }) else { return nil }
        switch mark {
        case .null: return .null
        case .integer: return reader.signed().map { .integer(Int128($0)) }
        case .wide: return reader.text().flatMap { Int128($0) }.map { .integer($0) }
        case .boolean: return reader.byte().map { .boolean($0 == 1) }
        case .text: return reader.text().map { .text(ExactText($0)) }
        case .bytes: return reader.bytes().map { .bytes(Array($0)) }
        case .decimal: return reader.text().flatMap { ExactDecimal($0) }.map { .decimal($0) }
        case .date: return reader.date().map { .date($0) }
        case .dateTime:
            guard let date = reader.date(), let microseconds = reader.number().flatMap({ Int64(exactly: $0) }) else {
                return nil
            }
            return DateTime(date: date, microseconds: microseconds).map { .dateTime($0) }
        case .time: return reader.signed().flatMap { TimeSpan(microseconds: $0) }.map { .time($0) }
        case .address: return reader.text().flatMap { address($0) }.map { .address($0) }
        case .double: return reader.word().map { .double(Double(bitPattern: $0)) }
        case .stored:
            guard let text = reader.text() else { return nil }
            if case .timestamp = column.type { return try? column.type.accept(.text(text + "Z")) }
            return try? column.type.accept(.text(text))
        }
    }

    private static func address(_ text: String) -> NetworkAddress? {
        NetworkAddress(version4: text) ?? NetworkAddress(version6: text)
    }
}

extension PackedReader {
    fileprivate mutating func signed() -> Int64? {
        number().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    fileprivate mutating func text() -> String? { bytes().flatMap { String(validating: $0, as: UTF8.self) } }

    fileprivate mutating func date() -> CalendarDate? {
        number().flatMap { number in
            CalendarDate(
                year: Int(truncatingIfNeeded: number >> 9), month: Int(number >> 5 & 15), day: Int(number & 31))
        }
    }
}

/// Encodes numbers with seven bits in each byte (LEB128).
package enum PackedNumber {
    /// Appends a number.
    package static func append(_ number: UInt64, to out: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(rest))
    }

    /// Appends the number of bytes, then the bytes.
    package static func append(_ bytes: some Collection<UInt8>, to out: inout [UInt8]) {
        append(UInt64(bytes.count), to: &out)
        out += bytes
    }
}

/// Reads packed numbers and bytes one after the other.
package struct PackedReader {
    private let all: [UInt8]
    private var place = 0

    /// Begins at the first byte.
    package init(_ bytes: [UInt8]) {
        all = bytes
    }

    /// True at the end.
    package var isAtEnd: Bool { place == all.count }

    /// The number of bytes that are left.
    package var remaining: Int { all.count - place }

    /// Reads one byte; nil at the end.
    package mutating func byte() -> UInt8? {
        guard place < all.count else { return nil }
        defer { place += 1 }
        return all[place]
    }

    /// Reads a packed number; nil if it is damaged.
    package mutating func number() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64, let byte = byte() {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }

    /// Reads a packed count; nil if it is damaged.
    package mutating func count() -> Int? { number().flatMap { Int(exactly: $0) } }

    /// Reads a word of eight bytes; nil if fewer are left.
    package mutating func word() -> UInt64? {
        guard place + 8 <= all.count else { return nil }
        defer { place += 8 }
        return all.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
    }

    /// Reads a packed count and as many bytes; nil if they are damaged.
    package mutating func bytes() -> ArraySlice<UInt8>? { count().flatMap { bytes($0) } }

    /// Reads a number of bytes; nil if fewer are left.
    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= all.count - place else { return nil }
        defer { place += count }
        return all[place..<place + count]
    }
}

extension UInt64 {
    /// The eight bytes of a word, the lowest first.
    package var packedBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }

    /// Appends the eight bytes, the lowest first.
    package func appendPacked(to out: inout [UInt8]) {
        withUnsafeBytes(of: littleEndian) { out.append(contentsOf: $0) }
    }
}
