import MergeCore
import MergeService
import RecordStore

/// Turns changed rows into revisions of their records.
///
/// Each source of foreign changes records them here: under the lease, and in one transaction with its own progress.
struct ForeignChangeRecorder: Sendable {
    let engine: any RecordEngine
    let rows: SectionRows
    let feed: ChangeFeed
    let journal: Journal

    private static let patience = Duration.seconds(30)
    /// The maximum changes in a row of `pending`.
    private static let mostChanges = 500

    private var tables: FeedTables { journal.tables.feed }
    private var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    /// Another gateway has the lease, so the state in memory is void.
    struct LeaseLost: Error {}

    // MARK: Records of rows

    /// A changed row, as the feed reports it.
    struct ChangedRow {
        let changes: [ForeignChange]
        /// The records of the row before and after the change.
        let former: [RecordKey]
        let now: [RecordKey]
    }

    /// Returns the records that each changed row belongs to.
    ///
    /// - Parameters:
    ///   - revision: a later revision of a record already reports its change; `Int.max` if none does.
    ///   - readsConditions: true if the changes of root rows lack condition values.
    func changes(
        _ changes: [RangeDiff.Change], in unit: ScanUnit, reportedSince revision: Int, readsConditions: Bool = false
    ) async throws(StoreError) -> [ChangedRow] {
        let sides = try await records(of: changes, in: unit)
        let records = sides.map { side in side.former + side.now.filter { !side.former.contains($0) } }
        // Only rows of the root contain condition values.
        let conditions =
            unit.isRoot && !readsConditions
            ? [:] : try await rows.conditions(of: records.joined(), in: unit.resource)
        let names = RecordNames(journal: journal)
        return zip(changes, zip(records, sides)).map { change, found in
            let (records, side) = found
            let tags =
                readsConditions ? [] : [change.former, change.now].compactMap { $0?.tag }.filter { $0 != .none }
            let left = unit.isRoot ? change.now.flatMap { unit.link(of: $0) }.flatMap { unit.view.key($0) } : nil
            let reported = records.map { key in
                ForeignChange(
                    name: names.name(key, unit), toldSince: revision, tags: conditions[key].map { [$0] } ?? tags,
                    isGone: unit.isRoot ? key != left : nil)
            }
            return ChangedRow(changes: reported, former: side.former, now: side.now)
        }
    }

    /// Returns the records of each changed row, before and after the change.
    private func records(
        of changes: [RangeDiff.Change], in unit: ScanUnit
    ) async throws(StoreError) -> [(former: [RecordKey], now: [RecordKey])] {
        var links: [[Value]: [RecordKey]] = [:]
        var sought: [[Value]] = []
        for mark in changes.flatMap({ [$0.former, $0.now] }) {
            guard let mark, let values = unit.link(of: mark), links[values] == nil else { continue }
            links[values] = []
            if values.contains(.null) { continue }
            if let key = unit.view.key(values) {
                links[values] = [key]
            } else if !unit.isRoot {
                sought.append(values)
            }
        }
        if !sought.isEmpty {
            let found = try await roots(linkedBy: sought, in: unit)
            for (values, keys) in zip(sought, found) { links[values] = keys }
        }
        func records(of mark: Mark?) -> [RecordKey] { mark.flatMap { unit.link(of: $0) }.flatMap { links[$0] } ?? [] }
        return changes.map { (records(of: $0.former), records(of: $0.now)) }
    }

    /// Finds the records of rows that are not linked by the key.
    private func roots(
        linkedBy links: [[Value]], in unit: ScanUnit
    ) async throws(StoreError) -> [[RecordKey]] {
        let statements = links.map {
            unit.view.preselection(ofRecordsLinkedBy: $0, engine.dialect, locking: false)
        }
        return try await engine.read(deadline: deadline) { session throws(StoreError) in
            var found: [[RecordKey]] = []
            var next = statements[...]
            try session.run({ next.popFirst() }) { rows in
                found.append(unit.view.records(in: rows, linkedBy: links[found.count]))
            }
            return found
        }
    }

    // MARK: Recording

    /// Records changes, together with the progress of their source.
    ///
    /// - Parameters:
    ///   - entries: journal entries of the changes.
    ///   - statements: store the progress.
    /// - Returns: the number of new changes.
    /// - Throws: `StoreError`, or `LeaseLost` if nothing was written.
    func record(
        _ changes: [ForeignChange], keeping entries: [JournalDraft] = [], storing statements: [Statement],
        under lease: ScanLease
    ) async throws -> Int {
        // Sequences committed pushes first, so that their rows are not reported as foreign changes.
        if changes.contains(where: { $0.toldSince < .max }) { _ = try await feed.catchUp() }
        let recorded: Int? = try await journal.engine.write(deadline: deadline) {
            [tables, journal] session throws(StoreError) -> Ending<Int?> in
            let state = try session.query(tables.scanState(locking: true)).first.flatMap { tables.scanState($0) }
            guard state?.lease == lease else { return .rollback(nil) }
            let count = try Self.insert(changes, in: tables, session)
            var next = (journal.tables.insert(entries).map(\.statement) + statements)[...]
            try session.run({ next.popFirst() }) { _ in }
            return .commit(count)
        }
        guard let recorded else { throw LeaseLost() }
        return recorded
    }

    private static func insert(
        _ changes: [ForeignChange], in tables: FeedTables, _ session: any StoreSession
    ) throws(StoreError) -> Int {
        if changes.isEmpty { return 0 }
        var known: [RecordName: Int] = [:]
        // No revision is later than `Int.max`, so only the other records need a query.
        let asked = changes.filter { $0.toldSince < .max }.map(\.name)
        var questions = tables.revisions(of: Array(Set(asked)))[...]
        try session.run({ questions.popFirst() }) { rows in
            for row in rows {
                guard case .text(let resource) = row[0], case .text(let record) = row[1],
                    case .integer(let revision) = row[2]
                else { continue }
                known[RecordName(resource: resource.string, record: record.string)] = Int(clamping: revision)
            }
        }
        let moved = Array(Set(changes.filter(\.changesConditions).map(\.name)).intersection(known.keys))
        let histories = try Sequencing.histories(of: moved, in: tables, session)
        var names: [RecordName] = []
        var tags: [RecordName: [ConditionTag]] = [:]
        for change in changes {
            // Clients that have read the later revision have delivery records, which the pass compares. Other clients
            // will read that revision, if its history contains the condition values.
            let history = histories[change.name]
            let hasLaterRevision = known[change.name].map { $0 > change.toldSince } ?? false
            if hasLaterRevision, change.isTold(by: history) { continue }
            if tags[change.name] == nil { names.append(change.name) }
            tags[change.name, default: []] += change.values(behind: history, hasLaterRevision: hasLaterRevision)
        }
        if names.isEmpty { return 0 }
        if tables.dialect.sequencesWithMerge {
            let changes = names.map { name in
                CommittedChange(name: name, push: nil, steps: ConditionStep.steps(through: tags[name] ?? []))
            }
            try Sequencing.give(changes, in: tables, session)
            return names.count
        }
        var rest = names[...]
        while !rest.isEmpty {
            let run = Array(rest.prefix(Self.mostChanges))
            rest = rest.dropFirst(run.count)
            _ = try session.execute(
                tables.insertForeign(run, tags: ConditionTags(tags: run.map { tags[$0] ?? [] })))
        }
        return names.count
    }
}
