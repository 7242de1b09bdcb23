import MergeCore
package import MergeService
package import RuleFiles
import Synchronization

/// The active rules, which all requests share.
///
/// Readings of the rule files and the schema may overlap. The result of a reading is ignored if a later reading has
/// already ended. So a reading that waited for a locked table never restores older rules.
package final class RulesBox: Sendable {
    /// A reading of the rule files and the schema, numbered by its start.
    struct Reading: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var active: ActiveRules?
        var journal: JournalStatus?
        var trouble: [String] = ["the rules have not been read yet"]
        var rights = MissingRights()
        var findings: [Finding] = []
        /// The number of the last reading that began.
        var begun = 0
        /// The number of the latest reading whose result is in effect.
        var ended = 0
        /// Requests that wait for the end of a reading with a higher number.
        var waiting: [(number: Int, ending: AsyncStream<Void>.Continuation)] = []

        /// Ends the reading and returns true, if no later reading has ended.
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

    /// The active rules, with schema and journal; nil before the first valid rules.
    package var active: ActiveRules? { state.withLock { $0.active } }

    /// Sentences for operators: the reasons why there are no active rules, or why the newest rules are not active.
    package var trouble: [String] { state.withLock { $0.trouble } }

    /// The findings of the last reading of the rule files.
    package var findings: [Finding] { state.withLock { $0.findings } }

    /// Sentences for operators: rights that the rules need and the database user lacks.
    package var missingRights: [String] { state.withLock { $0.rights.current } }

    /// True if a right is missing that existed at start.
    ///
    /// An operator may grant it again without a change to a file.
    var hasLostRights: Bool { state.withLock { $0.rights.hasLost } }

    /// Maintenance of this gateway.
    package let maintenance = Maintenance()

    /// The guarantee of the journal; nil before it is open.
    package var promise: String? { journal?.promise }

    /// The version of the active rules and their number of resources; nil before the first valid rules.
    package var summary: (version: String, resources: Int)? {
        active.map { ($0.catalog.version, $0.catalog.resources.count) }
    }

    /// The opened journal; nil before it is open.
    package var journal: JournalStatus? { state.withLock { $0.journal } }

    /// Numbers a reading before it reads anything.
    func beginReading() -> Reading {
        state.withLock { state in
            state.begun += 1
            return Reading(number: state.begun)
        }
    }

    /// Ends a reading with valid rules; equal rules keep the old object, which requests share.
    ///
    /// - Parameters:
    ///   - trouble: the reasons why resources are out of service.
    ///   - missingRights: rights that the rules need and the database user lacks.
    /// - Returns: false if a later reading has ended before; then nothing changes.
    @discardableResult
    func install(
        _ active: ActiveRules, _ journal: JournalStatus, trouble: [String] = [], missingRights: [String] = [],
        findings: [Finding] = [], of reading: Reading
    ) -> Bool {
        state.withLock { state in
            guard state.end(reading) else { return false }
            if state.active?.isSame(as: active) != true { state.active = active }
            state.journal = journal
            state.trouble = trouble
            state.rights.note(missingRights)
            state.findings = findings
            return true
        }
    }

    /// Ends a reading with errors; the active rules stay.
    ///
    /// - Returns: false if a later reading has ended before; then nothing changes.
    @discardableResult
    func note(_ trouble: [String], findings: [Finding]? = nil, of reading: Reading) -> Bool {
        state.withLock { state in
            guard state.end(reading) else { return false }
            state.trouble = trouble
            if let findings { state.findings = findings }
            return true
        }
    }

    /// Makes the loader open the journal again, because its history has changed.
    package func reopenJournal() {
        state.withLock { state in
            state.journal = nil
            // A reading that began before would restore the former journal, so it is ignored.
            state.begun += 1
            state.ended = state.begun
        }
        askForReload()
    }

    /// Requests another reading of the rules and the schema.
    package func askForReload() { hint.yield() }

    /// The requests for another reading; simultaneous requests are one.
    var reloadRequests: AsyncStream<Void> { hints }

    /// Returns true if the active rules differ from those of a request, after another reading if necessary.
    ///
    /// - Parameter former: the rules of the request.
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

    /// Releases the requests that failed before this reading began.
    func release(after reading: Reading) {
        let released = state.withLock { state in
            let released = state.waiting.filter { $0.number < reading.number }
            state.waiting.removeAll { $0.number < reading.number }
            return released
        }
        for request in released { request.ending.finish() }
    }
}

/// The missing rights of the last reading and of the first one.
private struct MissingRights {
    private var first: [String]?
    private(set) var current: [String] = []

    var hasLost: Bool { !Set(current).isSubset(of: first ?? []) }

    mutating func note(_ missing: [String]) {
        if first == nil { first = missing }
        current = missing
    }
}
