import MergeCore

/// Prepares a body for Jansson, which refuses integers beyond 64 bits and rounds long decimals.
///
/// Numbers that it could not hold exactly are set aside and stand in the text as integers at the very
/// bottom of the 64-bit range, counted up from there. A client's own number of that range is long, so it is set aside
/// like the others, and the two cannot be confused. The depth of the nesting is measured on the way, and NUL bytes, which
/// Jansson passes over behind numbers and words, are found.
struct NumberGuard {
    /// The text for Jansson; nil where the body can be parsed as it is.
    let rewritten: [UInt8]?
    let numbers: [Scalar]
    /// Counts how often the text for Jansson was moved to other memory: few times, however many numbers are set aside.
    let moves: Int

    private static let safeIntegerDigits = 18
    private static let safeDecimalDigits = 15

    /// - Throws: a 400 `Problem` where the body is nested too deep, or a byte is NUL.
    init(_ body: UnsafeRawBufferPointer, maximumDepth: Int) throws(Problem) {
        var text = GuardedText(body)
        var index = 0
        var depth = 0
        var inString = false
        while index < body.count {
            let byte = body[index]
            if byte == 0 { throw Self.nul(in: body, at: index) }
            if inString {
                if byte == UInt8(ascii: "\\"), index + 1 < body.count, body[index + 1] != 0 {
                    index += 1
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                index += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > maximumDepth {
                    throw Problem(.tooDeep, detail: "A body may be nested \(maximumDepth) levels deep.")
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "-"), 48...57:
                let end = Self.end(of: body, from: index)
                if let number = Self.setAside(body, index..<end) { text.replace(index..<end, with: number) }
                index = end
                continue
            default: break
            }
            index += 1
        }
        text.end()
        rewritten = text.numbers.isEmpty ? nil : text.bytes
        numbers = text.numbers
        moves = text.moves
    }

    /// The place is told as Jansson tells places, in characters from 1.
    private static func nul(in body: UnsafeRawBufferPointer, at index: Int) -> Problem {
        let before = body[..<index]
        let lines = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let column = String(decoding: lines.last ?? before, as: UTF8.self).unicodeScalars.count + 1
        return Problem(.notJSON, detail: "A NUL byte stands in line \(lines.count), column \(column).")
    }

    private static func end(of body: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index < body.count {
            switch body[index] {
            case 48...57, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                index += 1
            default: return index
            }
        }
        return index
    }

    /// The number, where Jansson could not hold it; nil where it can, or where it is none and Jansson will say so.
    private static func setAside(_ body: UnsafeRawBufferPointer, _ range: Range<Int>) -> Scalar? {
        var digits = 0
        var isPlain = true
        var hasPoint = false
        for byte in body[range] {
            switch byte {
            case 48...57: digits += 1
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isPlain = false
            default: break
            }
        }
        if isPlain, digits <= (hasPoint ? safeDecimalDigits : safeIntegerDigits) { return nil }
        return JSONNumber.scalar(body[range])
    }
}

/// A body in which numbers are replaced, in one pass and one piece of memory that grows.
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
        append(body[copied..<range.lowerBound])
        append(String(Int64.min + Int64(numbers.count)).utf8)
        numbers.append(number)
        copied = range.upperBound
    }

    mutating func end() {
        if !numbers.isEmpty { append(body[copied...]) }
    }

    private mutating func append(_ more: some Collection<UInt8>) {
        let place = bytes.withUnsafeBufferPointer { $0.baseAddress }
        if bytes.isEmpty { bytes.reserveCapacity(body.count + 64) }
        bytes.append(contentsOf: more)
        if bytes.withUnsafeBufferPointer({ $0.baseAddress }) != place { moves += 1 }
    }
}
