import NIOHTTP1

/// The headers of a request as they arrived.
///
/// This is the one place where they are read. Hummingbird's own collection of them indexes every name of every request
/// before it finds the first, so it stays empty.
struct RequestHeaders: Sendable {
    /// An array of their own: to go through NIO's collection costs more than to copy it once.
    private let fields: [(name: String, value: String)]

    init(_ fields: HTTPHeaders = [:]) {
        self.fields = fields.map { $0 }
    }

    /// The value of a header in ASCII, as all that HTTP itself knows are; any other byte reads as a question mark.
    ///
    /// - Parameter name: in lower case; any case of it is found.
    subscript(name: String) -> String? { text(name).map(Self.ascii) }

    /// Counts how often a header stands.
    func count(_ name: String) -> Int {
        fields.withUnsafeBufferPointer { fields in
            fields.indices.reduce(0) { $0 + (Self.isSame(fields[$1].name, name) ? 1 : 0) }
        }
    }

    static func ascii(_ value: String) -> String {
        if value.isASCII { return value }
        return String(decoding: value.utf8.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// The value of a header that may hold any text; several of one name are one list (RFC 9110 section 5.3).
    ///
    /// - Parameter name: in lower case; any case of it is found.
    func text(_ name: String) -> String? {
        // By places, since nothing of the others is then counted as used.
        fields.withUnsafeBufferPointer { fields in
            var found: String?
            for place in fields.indices where Self.isSame(fields[place].name, name) {
                let value = Self.withoutBlanks(fields[place].value)
                found = found.map { $0 + ", " + value } ?? value
            }
            return found
        }
    }

    /// A value without the blanks behind it, which are not part of it (RFC 9110 section 5.5); NIO takes those before it.
    private static func withoutBlanks(_ value: String) -> String {
        guard let last = value.utf8.last, last == 0x20 || last == 0x09 else { return value }
        let end = value.utf8.lastIndex { $0 != 0x20 && $0 != 0x09 }
        return end.map { String(value[...$0]) } ?? ""
    }

    /// Names of headers are ASCII.
    private static func isSame(_ name: String, _ lowercased: String) -> Bool {
        guard name.utf8.count == lowercased.utf8.count else { return false }
        return name.utf8.withContiguousStorageIfAvailable { name in
            lowercased.utf8.withContiguousStorageIfAvailable { wanted in
                name.indices.allSatisfy { name[$0] == wanted[$0] || isCapital(name[$0], of: wanted[$0]) }
            } ?? false
        } ?? zip(name.utf8, lowercased.utf8).allSatisfy { $0 == $1 || isCapital($0, of: $1) }
    }

    private static func isCapital(_ byte: UInt8, of lowercased: UInt8) -> Bool {
        byte | 0x20 == lowercased && UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }
}

extension String {
    /// Every byte of it is ASCII.
    var isASCII: Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 < 0x80 } } ?? utf8.allSatisfy { $0 < 0x80 }
    }
}
