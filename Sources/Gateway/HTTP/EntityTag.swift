internal import Crypto
import MergeCore
import MergeWire

/// Names of a body by its content (RFC 9110 section 8.8.3).
enum EntityTag {
    /// Returns the tag of a body.
    static func of(_ body: [UInt8]) -> String {
        "\"" + Hex.encode(SHA256.hash(data: body).prefix(16)) + "\""
    }

    /// Returns true where the header `If-None-Match` names a tag: the weak comparison of RFC 9110 section 13.1.2.
    ///
    /// - Parameter tag: that of the body at hand.
    static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").map(\.trimmingSpaces).contains { entry in
            entry == "*" || entry == tag || entry == "W/" + tag
        }
    }
}
