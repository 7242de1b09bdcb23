import NIOHTTP1

/// The received headers of a request.
///
/// Hummingbird's own collection is empty, because it indexes all names before the first lookup.
struct RequestHeaders: Sendable {
    /// A copy, because reading NIO's collection costs more.
    private let fields: [(name: String, value: String)]

    init(_ fields: HTTPHeaders = [:]) {
        self.fields = fields.map { $0 }
    }

    /// The value of a header in ASCII, with a question mark for each other byte.
    ///
    /// - Parameter name: in lower case; it matches any case.
    subscript(name: String) -> String? { text(name).map(Self.ascii) }

    func count(_ name: String) -> Int {
        fields.withUnsafeBufferPointer { fields in
            fields.indices.reduce(0) { $0 + (Self.isSame(fields[$1].name, lowercased: name) ? 1 : 0) }
        }
    }

    static func ascii(_ value: String) -> String {
        if value.isASCII { return value }
        return String(decoding: value.utf8.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// The value of a header that may contain any text.
    ///
    /// Repeated headers form a list (RFC 9110 section 5.3).
    ///
    /// - Parameter name: in lower case; it matches any case.
    func text(_ name: String) -> String? {
        // Indices avoid reference counting of the other fields.
        fields.withUnsafeBufferPointer { fields in
            var found: String?
            for place in fields.indices where Self.isSame(fields[place].name, lowercased: name) {
                let value = Self.withoutBlanks(fields[place].value)
                found = found.map { $0 + ", " + value } ?? value
            }
            return found
        }
    }

    /// Removes spaces at the end of a value (RFC 9110 section 5.5).
    ///
    /// NIO removes those at its start.
    private static func withoutBlanks(_ value: String) -> String {
        guard let last = value.utf8.last, last == 0x20 || last == 0x09 else { return value }
        let end = value.utf8.lastIndex { $0 != 0x20 && $0 != 0x09 }
        return end.map { String(value[...$0]) } ?? ""
    }

    /// Compares names of headers, which are ASCII.
    private static func isSame(_ name: String, lowercased: String) -> Bool {
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
    var isASCII: Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 < 0x80 } } ?? utf8.allSatisfy { $0 < 0x80 }
    }
}
