import MergeCore
import RecordStore
import Synchronization

/// The keys of the pushes that run in this gateway now.
///
/// It only spares a client that repeats a push early a refusal. The database ensures that a push is applied once,
/// because it stores one answer for each key.
final class KeysInFlight: Sendable {
    /// The requests that wait for the end of the push with a key.
    private let running = Mutex<[[UInt8]: [Wait<Void>]]>([:])
    private static let patience = Duration.seconds(2)

    /// Reserves a key, unless another push with this key runs here; `end` must follow.
    func begin(_ name: [UInt8]) -> Bool {
        running.withLock { running in
            guard running[name] == nil else { return false }
            running[name] = []
            return true
        }
    }

    /// Waits until the push that runs with a key has ended, and reserves the key.
    ///
    /// - Throws: a 409 `Problem` if that push takes longer than the client should wait.
    func beginLater(_ name: [UInt8], until deadline: ContinuousClock.Instant) async throws(Problem) {
        let latest = min(deadline, .now.advanced(by: Self.patience))
        while !begin(name) {
            let wait = Wait<Void>()
            running.withLock { running in
                // The push may have ended since the check.
                if running[name]?.append(wait) == nil { wait.end(()) }
            }
            guard await wait.outcome(until: latest) != nil else {
                throw Problem(
                    .inProgress,
                    detail: "A push with this key is still running. Send it again later.",
                    path: WirePath("key"), retry: .later(.inProgress, after: 1))
            }
        }
    }

    func end(_ name: [UInt8]) {
        let waits = running.withLock { $0.removeValue(forKey: name) }
        for wait in waits ?? [] { wait.end(()) }
    }
}
