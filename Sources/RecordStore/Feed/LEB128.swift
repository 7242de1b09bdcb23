/// Numbers in as few bytes as possible (DWARF 5, section 7.6), and bytes with their length.
enum LEB128 {
    static func append(_ number: Int, to out: inout [UInt8]) {
        var rest = UInt(bitPattern: number)
        while rest >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(rest))
    }

    static func append(_ text: String, to out: inout [UInt8]) {
        append(text.utf8.count, to: &out)
        out.append(contentsOf: text.utf8)
    }

    /// Distinguishes nil from no bytes.
    static func append(_ bytes: [UInt8]?, to out: inout [UInt8]) {
        append(bytes.map { $0.count + 1 } ?? 0, to: &out)
        out += bytes ?? []
    }

    struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func number() -> Int? {
            var number: UInt = 0
            var shift: UInt = 0
            while let byte = rest.popFirst(), shift < 63 {
                number |= UInt(byte & 0x7F) << shift
                if byte < 0x80 { return Int(exactly: number) }
                shift += 7
            }
            return nil
        }

        mutating func text() -> String? { number().flatMap { text(of: $0) } }

        mutating func text(of count: Int) -> String? {
            bytes(count).flatMap { String(validating: $0, as: UTF8.self) }
        }

        /// The outer value is nil if too few bytes are left.
        mutating func optionalBytes() -> [UInt8]?? {
            guard let mark = number() else { return nil }
            guard mark > 0 else { return .some(nil) }
            return bytes(mark - 1).map { Array($0) }
        }

        private mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
            guard count >= 0, count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
    }
}
