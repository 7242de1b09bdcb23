/// The reason why bytes of a binary log cannot be decoded.
enum BinlogFault: Error, Sendable, Hashable {
    /// The bytes end too early, or a length or number is impossible.
    case malformed
    /// The checksum differs from the bytes.
    case checksum
    /// The event inflates to more bytes than `BinlogInflation.longest`.
    case tooLong
    /// The event belongs to a format that this decoder does not support.
    case unsupported

    /// The fault in words, for operators.
    var sentence: String {
        switch self {
        case .malformed: "an event of the binary log is damaged"
        case .checksum: "an event of the binary log has a wrong checksum"
        case .tooLong: "an event of the binary log is too long"
        case .unsupported: "an event of the binary log has an unknown format"
        }
    }
}
