/// The pieces that a text is cut into before it is compared.
///
/// All bounds are offsets into UTF-8 bytes: to Swift `"\r\n"` is one `Character`, and canonically equivalent texts are
/// equal, and both would lose changes here.
enum TextUnit {
    case line
    case word

    /// Where the pieces of a part of a text begin, and last where it ends.
    func bounds(of range: Range<Int>, in bytes: [UInt8]) -> [Int] {
        switch self {
        case .line: Self.lines(range, bytes)
        case .word: Self.words(range, bytes)
        }
    }

    /// Returns true where two pieces that become neighbours remain two: no line runs on into the next one, no words
    /// grow together and no grapheme cluster is cut or made anew.
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
    /// other grapheme cluster.
    private static func words(_ range: Range<Int>, _ bytes: [UInt8]) -> [Int] {
        var cutter = WordCutter()
        var index = range.lowerBound
        bytes.withUnsafeBufferPointer { bytes in
            while index < range.upperBound {
                let next = index + 1
                if bytes[index] < 0x80, next == range.upperBound || bytes[next] < 0x80 {
                    // Between two ASCII characters lies a boundary of clusters, but for "\r\n".
                    let isOpen = bytes[index] == 13 && next < range.upperBound && bytes[next] == 10
                    let endsLine = bytes[index] == 10 || (bytes[index] == 13 && !isOpen)
                    cutter.add(WordKind(ascii: bytes[index]), at: index, endsLine: endsLine)
                    index = next
                } else {
                    var end = next
                    while end < range.upperBound,
                        bytes[end - 1] >= 0x80 || bytes[end] >= 0x80 || (bytes[end - 1] == 13 && bytes[end] == 10)
                    { end += 1 }
                    for character in String(decoding: bytes[index..<end], as: UTF8.self) {
                        let endsLine = character == "\n" || character == "\r\n" || character == "\r"
                        cutter.add(WordKind(character), at: index, endsLine: endsLine)
                        index += character.utf8.count
                    }
                }
            }
        }
        if !range.isEmpty { cutter.bounds.append(range.upperBound) }
        return range.isEmpty ? [range.lowerBound] : cutter.bounds
    }
}

/// The part that a grapheme cluster plays in the words of a text.
private enum WordKind {
    case letter
    case space
    case other

    init(ascii byte: UInt8) {
        switch byte {
        case 48...57, 65...90, 97...122: self = .letter
        case 9...13, 32: self = .space
        default: self = .other
        }
    }

    init(_ character: Character) {
        if character.isLetter || character.isNumber {
            self = .letter
        } else {
            self = character.isWhitespace ? .space : .other
        }
    }
}

/// Cuts where a run of one kind ends, and after the end of a line.
private struct WordCutter {
    var bounds: [Int] = []
    private var running: WordKind?

    mutating func add(_ kind: WordKind, at index: Int, endsLine: Bool) {
        if kind != running || kind == .other { bounds.append(index) }
        running = endsLine ? nil : kind
    }
}
