/// The members of a JSON object as the text that they were sent in, so that nothing of a value is lost on the way back.
enum RawMembers {
    static func of(_ object: String) -> [String: String] {
        let bytes = Array(object.utf8)
        var members: [String: String] = [:]
        var (depth, start) = (0, 0)
        var (isString, name) = (false, String?.none)
        func text(_ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if isString {
                if byte == UInt8(ascii: "\\") { index += 1 }
                if byte == UInt8(ascii: "\"") { isString = false }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isString = true
                case UInt8(ascii: ":") where depth == 1 && name == nil:
                    name = String(text(index).dropFirst().dropLast())
                    start = index + 1
                case UInt8(ascii: ",") where depth == 1, UInt8(ascii: "}") where depth == 1:
                    if let name { members[name] = text(index) }
                    name = nil
                    start = index + 1
                    if byte == UInt8(ascii: "}") { depth -= 1 }
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    if depth == 1 { start = index + 1 }
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
            index += 1
        }
        return members
    }
}
