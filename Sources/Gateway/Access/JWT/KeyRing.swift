import Logging
import Synchronization

/// The current keys of an issuer, which only new valid keys replace.
final class KeyRing: Sendable {
    private struct State {
        var set = KeySet()
        var text: [UInt8]?
        var trouble: String?
        var lastAsked: ContinuousClock.Instant?
        var asking: Task<Void, Never>?
    }

    private let source: KeySource
    private let logger: Logger
    private let pause: Duration
    /// Called before and after a change of the keys, so that the cache keeps no older proof.
    private let changed: @Sendable () -> Void
    private let state = Mutex(State())

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
        let task = state.withLock { state -> Task<Void, Never>? in
            if let asking = state.asking { return asking }
            if !atOnce, let last = state.lastAsked, .now < last.advanced(by: pause) { return nil }
            state.lastAsked = .now
            let task = Task { await self.fetch() }
            state.asking = task
            return task
        }
        await task?.value
    }

    private func fetch() async {
        do throws(KeySetError) {
            let text = try await source.read()
            if state.withLock({ $0.text == text }) { return settle { $0.trouble = nil } }
            let set = try await KeySet(text)
            changed()
            settle { state in
                state.set = set
                state.text = text
                state.trouble = nil
            }
            changed()
            logger.notice(
                "taking the keys of \(source)", metadata: ["keys": "\(set.count)", "skipped": "\(set.skipped)"])
        } catch {
            let trouble = "\(source): \(error)"
            let isNew = state.withLock { $0.trouble != trouble }
            settle { $0.trouble = trouble }
            if isNew { logger.error("\(trouble); the keys known before go on") }
        }
    }

    private func settle(_ update: (inout State) -> Void) {
        state.withLock { state in
            update(&state)
            state.asking = nil
        }
    }
}
