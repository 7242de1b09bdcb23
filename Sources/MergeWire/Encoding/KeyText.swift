package import MergeCore

/// Keys in URLs: each part is percent-encoded, with a comma between the parts.
package enum KeyText {
    private static let hex = Array("0123456789ABCDEF".utf8)

    /// Returns the text of a key in a URL.
    package static func encode(_ key: RecordKey, _ section: Section) -> String {
        // A table without a key has pages by number.
        if section.keyCount == 0, case .integer(let offset)? = key.parts.first { return String(offset) }
        if key.parts.count == 1, case .integer(let number) = key.parts[0] { return String(number) }
        return zip(key.parts, section.columns).map { encode(plain($0, of: $1.type)) }.joined(separator: ",")
    }

    /// Returns a part before percent-encoding: the content of its JSON string or number.
    private static func plain(_ value: Value, of type: ColumnType) -> String {
        switch value {
        case .text(let text): return text.string
        case .integer(let number): return String(number)
        default:
            var writer = JSONWriter()
            writer.value(value, ValueStyle(type))
            let text = String(decoding: writer.bytes, as: UTF8.self)
            return text.utf8.first == UInt8(ascii: "\"") ? String(text.dropFirst().dropLast()) : text
        }
    }

    /// Encodes all except the unreserved characters of RFC 3986 section 2.3.
    private static func encode(_ text: String) -> String {
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                out.append(byte)
            default: out += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Reads a key that names a record in a URL.
    ///
    /// - Returns: nil for a spelling that no record has, such as a number out of range or with leading zeros.
    /// - Throws: a 400 `Problem` if the text does not have the form of a key.
    package static func lookup(_ text: String, _ section: Section) throws(Problem) -> RecordKey? {
        if section.keyCount == 0 { return nil }
        if section.keyCount == 1, let key = plainNumber(text, of: section.columns[0].type) { return key }
        let parts = try split(text, of: section)
        let hasShape = zip(parts, section.columns).allSatisfy { part, column in
            switch column.type {
            case .text, .enumeration: true
            case .integer, .bit, .year, .boolean: ExactDecimal(part)?.integer != nil || column.type == .boolean
            default: false
            }
        }
        guard hasShape else {
            let key = try decode(text, section)
            return isSpelled(key, of: section, as: parts) ? key : nil
        }
        guard let key = try? decode(text, section), isSpelled(key, of: section, as: parts) else { return nil }
        return key
    }

    /// Returns the key of one integer in its usual spelling, or nil for any other text.
    private static func plainNumber(_ text: String, of type: ColumnType) -> RecordKey? {
        guard case .integer(let range) = type, (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), text.utf8.count == 1 || text.utf8.first != 48,
            let number = Int128(text), range.contains(number)
        else { return nil }
        return RecordKey([.integer(number)])
    }

    private static func isSpelled(_ key: RecordKey, of section: Section, as parts: [String]) -> Bool {
        zip(key.parts, section.columns).map { ExactText(plain($0, of: $1.type)) } == parts.map { ExactText($0) }
    }

    private static func split(_ text: String, of section: Section) throws(Problem) -> [String] {
        let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == section.keyCount else {
            throw malformed("it has \(parts.count) parts but the key has \(section.keyCount)")
        }
        var out: [String] = []
        for part in parts {
            guard let plain = percentDecoded(part) else { throw malformed("its percent-encoding is wrong") }
            out.append(plain)
        }
        return out
    }

    /// Reads a key from a URL.
    ///
    /// - Throws: a 400 `Problem` if it does not fit the section.
    package static func decode(_ text: String, _ section: Section) throws(Problem) -> RecordKey {
        if section.keyCount == 0 {
            guard let offset = UInt32(text) else { throw malformed("it is not a number of a record") }
            return RecordKey([.integer(Int128(offset))])
        }
        var values: [Value] = []
        for (plain, column) in zip(try split(text, of: section), section.columns) {
            do {
                let scalar: Scalar = column.type == .boolean ? boolean(plain) : .text(plain)
                values.append(try column.type.accept(scalar))
            } catch {
                throw malformed("the part for column type \(column.type.name) \(error.reason)")
            }
        }
        return RecordKey(values)
    }

    private static func boolean(_ text: String) -> Scalar {
        if ["true", "1"].containsExactly(text) { return .boolean(true) }
        return ["false", "0"].containsExactly(text) ? .boolean(false) : .text(text)
    }

    private static func malformed(_ why: String) -> Problem {
        Problem(.malformedID, detail: "The id is not a key: \(why).")
    }

    /// Decodes percent-encoding, or returns nil if an escape is broken or the bytes are not UTF-8.
    package static func percentDecoded(_ text: some Sequence<UInt8>) -> String? {
        // Most texts are plain ASCII.
        let plain = text.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 < 128 && $0 != UInt8(ascii: "%") } ? String(decoding: bytes, as: UTF8.self) : nil
        }
        if let plain, let plain { return plain }
        var out: [UInt8] = []
        var bytes = text.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                out.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(digit), let low = bytes.next().flatMap(digit) else { return nil }
            out.append(high << 4 | low)
        }
        return String(validating: out, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}
