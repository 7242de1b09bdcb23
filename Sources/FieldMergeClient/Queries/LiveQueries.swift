import Synchronization

/// The live queries of a store.
///
/// All of them share a pass: one transaction that reads each changed record once. A pass runs when a reader asks for a value,
/// so the changes that come while readers are busy share the next one.
final class LiveQueries: Sendable {
    private struct State {
        var next = 0
        var windows: [Int: LiveWindow] = [:]
        var changed: Set<RecordPlace> = []
        var isAnyChanged = false
        /// Increases with every change that a pass has to read.
        var version = 0
        var passedVersion = 0
        var pass: Task<Void, Never>?
    }

    private let file: StoreFile
    private let state = Mutex(State())

    /// The number of changed records from which on queries run again.
    private static let mostChanges = 10_000

    init(_ file: StoreFile) { self.file = file }

    func add(_ query: RecordQuery) -> Int {
        state.withLock { state in
            state.next += 1
            state.version += 1
            state.windows[state.next] = LiveWindow(query)
            return state.next
        }
    }

    func remove(_ number: Int) { state.withLock { state in _ = state.windows.removeValue(forKey: number) } }

    /// Notes the effects of a transaction, before readers are notified.
    func note(_ effects: LedgerEffects) {
        guard !effects.touched.isEmpty || effects.concernsAll else { return }
        state.withLock { state in
            guard !state.windows.isEmpty else { return }
            state.version += 1
            state.changed.formUnion(effects.touched)
            if state.changed.count > Self.mostChanges { (state.changed, state.isAnyChanged) = ([], true) }
        }
    }

    /// Notes that another process has written.
    func noteAny() {
        state.withLock { state in
            state.version += 1
            state.isAnyChanged = true
        }
    }

    /// Returns the value of a live query after all changes noted before; nil before its first answer.
    func value(of number: Int) async -> QueryResult? {
        let wanted = state.withLock(\.version)
        while let pass = pass(upTo: wanted) { await pass.value }
        return state.withLock { $0.windows[number]?.value }
    }

    func diagnosis(of number: Int) -> JSONValue { state.withLock { $0.windows[number]?.diagnosis ?? .null } }

    /// For support: how often each ran over the store, and how many records it has tested.
    var diagnosis: JSONValue {
        .array(state.withLock { $0.windows.sorted { $0.key < $1.key }.map(\.value.diagnosis) })
    }

    private func pass(upTo wanted: Int) -> Task<Void, Never>? {
        state.withLock { state in
            guard state.passedVersion < wanted else { return nil }
            let pass = state.pass ?? Task { await self.runPass() }
            state.pass = pass
            return pass
        }
    }

    private func runPass() async {
        let (windows, changed, isAnyChanged, version) = state.withLock { state in
            defer { (state.changed, state.isAnyChanged) = ([], false) }
            return (state.windows, state.changed, state.isAnyChanged, state.version)
        }
        let refreshed = try? await file.read { ledger in
            let watched = windows.values.reduce(into: Set<String>()) { $0.formUnion($1.watched) }
            let changes = try changed.filter { watched.contains($0.resource) && !$0.key.isEmpty }.map { place in
                LiveChange(place: place, record: try ledger.record(place.resource, try ledger.id(of: place)))
            }
            return windows.mapValues { $0.refreshed(by: changes, runsAgain: isAnyChanged, in: ledger) }
        }
        state.withLock { state in
            for number in windows.keys where state.windows[number] != nil {
                // After an error it runs again with the next change.
                state.windows[number]?.forget()
                if let window = refreshed?[number] { state.windows[number] = window }
            }
            state.passedVersion = version
            state.pass = nil
        }
    }
}

/// A record that may have changed, as the app reads it now.
struct LiveChange: Sendable {
    let place: RecordPlace
    let record: Record?
}

