package import MergeCore

/// Values of key columns as bytes, and back.
package enum PackedValues {
    private enum Mark: UInt8 {
        case null = 0
        case integer, wide, text, bytes, boolean, stored
    }

    /// Returns true where keys of a column can be written down: those whose value is exactly what the database compares.
    package static func holds(_ type: ColumnType) -> Bool {
        switch type {
        case .float, .double, .json, .wellKnownText, .set, .delimitedSet: false
        default: true
        }
    }

    /// Writes values down; nil where one is of a kind that no key has.
    package static func bytes(_ values: some Sequence<Value>, of columns: [Column]) -> [UInt8]? {
        var out: [UInt8] = []
        for (value, column) in zip(values, columns) {
            guard append(value, of: column, to: &out) else { return nil }
        }
        return out
    }

    /// Writes one value behind others, as `bytes` does.
    ///
    /// - Returns: false for one of a kind that no key has.
    package static func append(_ value: Value, of column: Column, to out: inout [UInt8]) -> Bool {
        switch value {
        case .null: out.append(Mark.null.rawValue)
        case .integer(let number):
            if let small = Int64(exactly: number) {
                out.append(Mark.integer.rawValue)
                PackedNumber.append(UInt64(bitPattern: small << 1 ^ small >> 63), to: &out)
            } else {
                append(.wide, String(number).utf8, to: &out)
            }
        case .boolean(let flag): out += [Mark.boolean.rawValue, flag ? 1 : 0]
        case .text(let text): append(.text, text.string.utf8, to: &out)
        case .bytes(let bytes): append(.bytes, bytes, to: &out)
        case .decimal, .date, .dateTime, .time, .address:
            guard let text = Bind(value, column.type).storedText else { return false }
            append(.stored, text.utf8, to: &out)
        case .float, .double, .members, .json: return false
        }
        return true
    }

    private static func append(_ mark: Mark, _ bytes: some Collection<UInt8>, to out: inout [UInt8]) {
        out.append(mark.rawValue)
        PackedNumber.append(UInt64(bytes.count), to: &out)
        out += bytes
    }

    /// Reads what `bytes` wrote; nil where it is damaged, or the columns are others now.
    package static func values(_ bytes: some Sequence<UInt8>, of columns: [Column]) -> [Value]? {
        var reader = PackedReader(Array(bytes))
        var values: [Value] = []
        for column in columns {
            guard let mark = reader.byte().flatMap({ Mark(rawValue: $0) }) else { return nil }
            switch mark {
            case .null: values.append(.null)
            case .integer:
                guard let raw = reader.number() else { return nil }
                values.append(.integer(Int128(Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1))))
            case .boolean:
                guard let flag = reader.byte() else { return nil }
                values.append(.boolean(flag == 1))
            case .bytes:
                guard let data = reader.bytes() else { return nil }
                values.append(.bytes(Array(data)))
            case .wide, .text, .stored:
                guard let data = reader.bytes(), let text = String(validating: data, as: UTF8.self) else { return nil }
                if mark == .text {
                    values.append(.text(ExactText(text)))
                } else if mark == .wide {
                    guard let number = Int128(text) else { return nil }
                    values.append(.integer(number))
                } else {
                    guard let value = try? column.type.accept(.text(text)) else { return nil }
                    values.append(value)
                }
            }
        }
        return reader.isAtEnd ? values : nil
    }
}

/// Numbers in as few bytes as they need, seven bits in each (LEB128).
package enum PackedNumber {
    /// Writes a number behind other bytes.
    package static func append(_ number: UInt64, to out: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(rest))
    }

    /// Writes bytes with their number before them.
    package static func append(_ bytes: some Collection<UInt8>, to out: inout [UInt8]) {
        append(UInt64(bytes.count), to: &out)
        out += bytes
    }
}

/// Reads packed numbers and bytes one after the other.
package struct PackedReader {
    private let all: [UInt8]
    private var place = 0

    /// Reads from the first byte on.
    package init(_ bytes: [UInt8]) {
        all = bytes
    }

    /// Everything has been read.
    package var isAtEnd: Bool { place == all.count }

    /// Reads one byte; nil at the end.
    package mutating func byte() -> UInt8? {
        guard place < all.count else { return nil }
        defer { place += 1 }
        return all[place]
    }

    /// Reads a packed number; nil where it is damaged.
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

    /// Reads a packed number that counts something; nil where it is damaged.
    package mutating func count() -> Int? { number().flatMap { Int(exactly: $0) } }

    /// Reads a word of eight bytes; nil where they are not there.
    package mutating func word() -> UInt64? {
        guard place + 8 <= all.count else { return nil }
        defer { place += 8 }
        return all.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
    }

    /// Reads bytes with their number before them; nil where it is damaged.
    package mutating func bytes() -> ArraySlice<UInt8>? { count().flatMap { bytes($0) } }

    /// Reads so many bytes; nil where they are not there.
    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= all.count - place else { return nil }
        defer { place += count }
        return all[place..<place + count]
    }
}

extension UInt64 {
    /// The eight bytes of a word, the lowest first.
    package var packedBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }

    /// Writes them behind others.
    package func appendPacked(to out: inout [UInt8]) {
        withUnsafeBytes(of: littleEndian) { out.append(contentsOf: $0) }
    }
}
