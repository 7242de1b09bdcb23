import NIOHTTP1

/// The headers of a request as they arrived.
///
/// This is the one place where they are read. Hummingbird's own collection of them indexes every name of every request
/// before it finds the first, so it stays empty.
struct RequestHeaders: Sendable {
    private let fields: HTTPHeaders

    init(_ fields: HTTPHeaders = [:]) {
        self.fields = fields
    }

    /// The value of a header in ASCII, as all that HTTP itself knows are; any other byte reads as a question mark.
    ///
    /// - Parameter name: in lower case; any case of it is found.
    subscript(name: String) -> String? { text(name).map(Self.ascii) }

    /// Counts how often a header stands.
    func count(_ name: String) -> Int { fields.count(where: { Self.isSame($0.name, name) }) }

    static func ascii(_ value: String) -> String {
        if value.utf8.allSatisfy({ $0 < 0x80 }) { return value }
        return String(decoding: value.utf8.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// The value of a header that may hold any text; several of one name are one list (RFC 9110 section 5.3).
    ///
    /// - Parameter name: in lower case; any case of it is found.
    func text(_ name: String) -> String? {
        var found: String?
        for (other, value) in fields where Self.isSame(other, name) {
            found = found.map { $0 + ", " + value } ?? value
        }
        return found
    }

    /// Names of headers are ASCII.
    private static func isSame(_ name: String, _ lowercased: String) -> Bool {
        let (name, lowercased) = (name.utf8, lowercased.utf8)
        guard name.count == lowercased.count else { return false }
        return zip(name, lowercased).allSatisfy { byte, wanted in
            byte == wanted || (byte | 0x20 == wanted && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte))
        }
    }
}
