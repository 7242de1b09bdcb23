/// The spelling of stored network addresses, as the server returns them.
enum StoredAddress {
    static func text4(_ bytes: some Sequence<UInt8>) -> String { bytes.map { String($0) }.joined(separator: ".") }

    /// Source: MariaDB, sql/sql_type_inet.cc, Inet6::to_string.
    static func text6(_ bytes: [UInt8]) -> String {
        let words = stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        let gap = longestGap(words)
        var text = ""
        var index = 0
        while index < words.count {
            if let gap, index == gap.lowerBound {
                text += gap.lowerBound == 0 ? "::" : ":"
                index = gap.upperBound
                continue
            }
            if index == 6, let gap, gap.lowerBound == 0, gap.count == 6 || gap.count == 5 && words[5] == 0xFFFF {
                return text + text4(bytes[12...])
            }
            text += String(words[index], radix: 16)
            if index < words.count - 1 { text += ":" }
            index += 1
        }
        return text
    }

    /// The first of the longest runs of at least two zero words.
    private static func longestGap(_ words: [UInt16]) -> Range<Int>? {
        var longest: Range<Int>?
        var index = 0
        while index < words.count {
            let end = words[index...].firstIndex { $0 != 0 } ?? words.count
            if end - index >= 2, end - index > longest?.count ?? 0 { longest = index..<end }
            index = max(end, index) + 1
        }
        return longest
    }
}
