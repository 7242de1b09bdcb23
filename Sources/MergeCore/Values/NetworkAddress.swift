/// An IPv4 or IPv6 address, equal in any spelling.
package struct NetworkAddress: Sendable, Hashable {
    /// The 4 or 16 bytes in network order.
    package let bytes: [UInt8]
    /// The spelling of the database or the client.
    package let text: String

    package static func == (a: NetworkAddress, b: NetworkAddress) -> Bool { a.bytes == b.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// The maximum length of an address, so that longer texts are refused at once.
    private static let longest = 45

    /// Reads an address such as `192.0.2.1`, without leading zeros.
    package init?(version4 text: String) {
        guard text.utf8.count <= Self.longest, let bytes = Self.version4(text[...]) else { return nil }
        self.bytes = bytes
        self.text = text
    }

    /// Reads the forms of RFC 4291 section 2.2, without a zone.
    package init?(version6 text: String) {
        guard text.utf8.count <= Self.longest, let bytes = Self.version6(text) else { return nil }
        self.bytes = bytes
        self.text = text
    }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            let isPlain = (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { $0 >= 48 && $0 <= 57 }
            guard isPlain, part == "0" || !part.hasPrefix("0"), let byte = UInt8(part) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func version6(_ text: String) -> [UInt8]? {
        let halves = text.splitOnDoubleColon
        guard halves.count <= 2, let head = groups(halves[0], isLast: halves.count == 1) else { return nil }
        guard halves.count == 2 else { return head.count == 16 ? head : nil }
        guard let tail = groups(halves[1], isLast: true), head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: Substring, isLast: Bool) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.contains("."), isLast, index == parts.count - 1 {
                guard let quad = version4(part) else { return nil }
                bytes += quad
            } else {
                let isHex = (1...4).contains(part.utf8.count) && part.allSatisfy { $0.isHexDigit && $0.isASCII }
                guard isHex, let number = UInt16(part, radix: 16) else { return nil }
                bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
            }
        }
        return bytes
    }
}

extension String {
    /// The parts between each `::`.
    fileprivate var splitOnDoubleColon: [Substring] {
        var parts: [Substring] = []
        var rest = self[...]
        while let mark = rest.firstRange(of: "::") {
            parts.append(rest[..<mark.lowerBound])
            rest = rest[mark.upperBound...]
        }
        return parts + [rest]
    }
}
