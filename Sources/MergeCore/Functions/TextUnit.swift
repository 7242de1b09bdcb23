/// The pieces that a text is cut into before it is compared.
///
/// All bounds are offsets into UTF-8 bytes, and text is cut at scalars: to Swift `"\r\n"` is one `Character`, and canonically
/// equivalent texts are equal, and both would lose changes here; and to compare two takes it time in the square of a run
/// of marks.
enum TextUnit {
    case line
    case word

    /// Returns the places at which the pieces of a part of a text begin, and last that at which it ends.
    func bounds(of range: Range<Int>, in bytes: [UInt8]) -> [Int] {
        switch self {
        case .line: Self.lines(range, bytes)
        case .word: Self.words(range, bytes)
        }
    }

    /// Returns true where two pieces that become neighbours remain two: no line runs on into the next one, no words
    /// grow together and no mark comes to another character.
    func parts(_ left: Range<Int>, _ right: Range<Int>, in bytes: [UInt8]) -> Bool {
        let joined = Array(bytes[left]) + bytes[right]
        return bounds(of: joined.indices, in: joined).contains(left.count)
    }

    /// A line ends after `\r\n`, `\n` or a lone `\r`, which belongs to it; the last one may lack its end.
    private static func lines(_ range: Range<Int>, _ bytes: [UInt8]) -> [Int] {
        var bounds = [range.lowerBound]
        bytes.withUnsafeBufferPointer { bytes in
            for index in range where bytes[index] == 10 || bytes[index] == 13 {
                let next = index + 1
                if next < range.upperBound, !(bytes[index] == 13 && bytes[next] == 10) { bounds.append(next) }
            }
        }
        if !range.isEmpty { bounds.append(range.upperBound) }
        return bounds
    }

    /// A word is a run of letters and digits with their marks, a run of white space up to the end of its line, or any
    /// other character with what belongs to it.
    private static func words(_ range: Range<Int>, _ bytes: [UInt8]) -> [Int] {
        var cutter = WordCutter()
        var index = range.lowerBound
        bytes.withUnsafeBufferPointer { bytes in
            let text = UnsafeBufferPointer(rebasing: bytes[range])
            var decoder = UTF8Scalars(text)
            while let (scalar, count) = decoder.next() {
                cutter.add(scalar, at: index, next: decoder.byte)
                index += count
            }
        }
        if !range.isEmpty { cutter.bounds.append(range.upperBound) }
        return range.isEmpty ? [range.lowerBound] : cutter.bounds
    }
}

/// Reads the scalars of a text one after the other, with the bytes of each.
private struct UTF8Scalars {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The byte that comes next.
    var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The text comes from a `String`, so it is sound; whatever stands on its own is one scalar all the same.
    mutating func next() -> (Unicode.Scalar, Int)? {
        guard let first = byte else { return nil }
        let start = index
        index += 1
        if first < 0x80 { return (Unicode.Scalar(first), 1) }
        var value = UInt32(first) & (first >= 0xF0 ? 0x07 : first >= 0xE0 ? 0x0F : 0x1F)
        while let more = byte, more & 0xC0 == 0x80 {
            value = value << 6 | UInt32(more & 0x3F)
            index += 1
        }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", index - start)
    }
}

/// The part that a character plays in the words of a text.
private enum WordKind {
    case letter
    case space
    case other

    init(_ scalar: Unicode.Scalar) {
        if scalar.value < 0x80 {
            self.init(ascii: UInt8(scalar.value))
        } else if scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
            self = .letter
        } else {
            self = scalar.properties.isWhitespace ? .space : .other
        }
    }

    private init(ascii byte: UInt8) {
        switch byte {
        case 48...57, 65...90, 97...122: self = .letter
        case 9...13, 32: self = .space
        default: self = .other
        }
    }
}

/// Cuts where a run of one kind ends, after the end of a line, and never before what belongs to the character before.
///
/// It looks at each scalar once and remembers of those before it no more than a few flags, so that no run of marks,
/// however long, costs more than its length.
private struct WordCutter {
    var bounds: [Int] = []
    private var running: WordKind?
    private var hasCharacter = false
    private var isJoined = false
    private var isHalfFlag = false

    mutating func add(_ scalar: Unicode.Scalar, at index: Int, next: UInt8?) {
        let isMark = Self.isMark(scalar)
        let isFlag = (0x1F1E6...0x1F1FF).contains(scalar.value)
        defer {
            isJoined = scalar.value == 0x200D && hasCharacter
            isHalfFlag = isFlag && !isHalfFlag
        }
        if hasCharacter, isMark || (isJoined && scalar.value >= 0x80) || (isFlag && isHalfFlag) {
            // What follows a letter may belong to its word.
            if WordKind(scalar) == .letter { running = .letter }
            return
        }
        let kind = WordKind(scalar)
        if kind != running || kind == .other { bounds.append(index) }
        let endsLine = scalar == "\n" || (scalar == "\r" && next != 10)
        running = endsLine ? nil : kind
        // A control character has no marks of its own.
        hasCharacter = scalar.value >= 0x20 && scalar.value != 0x7F
    }

    /// Marks, joiners, variation selectors and the tones of faces belong to the character before them.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 { return false }
        return scalar.properties.isGraphemeExtend || scalar.value == 0x200D || scalar.properties.isEmojiModifier
            || scalar.properties.generalCategory == .spacingMark
    }
}
