import Synchronization

/// Names requests in the log and in their answers: a random part for the process, and a number.
enum RequestID {
    private static let process = String(UInt64.random(in: 1 << 44..<1 << 48), radix: 16) + "-"
    private static let last = Atomic<UInt64>(0)

    static func next() -> String {
        process + String(last.wrappingAdd(1, ordering: .relaxed).newValue, radix: 16)
    }
}
