/// Writes the merged text and counts its lines.
struct TextWriter {
    private let source: [UInt8]
    private var bytes: [UInt8] = []
    private var parts: [TextPart] = []
    private var line = 1

    init(bytes: [UInt8]) {
        source = bytes
    }

    mutating func append(_ piece: TextPiece) {
        // One part over the limit is enough to detect too many parts.
        if let conflict = piece.conflict, parts.count <= PartLimits.count {
            parts.append(
                TextPart(
                    line: line, base: text(conflict.base), edited: text(conflict.edited),
                    current: text(conflict.current), written: text(piece.bytes)))
        }
        for index in piece.bytes {
            let byte = source[index]
            if byte == 13 || (byte == 10 && bytes.last != 13) { line += 1 }
            bytes.append(byte)
        }
    }

    func result() -> TextMergeResult {
        TextMergeResult(text: String(decoding: bytes, as: UTF8.self), parts: parts)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: source[range], as: UTF8.self) }
}
