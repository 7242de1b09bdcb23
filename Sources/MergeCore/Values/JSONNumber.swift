/// Numbers in JSON syntax (RFC 8259 section 6).
package enum JSONNumber {
    /// Returns the exact number of a token, or nil if the token is no JSON number.
    package static func scalar(_ token: some Collection<UInt8>) -> Scalar? {
        token.withContiguousStorageIfAvailable { scalar(bytes: $0) }
            ?? Array(token).withUnsafeBufferPointer {
                scalar(bytes: $0)
            }
    }

    /// Returns the exact number of a token's bytes, or nil if they are no JSON number.
    package static func scalar(bytes: UnsafeBufferPointer<UInt8>) -> Scalar? {
        guard isWellFormed(bytes) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return ExactDecimal(text).map { .number($0) } ?? .vast(VastNumber(text))
    }

    /// Compares plain bytes for speed, because a body may consist of little but numbers.
    private static func isWellFormed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = bytes.count
        var index = 0
        func skip(_ byte: UInt8) -> Bool {
            guard index < count, bytes[index] == byte else { return false }
            index += 1
            return true
        }
        func digits() -> Int {
            let start = index
            while index < count, bytes[index] >= 0x30, bytes[index] <= 0x39 { index += 1 }
            return index - start
        }
        _ = skip(0x2D)
        let beginsWithZero = index < count && bytes[index] == 0x30
        let whole = digits()
        guard whole > 0, !beginsWithZero || whole == 1 else { return false }
        if skip(0x2E), digits() == 0 { return false }
        if skip(0x65) || skip(0x45) {
            _ = skip(0x2B) || skip(0x2D)
            guard digits() > 0 else { return false }
        }
        return index == count
    }
}
