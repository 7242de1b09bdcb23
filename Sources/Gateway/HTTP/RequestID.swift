import Synchronization

/// The id of a request, which connects its answer, its log lines and its journal entries.
enum RequestID {
    private static let process = String(UInt64.random(in: 1 << 28..<1 << 32), radix: 16) + "-"
    private static let last = Atomic<UInt64>(0)
    private static let lengths = 1...128

    /// Returns the id that the client sent in `X-Request-ID`; a new one if it sent none that can be used.
    static func of(_ headers: RequestHeaders) -> String {
        guard let sent = headers.text("x-request-id"), lengths.contains(sent.utf8.count),
            // Only visible characters of ASCII, so that an id is one word of a log line.
            sent.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return next() }
        return sent
    }

    /// Returns a new id: a random part of the process, and a number.
    ///
    /// The first millions of ids fit into a `String` without an allocation.
    static func next() -> String {
        process + String(last.wrappingAdd(1, ordering: .relaxed).newValue, radix: 16)
    }
}