/// The rows of a live query and some following rows, as successors of rows that leave.
struct LiveWindow: Sendable {
    let query: RecordQuery
    private(set) var value: QueryResult?
    private var compiled: CompiledQuery?
    private var rulesVersion: String?
    private var rows: [QueryRow]?
    /// The position of the last row if more follow; nil if there are no more.
    private var edge: [OrderKey]?
    /// The records that the value refers to.
    private var followed: Set<RecordPlace> = []
    private var runs = 0
    private var tests = 0

    private static let spare = 20

    init(_ query: RecordQuery) { self.query = query }

    /// The resources whose changes concern the query.
    var watched: Set<String> { Set([query.resource] + (compiled?.follow.map(\.resource) ?? [])) }

    var diagnosis: JSONValue {
        [
            "resource": .string(query.resource), "where": .array(query.conditions.map { .string($0.path) }),
            "runs": .integer(Int128(runs)), "tests": .integer(Int128(tests)),
        ]
    }

    /// Has the query run again at the next pass.
    mutating func forget() { rows = nil }

    /// Returns the window after changes, with the last value if the query fails.
    func refreshed(by changes: [LiveChange], runsAgain: Bool, in ledger: Ledger) -> LiveWindow {
        var window = self
        do { try window.refresh(by: changes, runsAgain: runsAgain, in: ledger) } catch { window.forget() }
        return window
    }

    private mutating func refresh(by changes: [LiveChange], runsAgain: Bool, in ledger: Ledger) throws {
        let version = try ledger.rules()?.version
        if compiled?.resolvedIDs.isEmpty != true || version != rulesVersion {
            let now = try ledger.compile(query)
            if version != rulesVersion || now?.resolvedIDs != compiled?.resolvedIDs { rows = nil }
            (compiled, rulesVersion) = (now, version)
        }
        guard let compiled else { return set(FollowedResult(value: QueryResult(), places: [])) }
        if runsAgain { rows = nil }
        let own = changes.filter { $0.place.resource == query.resource }
        let isFollowed = changes.contains { followed.contains($0.place) }
        if rows != nil, !apply(own, compiled: compiled), !isFollowed { return }
        if let rows, edge == nil || rows.count > query.limit ?? 0 {
            return set(try ledger.result(compiled, of: rows))
        }
        let wanted = query.limit.map { $0 + 1 + Self.spare }
        let found = try ledger.run(compiled, wanted: wanted).rows
        runs += 1
        rows = found
        edge = found.count == wanted ? found.last?.order : nil
        set(try ledger.result(compiled, of: found))
    }

    /// Tests changed records; returns true if the rows have changed.
    ///
    /// Adds only matching records that sort before the edge.
    private mutating func apply(_ changes: [LiveChange], compiled: CompiledQuery) -> Bool {
        guard !changes.isEmpty, var rows else { return false }
        tests += changes.count
        let keys = Set(changes.flatMap { [$0.place.key] + ($0.record.map { [$0.id.key] } ?? []) })
        let count = rows.count
        rows.removeAll { keys.contains($0.record.id.key) }
        var found: [IDText: QueryRow] = [:]
        for case let record? in changes.map(\.record) where compiled.matches(record.members) {
            let order = compiled.order(of: record.members)
            guard compiled.isBehindStart(order), edge.map({ !compiled.precedes($0, order) }) ?? true else { continue }
            found[record.id.key] = QueryRow(record: record, order: order)
        }
        guard rows.count < count || !found.isEmpty else { return false }
        for row in found.values {
            var (low, high) = (0, rows.count)
            while low < high {
                let middle = (low + high) / 2
                if compiled.precedes(rows[middle].order, row.order) { low = middle + 1 } else { high = middle }
            }
            rows.insert(row, at: low)
        }
        if let limit = query.limit, rows.count > 2 * (limit + Self.spare) {
            rows.removeLast(rows.count - (limit + 1 + Self.spare))
            edge = rows.last?.order
        }
        self.rows = rows
        return true
    }

    private mutating func set(_ now: FollowedResult) {
        followed = now.places
        if now.value != value { value = now.value }
    }
}
