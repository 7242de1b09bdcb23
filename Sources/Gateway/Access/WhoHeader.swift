import HTTPTypes

/// The header `X-Who`: the user of the token in answers, the expected user in requests.
///
/// Its value is percent-encoded UTF-8 (RFC 3986 section 2.1), so a client can send it back unchanged.
enum WhoHeader {
    static let lowercased = "x-who"
    static let name = HTTPField.Name("X-Who")

    static func value(of owner: String) -> String {
        var value = ""
        for byte in owner.utf8 {
            if isPlain(byte) {
                value.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                value += byte < 0x10 ? "%0" : "%"
                value += String(byte, radix: 16, uppercase: true)
            }
        }
        return value
    }

    /// Returns true for the unreserved characters of RFC 3986.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
