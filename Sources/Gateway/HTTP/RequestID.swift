import Synchronization

/// Names requests in the log and in their answers: a random part for the process, and a number.
///
/// Of 15 characters at most for the first millions of requests, which a `String` holds without memory of its own.
enum RequestID {
    private static let process = String(UInt64.random(in: 1 << 28..<1 << 32), radix: 16) + "-"
    private static let last = Atomic<UInt64>(0)

    static func next() -> String {
        process + String(last.wrappingAdd(1, ordering: .relaxed).newValue, radix: 16)
    }
}
