import MergeCore

extension JSONNode {
    /// The value as JSON without white space, with its members in their order.
    var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(to bytes: inout [UInt8]) {
        if isArray {
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        } else if isObject {
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONQuoting.append(member.name.string, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        } else {
            switch scalar {
            case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
            case .integer(let number): bytes.append(contentsOf: String(number).utf8)
            case .number(let number): bytes.append(contentsOf: number.text.utf8)
            case .vast(let number): bytes.append(contentsOf: number.text.utf8)
            case .text(let text): JSONQuoting.append(text, to: &bytes)
            case .null, .array, .object: bytes.append(contentsOf: "null".utf8)
            }
        }
    }
}
