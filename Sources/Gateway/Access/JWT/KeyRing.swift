import Logging
import Synchronization

/// The keys of an issuer as they are known at this moment.
///
/// Keys stay until others have come: a place that is down, or has nonsense, takes none away.
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
    /// Called where keys have changed, before one of them counts.
    private let changed: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter pause: the time between two askings for keys that are not known.
    init(
        _ source: KeySource, logger: Logger, pause: Duration = .seconds(30), changed: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.logger = logger
        self.pause = pause
        self.changed = changed
    }

    /// A sentence for operators on the keys; nil where they could be had.
    var trouble: String? { state.withLock { $0.trouble } }

    /// Returns the keys that may have signed a token, without asking for others.
    func knownKeys(named kid: String?) -> [SigningKey] { state.withLock { $0.set.keys(named: kid) } }

    /// Returns the keys that may have signed a token, and asks for others where none is known.
    func keys(named kid: String?) async -> [SigningKey] {
        let known = knownKeys(named: kid)
        if !known.isEmpty { return known }
        await ask(atOnce: false)
        return knownKeys(named: kid)
    }

    /// Asks for the keys, or waits for the asking that is under way.
    ///
    /// - Parameter atOnce: asks however short ago it was that somebody did.
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
