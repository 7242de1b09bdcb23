/// Packs request bodies as gzip (RFC 1951, RFC 1952) with the fixed codes, so that no C library is needed.
enum Gzip {
    private static let window = 32_768
    private static let longestMatch = 258
    private static let shortestMatch = 4

    /// Returns bytes that every gzip reader unpacks.
    static func pack(_ bytes: [UInt8]) -> [UInt8] {
        var bits = BitWriter(capacity: bytes.count / 2)
        bits.out = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        bits.append(1, count: 1)  // the last block
        bits.append(1, count: 2)  // with fixed codes
        bytes.withUnsafeBufferPointer { deflate($0, to: &bits) }
        bits.appendSymbol(256)
        bits.flush()
        for word in [crc(bytes), UInt32(truncatingIfNeeded: bytes.count)] {
            for shift in [0, 8, 16, 24] { bits.out.append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
        }
        return bits.out
    }

    private static func deflate(_ bytes: UnsafeBufferPointer<UInt8>, to bits: inout BitWriter) {
        var latest = [Int32](repeating: -1, count: 1 << 15)
        var index = 0
        while index < bytes.count {
            guard index + shortestMatch <= bytes.count else {
                bits.appendSymbol(Int(bytes[index]))
                index += 1
                continue
            }
            let slot = hash(bytes, index: index)
            let found = Int(latest[slot])
            latest[slot] = Int32(index)
            let length = found >= 0 && index - found <= window ? matchLength(in: bytes, earlier: found, at: index) : 0
            if length < shortestMatch {
                bits.appendSymbol(Int(bytes[index]))
                index += 1
            } else {
                bits.appendMatch(length: length, distance: index - found)
                index += length
            }
        }
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, index: Int) -> Int {
        let word =
            UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
            | UInt32(bytes[index + 3]) << 24
        return Int((word &* 0x9E37_79B1) >> 17)
    }

    private static func matchLength(in bytes: UnsafeBufferPointer<UInt8>, earlier: Int, at index: Int) -> Int {
        let most = min(longestMatch, bytes.count - index)
        var length = 0
        while length < most, bytes[earlier + length] == bytes[index + length] { length += 1 }
        return length
    }

    private static let crcTable: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { word, _ in word & 1 == 1 ? word >> 1 ^ 0xEDB8_8320 : word >> 1 }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crc, byte in crc >> 8 ^ crcTable[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] }
    }
}

/// Bits of a block, the lowest one first.
private struct BitWriter {
    var out: [UInt8] = []
    private var pending: UInt64 = 0
    private var count: UInt64 = 0

    init(capacity: Int) { out.reserveCapacity(capacity) }

    mutating func append(_ bits: Int, count more: Int) {
        pending |= UInt64(bits) << count
        count += UInt64(more)
        while count >= 8 {
            out.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
    }

    mutating func flush() {
        if count > 0 { out.append(UInt8(truncatingIfNeeded: pending)) }
        (pending, count) = (0, 0)
    }

    /// Appends a code, the highest bit first.
    private mutating func appendCode(_ code: Int, count: Int) {
        var reversed = 0
        for bit in 0..<count where code >> bit & 1 == 1 { reversed |= 1 << (count - 1 - bit) }
        append(reversed, count: count)
    }

    mutating func appendSymbol(_ symbol: Int) {
        switch symbol {
        case ..<144: appendCode(0x30 + symbol, count: 8)
        case ..<256: appendCode(0x190 + symbol - 144, count: 9)
        case ..<280: appendCode(symbol - 256, count: 7)
        default: appendCode(0xC0 + symbol - 280, count: 8)
        }
    }

    mutating func appendMatch(length: Int, distance: Int) {
        let (lengthCode, lengthExtra) = Self.code(of: length, in: Self.lengths)
        appendSymbol(257 + lengthCode)
        let lengthBits = lengthCode < 8 || lengthCode == 28 ? 0 : lengthCode / 4 - 1
        append(lengthExtra, count: lengthBits)
        let (distanceCode, distanceExtra) = Self.code(of: distance, in: Self.distances)
        appendCode(distanceCode, count: 5)
        append(distanceExtra, count: distanceCode < 4 ? 0 : distanceCode / 2 - 1)
    }

    private static func code(of value: Int, in bases: [Int]) -> (code: Int, extra: Int) {
        let code = (bases.firstIndex { $0 > value } ?? bases.count) - 1
        return (code, value - bases[code])
    }

    private static let lengths = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let distances = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537, 2_049, 3_073,
        4_097, 6_145, 8_193, 12_289, 16_385, 24_577,
    ]
}
