import NIOCore

/// Server-sent events (WHATWG HTML, section 9.2) with a line of JSON as data.
enum EventText {
    /// Returns an event of changes.
    ///
    /// Its id is the client's new position.
    static func changes(_ data: [UInt8], feed: String, revision: Int) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(data.count + 96)
        buffer.writeString("event: changes\nid: \(feed):\(revision)\ndata: ")
        buffer.writeBytes(data)
        buffer.writeStaticString("\n\n")
        return buffer
    }

    /// Returns an event without an id.
    static func event(_ name: String, _ data: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeString("event: \(name)\ndata: ")
        buffer.writeBytes(data)
        buffer.writeStaticString("\n\n")
        return buffer
    }

    /// A comment that reveals a broken connection.
    static let heartbeat = ByteBuffer(staticString: ":\n\n")

    /// Reads the id of an event, or nil.
    static func position(_ id: String) -> (feed: String, revision: Int)? {
        guard let colon = id.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = id.utf8[id.utf8.index(after: colon)...]
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= 48 && $0 <= 57 }), let revision = Int(Substring(digits)) else {
            return nil
        }
        return (String(id[..<colon]), revision)
    }
}
