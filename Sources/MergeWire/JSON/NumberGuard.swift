import MergeCore

/// Prepares a body for Jansson, which refuses integers beyond 64 bits and rounds long decimals.
///
/// Numbers that Jansson cannot store exactly are saved and replaced by integers from the lowest 64-bit integer upwards.
/// A client's own number of this range is long, so it is saved too, and the two are never confused. The same pass
/// checks the depth. It also finds NUL bytes, which Jansson ignores after numbers and words.
struct NumberGuard {
    /// The text for Jansson, or nil if the body needs no change.
    let rewritten: [UInt8]?
    let numbers: [Scalar]
    /// The number of reallocations of the text, which stays small for any number of replacements.
    let moves: Int

    private static let safeIntegerDigits = 18
    private static let safeDecimalDigits = 15

    /// Scans a body.
    ///
    /// - Throws: a 400 `Problem` if the body is too deep or contains a NUL byte.
    init(_ body: UnsafeRawBufferPointer, maximumDepth: Int) throws(Problem) {
        var text = GuardedText(body)
        // Comparisons of bytes through a pointer are fast in every build.
        if let bytes = body.bindMemory(to: UInt8.self).baseAddress {
            var index = 0
            var depth = 0
            while index < body.count {
                let byte = bytes[index]
                if byte == 0x22 {
                    index = Self.endOfString(bytes, from: index + 1, to: body.count)
                    if index < body.count, bytes[index] == 0 { throw Self.nul(in: body, at: index) }
                } else if byte == 0x2D || (byte >= 0x30 && byte <= 0x39) {
                    let end = Self.end(of: bytes, from: index, to: body.count)
                    if let number = Self.setAside(bytes, range: index..<end) { text.replace(index..<end, with: number) }
                    index = end
                    continue
                } else if byte == 0x7B || byte == 0x5B {
                    depth += 1
                    if depth > maximumDepth {
                        throw Problem(.tooDeep, detail: "A body may have \(maximumDepth) levels of nesting at most.")
                    }
                } else if byte == 0x7D || byte == 0x5D {
                    depth -= 1
                } else if byte == 0 {
                    throw Self.nul(in: body, at: index)
                }
                index += 1
            }
        }
        text.end()
        rewritten = text.numbers.isEmpty ? nil : text.bytes
        numbers = text.numbers
        moves = text.moves
    }

    /// Returns the problem of a NUL byte, with Jansson's line and column, which count characters from 1.
    private static func nul(in body: UnsafeRawBufferPointer, at index: Int) -> Problem {
        let before = body[..<index]
        let lines = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let column = String(decoding: lines.last ?? before, as: UTF8.self).unicodeScalars.count + 1
        return Problem(.notJSON, detail: "The body contains a NUL byte in line \(lines.count), column \(column).")
    }

    /// Returns the position of a string's closing quote, of a NUL before it, or of the body's end.
    private static func endOfString(_ bytes: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end {
            let byte = bytes[index]
            if byte == 0x22 || byte == 0 { return index }
            index += byte == 0x5C && index + 1 < end && bytes[index + 1] != 0 ? 2 : 1
        }
        return end
    }

    private static func end(of bytes: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end {
            let byte = bytes[index]
            let isDigit = byte >= 0x30 && byte <= 0x39
            // A sign, a point or an exponent.
            guard isDigit || byte == 0x2D || byte == 0x2B || byte == 0x2E || byte == 0x65 || byte == 0x45 else {
                return index
            }
            index += 1
        }
        return end
    }

    /// Returns a number that Jansson cannot store, or nil if it can, or if it reports the error itself.
    private static func setAside(_ bytes: UnsafePointer<UInt8>, range: Range<Int>) -> Scalar? {
        var digits = 0
        var isPlain = true
        var hasPoint = false
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            if byte >= 0x30 && byte <= 0x39 {
                digits += 1
            } else if byte == 0x2E {
                hasPoint = true
            } else if byte == 0x65 || byte == 0x45 {
                isPlain = false
            }
            index += 1
        }
        if isPlain, digits <= (hasPoint ? safeDecimalDigits : safeIntegerDigits) { return nil }
        return JSONNumber.scalar(bytes: UnsafeBufferPointer(start: bytes + range.lowerBound, count: range.count))
    }
}

/// A body with replaced numbers, built in one pass and one buffer.
private struct GuardedText {
    private let body: UnsafeRawBufferPointer
    private(set) var bytes: [UInt8] = []
    private(set) var numbers: [Scalar] = []
    private(set) var moves = 0
    private var copied = 0

    init(_ body: UnsafeRawBufferPointer) {
        self.body = body
    }

    mutating func replace(_ range: Range<Int>, with number: Scalar) {
        append(UnsafeRawBufferPointer(rebasing: body[copied..<range.lowerBound]))
        var name = String(Int64.min + Int64(numbers.count))
        name.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        numbers.append(number)
        copied = range.upperBound
    }

    mutating func end() {
        if !numbers.isEmpty { append(UnsafeRawBufferPointer(rebasing: body[copied...])) }
    }

    private mutating func append(_ more: UnsafeRawBufferPointer) {
        let place = bytes.withUnsafeBufferPointer { $0.baseAddress }
        if bytes.isEmpty { bytes.reserveCapacity(body.count + 64) }
        bytes.append(contentsOf: more.bindMemory(to: UInt8.self))
        if bytes.withUnsafeBufferPointer({ $0.baseAddress }) != place { moves += 1 }
    }
}
