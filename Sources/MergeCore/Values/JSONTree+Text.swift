extension JSONTree {
    /// The value as JSON, with its members in their order.
    package var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes, isCanonical: false)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as canonical JSON: members sorted by the UTF-16 code units of their names (RFC 8785 section 3.2.3).
    package var canonicalText: String {
        var bytes: [UInt8] = []
        write(to: &bytes, isCanonical: true)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(to bytes: inout [UInt8], isCanonical: Bool) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .integer(let number):
            // RFC 8785 has only doubles, so the canonical form contains the nearest one.
            let isSafe = number.magnitude <= 1 << 53
            bytes.append(contentsOf: (isCanonical && !isSafe ? ShortestNumber.text(Double(number)) : "\(number)").utf8)
        case .double(let number): bytes.append(contentsOf: ShortestNumber.text(number).utf8)
        case .text(let text): JSONQuoting.append(text.string, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes, isCanonical: isCanonical)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            let list =
                isCanonical
                ? members.list.sorted { $0.name.string.utf16.lexicographicallyPrecedes($1.name.string.utf16) }
                : members.list
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in list.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONQuoting.append(member.name.string, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes, isCanonical: isCanonical)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
