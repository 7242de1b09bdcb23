import Synchronization
import Foundation

/// A record: the name of its resource, and its id as text.
package struct RecordPlace: Sendable, Hashable {
    /// The name of its resource.
    package let resource: String
    /// Its id as text.
    package let key: IDText
}

/// The circumstances of all transactions of one store.
package final class LedgerContext: Sendable {
    /// The resources whose records are kept; nil for all.
    let resources: [String]?
    /// The subset of records of these resources that is kept.
    let subset: SubsetFilter
    /// The name of this opening of the store, for the lease to sync.
    let owner: String
    let clock: any StoreClock
    /// The indexes that this opening declares.
    let indexes: QueryIndexes
    /// True if a query could not read an index.
    let isIndexBroken = Mutex(false)
    /// The seconds from the clock to the gateway's, by the last answer with a time; nil before the first.
    let clockOffset = Mutex<Double?>(nil)
    /// The pushes that were sent while the store could not be written.
    let unstored = Mutex<[Int64: UnstoredPush]>([:])
    /// True while this opening syncs although its lease could not be written.
    let isLeaseUnstored = Mutex(false)
    /// The edits that the app has made by `beforeStore`.
    let hooks = Mutex<[Int: StoreHook]>([:])
    private let parsed = Mutex<Rules?>(nil)
    private let onStep: Mutex<(@Sendable (String) throws -> Void)?> = Mutex(nil)

    /// Makes circumstances.
    package init(
        resources: [String]? = nil, subset: SubsetFilter? = nil, indexes: QueryIndexes = QueryIndexes(),
        clock: any StoreClock = SystemClock()
    ) {
        self.subset = subset ?? .none
        self.indexes = indexes
        self.resources = resources.map { Array(Set($0)).sorted() }
        self.clock = clock
        owner = "\(Self.machine)/\(ProcessInfo.processInfo.processIdentifier)/\(UUID().uuidString)"
    }

    /// The openings of stores in this process that are not closed.
    static let open = Mutex<Set<String>>([])

    /// Returns whether an opening of a store has ended.
    ///
    /// - Parameter isStrict: true if an opening on another machine, whose state is unknown, counts as open.
    static func hasEnded(_ owner: String, isStrict: Bool = false) -> Bool {
        let parts = owner.split(separator: "/")
        guard parts.count > 1, parts[0] == machine, let process = pid_t(parts[1]) else { return !isStrict }
        if process == ProcessInfo.processInfo.processIdentifier { return !open.withLock { $0.contains(owner) } }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    /// The name of the machine, without a look-up in a network.
    static let machine: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// Has tests called before each statement that writes, and before and after each commit.
    package func observeSteps(_ observer: (@Sendable (String) throws -> Void)?) {
        onStep.withLock { $0 = observer }
    }

    func step(_ name: @autoclosure () -> String) throws {
        if let observer = onStep.withLock({ $0 }) { try observer(name()) }
    }

    /// Returns whether the records of a resource are kept here.
    func keeps(_ resource: String) -> Bool { resources?.contains(resource) ?? true }

    /// Returns rules that were read before, or reads them.
    func rules(version: String, text: () throws -> String?) rethrows -> Rules? {
        if let known = parsed.withLock({ $0 }), known.version == version { return known }
        guard let text = try text(), let rules = Rules(text: text) else { return nil }
        parsed.withLock { $0 = rules }
        return rules
    }

    /// Forgets rules that were read, since their limits may have changed.
    func forgetRules() { parsed.withLock { $0 = nil } }
}

/// The events that follow from a transaction for the app.
package struct LedgerEffects: Sendable {
    /// The records that changed.
    package var touched: Set<RecordPlace> = []
    /// Some edits have their outcome now.
    package var hasOutcomes = false
    /// Events were queued.
    package var hasEvents = false
    /// The rules, or ids of created rows, have changed: every observed value may change.
    var concernsAll = false
}
