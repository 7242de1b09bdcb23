/// The spelling of UUIDs, whose bytes are in the order of the text in the log.
enum StoredUUID {
    /// - Parameter bytes: sixteen bytes.
    static func text(_ bytes: [UInt8]) -> String {
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return [digits.prefix(4), digits[4..<6], digits[6..<8], digits[8..<10], digits[10...]]
            .map { $0.joined() }.joined(separator: "-")
    }
}
