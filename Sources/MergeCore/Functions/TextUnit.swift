/// The unit into which a text is cut before the comparison.
///
/// All bounds are offsets into UTF-8 bytes, and cuts are between scalars. `Character` would lose changes, because it
/// joins `"\r\n"` and treats canonically equivalent texts as equal. It also compares a run of marks in quadratic time.
enum TextUnit {
    case line
    case word

    /// Returns the offsets of the pieces' starts and of the last piece's end.
    func bounds(of range: Range<Int>, in bytes: [UInt8]) -> [Int] {
        switch self {
        case .line: Self.lines(range, bytes: bytes)
        case .word: Self.words(range, bytes: bytes)
        }
    }

    /// Returns true if two pieces stay separate when they become neighbours.
    func parts(_ left: Range<Int>, _ right: Range<Int>, in bytes: [UInt8]) -> Bool {
        let joined = Array(bytes[left]) + bytes[right]
        return bounds(of: joined.indices, in: joined).contains(left.count)
    }

    /// Cuts after each `\r\n`, `\n` or lone `\r`; the last line may lack its end.
    private static func lines(_ range: Range<Int>, bytes: [UInt8]) -> [Int] {
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

    /// Cuts into runs of letters and digits, runs of white space within a line, and other single characters.
    ///
    /// Marks belong to the character before them.
    private static func words(_ range: Range<Int>, bytes: [UInt8]) -> [Int] {
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

/// Reads the scalars of a text, each with its number of bytes.
private struct UTF8Scalars {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Returns the next scalar.
    ///
    /// The text comes from a `String`, so it is valid UTF-8. Any invalid sequence would still be one scalar.
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

/// Cuts at the end of each run of one kind and of each line, never before a mark.
///
/// It keeps only a few flags, so a long run of marks costs no more than its length.
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
            // Letters after an alphabetic mark belong to the same word.
            if WordKind(scalar) == .letter { running = .letter }
            return
        }
        let kind = WordKind(scalar)
        if kind != running || kind == .other { bounds.append(index) }
        let endsLine = scalar == "\n" || (scalar == "\r" && next != 10)
        running = endsLine ? nil : kind
        // A control character has no marks.
        hasCharacter = scalar.value >= 0x20 && scalar.value != 0x7F
    }

    /// Returns true for marks, joiners, variation selectors and skin tones, which belong to the character before them.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 { return false }
        return scalar.properties.isGraphemeExtend || scalar.value == 0x200D || scalar.properties.isEmojiModifier
            || scalar.properties.generalCategory == .spacingMark
    }
}
