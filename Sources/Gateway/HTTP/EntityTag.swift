internal import Crypto
import MergeCore
import MergeWire

/// Entity tags from the hash of a body (RFC 9110 section 8.8.3).
enum EntityTag {
    static func of(_ body: [UInt8]) -> String {
        "\"" + Hex.encode(SHA256.hash(data: body).prefix(16)) + "\""
    }

    /// Returns true if the header `If-None-Match` contains a tag, by weak comparison (RFC 9110 section 13.1.2).
    static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").map(\.trimmingSpaces).contains { entry in
            entry == "*" || entry == tag || entry == "W/" + tag
        }
    }
}
