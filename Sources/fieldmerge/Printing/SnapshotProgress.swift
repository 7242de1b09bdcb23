/// Reports the progress of a snapshot.
struct SnapshotProgress {
    private var line = ProgressLine("records")
    private var records = 0

    /// Counts some lines.
    ///
    /// - Throws: an error if standard error cannot be written.
    mutating func add(_ bytes: [UInt8], records: Int) throws {
        if self.records == 0, records == 0 { line.estimate = Self.estimate(bytes) }
        self.records += records
        try line.set(self.records)
    }

    func finish() throws { try line.finish() }

    private static func estimate(_ line: [UInt8]) -> Int? {
        let text = String(decoding: line, as: UTF8.self)
        guard let found = text.range(of: "\"records\":") else { return nil }
        return Int(text[found.upperBound...].prefix { $0.isNumber })
    }
}

extension String {
    fileprivate func range(of needle: String) -> Range<String.Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(needle) {
                return index..<self.index(index, offsetBy: needle.count)
            }
            index = self.index(after: index)
        }
        return nil
    }
}
