/// The path to a JSON value during a descent (RFC 6901).
struct JSONPointer {
    private var names: [String] = []
    /// The approximate length of the pointer: the names, with a slash before each.
    private(set) var byteCount = 0

    mutating func append(_ name: String) {
        names.append(name)
        byteCount += name.utf8.count + 1
    }

    mutating func removeLast() { byteCount -= names.removeLast().utf8.count + 1 }

    /// The pointer, with `~` and `/` escaped (section 3).
    var text: String {
        var bytes: [UInt8] = []
        for name in names {
            bytes.append(UInt8(ascii: "/"))
            for byte in name.utf8 {
                switch byte {
                case UInt8(ascii: "~"): bytes.append(contentsOf: "~0".utf8)
                case UInt8(ascii: "/"): bytes.append(contentsOf: "~1".utf8)
                default: bytes.append(byte)
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
