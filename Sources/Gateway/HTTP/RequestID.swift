import Synchronization

/// Ids of requests: a random part of the process, and a number.
///
/// The first millions of ids fit into a `String` without an allocation.
enum RequestID {
    private static let process = String(UInt64.random(in: 1 << 28..<1 << 32), radix: 16) + "-"
    private static let last = Atomic<UInt64>(0)

    static func next() -> String {
        process + String(last.wrappingAdd(1, ordering: .relaxed).newValue, radix: 16)
    }
}
