package import MergeService
import Synchronization

/// The rules that are active at this moment, shared by all requests.
///
/// A request takes them once and keeps them.
///
/// Readings of the rule files and the schema may overlap. Each has a number, and the result of a reading is ignored if a
/// later reading has already ended. So a reading that waited on a locked table never brings back older rules.
package final class RulesBox: Sendable {
    /// A reading of the rule files and the schema, by the order in which readings began.
    struct Reading: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var active: ActiveRules?
        var journal: JournalStatus?
        var trouble: [String] = ["the rules have not been read yet"]
        var rights = MissingRights()
        /// The number of the last reading that began.
        var begun = 0
        /// The number of the latest reading of which the result is in effect.
        var ended = 0
        /// Requests that wait for the end of a reading with a higher number.
        var waiting: [(number: Int, ending: AsyncStream<Void>.Continuation)] = []

        /// Returns true if no later reading has ended; then this one has.
        mutating func end(_ reading: Reading) -> Bool {
            guard reading.number >= ended else { return false }
            ended = reading.number
            return true
        }
    }

    private let state = Mutex(State())
    private let hints: AsyncStream<Void>
    private let hint: AsyncStream<Void>.Continuation

    init() {
        (hints, hint) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The active rules, with schema and journal; nil as long as no rules can be served.
    package var active: ActiveRules? { state.withLock { $0.active } }

    /// Sentences for operators: why nothing is served, or why the newest rules are not active.
    package var trouble: [String] { state.withLock { $0.trouble } }

    /// Sentences for operators: rights that the rules need and the database user does not have.
    package var missingRights: [String] { state.withLock { $0.rights.current } }

    /// True while a right is missing that was there at start.
    ///
    /// An operator may grant it again, and no file changes then.
    var hasLostRights: Bool { state.withLock { $0.rights.hasLost } }

    /// Switched on, pushes, scan and sequencing stop.
    package let maintenance = Maintenance()

    /// The promise of the journal; nil as long as it is not open.
    package var promise: String? { journal?.promise }

    /// The journal; nil as long as it is not open.
    var journal: JournalStatus? { state.withLock { $0.journal } }

    /// Numbers a reading, before it reads anything.
    func beginReading() -> Reading {
        state.withLock { state in
            state.begun += 1
            return Reading(number: state.begun)
        }
    }

    /// Ends a reading with rules that can be active.
    ///
    /// The old rules object stays if the new one is the same, so that all requests share it.
    ///
    /// - Parameters:
    ///   - trouble: why resources are out of service, for operators.
    ///   - missingRights: rights that the rules need and the database user does not have.
    /// - Returns: false if a later reading has ended before; then nothing changes.
    @discardableResult
    func install(
        _ active: ActiveRules, _ journal: JournalStatus, trouble: [String] = [], missingRights: [String] = [],
        of reading: Reading
    ) -> Bool {
        state.withLock { state in
            guard state.end(reading) else { return false }
            if state.active?.isSame(as: active) != true { state.active = active }
            state.journal = journal
            state.trouble = trouble
            state.rights.note(missingRights)
            return true
        }
    }

    /// Ends a reading with what it found wrong.
    ///
    /// The active rules stay.
    ///
    /// - Returns: false if a later reading has ended before; then nothing changes.
    @discardableResult
    func note(_ trouble: [String], of reading: Reading) -> Bool {
        state.withLock { state in
            guard state.end(reading) else { return false }
            state.trouble = trouble
            return true
        }
    }

    /// Has the journal opened again, because its history is another one.
    package func reopenJournal() {
        state.withLock { state in
            state.journal = nil
            // A reading that began before keeps the former journal, so it does not count.
            state.begun += 1
            state.ended = state.begun
        }
        askForReload()
    }

    /// Requests another reading of the rules and the schema.
    package func askForReload() { hint.yield() }

    /// The requests for another reading, of which several at once are one.
    var reloadRequests: AsyncStream<Void> { hints }

    /// Returns true if other rules are active than those that a request ran under, after another reading if necessary.
    ///
    /// - Parameter former: the rules that the request ran under.
    package func hasOther(than former: ActiveRules?, until deadline: ContinuousClock.Instant) async -> Bool {
        if active !== former { return true }
        let (endings, ending) = AsyncStream<Void>.makeStream()
        state.withLock { $0.waiting.append(($0.begun, ending)) }
        askForReload()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in endings {} }
            group.addTask { try? await Task.sleep(until: deadline, clock: .continuous) }
            await group.next()
            group.cancelAll()
        }
        return active !== former
    }

    /// Releases the requests that wait for a reading that began after they failed.
    func release(after reading: Reading) {
        let released = state.withLock { state in
            let released = state.waiting.filter { $0.number < reading.number }
            state.waiting.removeAll { $0.number < reading.number }
            return released
        }
        for request in released { request.ending.finish() }
    }
}

/// The rights that the last reading found missing, and those that the first one did.
private struct MissingRights {
    private var first: [String]?
    private(set) var current: [String] = []

    var hasLost: Bool { !Set(current).isSubset(of: first ?? []) }

    mutating func note(_ missing: [String]) {
        if first == nil { first = missing }
        current = missing
    }
}
