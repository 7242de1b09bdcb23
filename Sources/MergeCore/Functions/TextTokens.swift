/// A part of a text as a sequence of tokens, each with a number for its bytes.
struct TextTokens {
    /// The offsets of the tokens' starts and of the last token's end.
    let bounds: [Int]
    let ids: [Int32]

    func bytes(_ tokens: Range<Int>) -> Range<Int> { bounds[tokens.lowerBound]..<bounds[tokens.upperBound] }
}

/// Assigns equal numbers to tokens with equal bytes, in the order of their first occurrence.
struct TokenInterner {
    private let bytes: [UInt8]
    private var slots: [Int32]
    private var known: [Known] = []

    private struct Known {
        let start: Int
        let count: Int
        let hash: Int
    }

    /// Creates an interner for at most `capacity` tokens.
    init(bytes: [UInt8], capacity: Int) {
        self.bytes = bytes
        var size = 8
        while size < capacity * 2 { size *= 2 }
        slots = [Int32](repeating: -1, count: size)
    }

    var count: Int { known.count }

    /// For each number, true if the token contains a letter, a digit or a character outside ASCII.
    ///
    /// Other tokens are blank lines, white space and punctuation, which occur everywhere.
    var areWords: [Bool] {
        known.map { token in bytes[token.start..<token.start + token.count].contains(where: Self.isInWord) }
    }

    private static func isInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, 0x80...: true
        default: false
        }
    }

    mutating func tokens(_ bounds: [Int]) -> TextTokens {
        var ids: [Int32] = []
        ids.reserveCapacity(bounds.count)
        for index in 0..<bounds.count - 1 { ids.append(id(bounds[index], count: bounds[index + 1] - bounds[index])) }
        return TextTokens(bounds: bounds, ids: ids)
    }

    private mutating func id(_ start: Int, count: Int) -> Int32 {
        let hash = hash(start, count: count)
        let mask = slots.count - 1
        var slot = hash & mask
        while slots[slot] >= 0 {
            let entry = known[Int(slots[slot])]
            if entry.hash == hash, entry.count == count, isEqual(entry.start, to: start, count: count) {
                return slots[slot]
            }
            slot = (slot + 1) & mask
        }
        let id = Int32(known.count)
        slots[slot] = id
        known.append(Known(start: start, count: count, hash: hash))
        return id
    }

    /// The seed differs in each process, so that no text can be prepared whose tokens all collide.
    private func hash(_ start: Int, count: Int) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
        return hasher.finalize()
    }

    private func isEqual(_ a: Int, to b: Int, count: Int) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            for offset in 0..<count where bytes[a + offset] != bytes[b + offset] { return false }
            return true
        }
    }
}
