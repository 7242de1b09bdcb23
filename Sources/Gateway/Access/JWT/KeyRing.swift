import Logging
import RecordStore
import Synchronization

/// The current keys of an issuer, which only new valid keys replace.
final class KeyRing: Sendable {
    private struct State {
        var set = KeySet()
        var text: [UInt8]?
        var trouble: String?
        var lastAsked: ContinuousClock.Instant?
    }

    private let source: KeySource
    private let logger: Logger
    private let pause: Duration
    /// Called before and after a change of the keys, so that the cache keeps no older proof.
    private let changed: @Sendable () -> Void
    private let state = Mutex(State())
    private let fetching = SharedRun<Void>()

    /// - Parameter pause: the minimum time between two fetches for unknown keys.
    init(
        _ source: KeySource, logger: Logger, pause: Duration = .seconds(30), changed: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.logger = logger
        self.pause = pause
        self.changed = changed
    }

    /// A sentence for operators about a fault of the keys, or nil.
    var trouble: String? { state.withLock { $0.trouble } }

    func knownKeys(named kid: String?) -> [SigningKey] { state.withLock { $0.set.keys(named: kid) } }

    /// Returns the keys that may have signed a token, and fetches keys if none is in memory.
    func keys(named kid: String?) async -> [SigningKey] {
        let known = knownKeys(named: kid)
        if !known.isEmpty { return known }
        await ask(atOnce: false)
        return knownKeys(named: kid)
    }

    /// Fetches the keys, or waits for the current fetch.
    ///
    /// - Parameter atOnce: ignores the pause since the last fetch.
    func ask(atOnce: Bool) async {
        await fetching.outcome(of: fetch) {
            state.withLock { state in
                if !atOnce, let last = state.lastAsked, .now < last.advanced(by: pause) { return false }
                state.lastAsked = .now
                return true
            }
        }
    }

    private func fetch() async {
        do throws(KeySetError) {
            let text = try await source.read()
            if state.withLock({ $0.text == text }) { return state.withLock { $0.trouble = nil } }
            let set = try await KeySet(text)
            changed()
            state.withLock { state in
                state.set = set
                state.text = text
                state.trouble = nil
            }
            changed()
            logger.notice(
                "taking the keys of \(source)", metadata: ["keys": "\(set.count)", "skipped": "\(set.skipped)"])
        } catch {
            let trouble = "\(source): \(error)"
            let isNew = state.withLock { state in
                defer { state.trouble = trouble }
                return state.trouble != trouble
            }
            if isNew { logger.error("\(trouble); the keys known before go on") }
        }
    }
}
