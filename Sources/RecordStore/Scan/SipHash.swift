/// SipHash-2-4, the keyed 64-bit hash by Aumasson and Bernstein, over words and bytes.
///
/// Tests compare it with the values in https://www.aumasson.jp/siphash/siphash.pdf.
package struct SipHash: Sendable {
    /// A secret key, so that an attacker cannot construct two rows with the same hash.
    package struct Key: Sendable, Hashable {
        let low: UInt64
        let high: UInt64

        /// Makes a key from its sixteen bytes as two little-endian words.
        package init(low: UInt64, high: UInt64) {
            self.low = low
            self.high = high
        }

        /// Derives a key from a secret of any length.
        package init(secret: [UInt8]) {
            let base = Key(low: 0x7363_616e_206d_6172, high: 0x6b73_206f_6620_726f)
            low = SipHash.hash(secret + [0], key: base)
            high = SipHash.hash(secret + [1], key: base)
        }
    }

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var count: UInt64 = 0

    /// Begins a hash under a key.
    package init(key: Key) {
        v0 = key.low ^ 0x736f_6d65_7073_6575
        v1 = key.high ^ 0x646f_7261_6e64_6f6d
        v2 = key.low ^ 0x6c79_6765_6e65_7261
        v3 = key.high ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }

    /// Adds eight bytes as a little-endian word.
    @inline(__always)
    package mutating func combine(_ word: UInt64) {
        count &+= 8
        compress(word)
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    /// Adds bytes, padded with zeros to whole words; the caller must hash their number first.
    @inline(__always)
    package mutating func combine(padding bytes: UnsafeRawBufferPointer) {
        var place = 0
        while place + 8 <= bytes.count {
            combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
            place += 8
        }
        if place < bytes.count { combine(Self.rest(bytes, from: place)) }
    }

    private static func rest(_ bytes: UnsafeRawBufferPointer, from place: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in place..<bytes.count { word |= UInt64(bytes[index]) << UInt64(8 * (index - place)) }
        return word
    }

    /// Returns the hash of whole words.
    package consuming func finish() -> UInt64 { finish(rest: 0, more: 0) }

    private consuming func finish(rest: UInt64, more: UInt64) -> UInt64 {
        compress(((count &+ more) & 0xFF) << 56 | rest)
        v2 ^= 0xFF
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    /// Returns the hash of bytes.
    package static func hash(_ bytes: [UInt8], key: Key) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var hash = SipHash(key: key)
            let whole = bytes.count & ~7
            hash.combine(padding: UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
            return hash.finish(rest: rest(bytes, from: whole), more: UInt64(bytes.count - whole))
        }
    }
}
