import MergeCore
import MergeService
import RecordStore

/// Reads the row log while the gateway has the lease, and records the changes that it reports.
struct LogFollower {
    let log: any RowLog
    let recorder: ForeignChangeRecorder
    let agenda: PassAgenda
    let lease: ScanLease
    let units: [ScanUnit]
    /// The rules under which the journal keeps the values of foreign changes; nil if it keeps none.
    var keeping: ActiveRules?
    /// The delay after an error.
    var pause = Duration.seconds(1)
    /// The delay after a refusal, which only an operator ends.
    var refusedPause = Duration.seconds(30)
    /// The time between two comparisons of the reader with the end of the log.
    var watchPause = Duration.seconds(1)
    let report: @Sendable (Event) -> Void

    enum Event: Sendable {
        /// The reader has read everything that was committed when it began.
        case following
        /// The log cannot be read, with the reason.
        case stopped(String)
        case alteredTable
        /// The number of changes that were recorded.
        case recorded(Int)
    }

    private var tables: FeedTables { recorder.journal.tables.feed }

    /// The position at which the reader begins.
    private enum Beginning {
        /// The stored position. The agenda may lack passes that an earlier reader demanded.
        case stored
        /// The stored position of this reader.
        case own
        /// The current end of the log, because the stored position cannot be used.
        case end
    }

    /// Reads the log until the task is cancelled or the lease is lost.
    func run() async {
        defer { agenda.stop() }
        var beginning = Beginning.stored
        while !Task.isCancelled {
            var pause = self.pause
            agenda.begin()
            do {
                try await follow(from: &beginning)
            } catch let error as RowLogError {
                stop(error.reason)
                if error.isLost { beginning = .end }
                if case .refused = error { pause = refusedPause }
            } catch let error as StoreError {
                stop(error.description)
            } catch {
                // The lease is lost, or the task is cancelled.
                return
            }
            try? await Task.sleep(for: pause)
        }
    }

    private func stop(_ reason: String) {
        agenda.stop()
        // A cancelled task ends its connection.
        if !Task.isCancelled { report(.stopped(reason)) }
    }

    private func follow(from beginning: inout Beginning) async throws {
        guard recorder.journal.isTogether else { throw RowLogError.refused("the journal is in another database") }
        if let refusal = try await log.refusal(keepsValues: keeping != nil) { throw RowLogError.refused(refusal) }
        let plan = LogPlan(units, tables, keeping: keeping.map { rules in { rules.keptColumns(of: $0) } })
        let stored = beginning == .end ? nil : try await storedProgress()
        var position = if let stored { stored.position } else { try await log.position() }
        var reader = try await open(plan, after: position)
        // A log that cannot be opened, or lacks the journal, demands no pass.
        try await checkJournal()
        if let stored {
            if beginning == .stored, stored.needsPasses { agenda.demand(units.map(\.name)) }
        } else {
            try await demandAll(from: position)
        }
        beginning = .own
        while true {
            agenda.hasRead(to: position)
            position = try await follow(plan, reader)
            reader = try await open(plan, after: position)
        }
    }

    /// Checks by a write that the log contains the journal.
    private func checkJournal() async throws {
        var isLogged = true
        for statement in tables.logProbe(String(UInt64.random(in: .min ... .max), radix: 16)) {
            isLogged = try await log.logs(statement)
        }
        if !isLogged { throw RowLogError.refused("the server does not log the journal “\(tables.schema)”") }
    }

    private func storedProgress() async throws(StoreError) -> LogProgress? {
        try await recorder.journal.engine.read(deadline: .now.advanced(by: .seconds(10))) {
            [tables] session throws(StoreError) in tables.logProgress(try session.query(tables.logProgress))
        }
    }

    /// Stores a first position, and demands a pass over everything.
    private func demandAll(from position: String) async throws {
        // Changes before the position are visible after this commit, which the log contains after them.
        _ = try await recorder.record(
            [], storing: tables.keep(LogProgress(position: position, needsPasses: true)), under: lease)
        agenda.demand(units.map(\.name))
    }

    private func open(_ plan: LogPlan, after position: String) async throws(RowLogError) -> any RowLogReader {
        let reader = try await log.reader(after: position, of: plan.tables)
        let unwatched = plan.units(of: reader.unwatched)
        agenda.setUnwatched(Set(units.indices.filter { unwatched.contains($0) || units[$0].dependsOnMore }.map(name)))
        return reader
    }

    /// Reads the log until a table is altered.
    ///
    /// - Returns: the position of that alteration.
    private func follow(_ plan: LogPlan, _ reader: any RowLogReader) async throws -> String {
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { try await read(plan, from: reader) }
            group.addTask { try await watchEnd() }
            defer { group.cancelAll() }
            guard let altered = try await group.next() else { throw CancellationError() }
            return altered
        }
    }

    /// Compares the reader with the end of the log from time to time.
    ///
    /// A log that begins again sends a waiting reader nothing, until it is longer than the former one.
    ///
    /// - Throws: `RowLogError` if the reader will not receive committed changes.
    private func watchEnd() async throws -> Never {
        var stall = LogStall(log)
        while true {
            try await Task.sleep(for: watchPause)
            // The position is read first: the end is then not before it.
            guard let read = agenda.progress?.position else { continue }
            // A server that does not answer ends the reader too.
            guard let end = try? await log.position() else { continue }
            if let error = stall.check(read: read, end: end, now: .now) { throw error }
        }
    }

    private func read(_ plan: LogPlan, from reader: any RowLogReader) async throws -> String {
        let goal = try await log.position()
        var stored = ContinuousClock.now
        while true {
            let batch = try await reader.next()
            if try await record(batch, plan, storingSince: stored) { stored = .now }
            if !agenda.isFollowing, log.hasReached(batch.position, goal) {
                agenda.hasCaughtUp()
                report(.following)
            }
            guard batch.hasAlteredTable else { continue }
            report(.alteredTable)
            return batch.position
        }
    }

    private func name(_ unit: Int) -> String { units[unit].name }

    // MARK: Recording

    /// The time after which a position without changes is stored.
    private static let interval = Duration.seconds(5)

    /// Records the changes of a batch, with the position after it.
    ///
    /// - Parameter stored: the time at which a position was stored last.
    /// - Returns: true if the position was stored.
    private func record(
        _ batch: LoggedBatch, _ plan: LogPlan, storingSince stored: ContinuousClock.Instant
    ) async throws -> Bool {
        var effects = plan.effects(of: batch.transactions)
        var entries = ForeignEntries()
        let changes = try await changes(&effects, &entries)
        let passes = effects.passes.map(name)
        // Storing a position adds a transaction to the log, so it waits.
        guard !changes.isEmpty || !entries.isEmpty || !passes.isEmpty || .now - stored >= Self.interval else {
            agenda.hasRead(to: batch.position)
            return false
        }
        let needsPasses = !passes.isEmpty || agenda.progress?.needsPasses == true
        let progress = LogProgress(position: batch.position, needsPasses: needsPasses)
        let count: Int
        do {
            let drafts = keeping.map { entries.drafts(under: $0.catalog, for: recorder.journal) } ?? []
            count = try await recorder.record(changes, keeping: drafts, storing: tables.keep(progress), under: lease)
        } catch {
            // The position may be stored all the same.
            agenda.demand(passes)
            throw error
        }
        // The pass begins after that commit, so it reads the rows of these transactions.
        agenda.demand(passes)
        agenda.hasRead(to: batch.position)
        if count > 0 {
            report(.recorded(count))
            _ = try await recorder.feed.catchUp()
        }
        return true
    }

    /// Returns the changed records that no push reports.
    private func changes(
        _ effects: inout LogPlan.Effects, _ entries: inout ForeignEntries
    ) async throws(StoreError) -> [ForeignChange] {
        var changes: [ForeignChange] = []
        // The last condition values of a record are those of its root row.
        for unit in effects.changes.keys.sorted(by: { !units[$0].isRoot && units[$1].isRoot }) {
            let rows = effects.changes[unit] ?? []
            do throws(StoreError) {
                let found = try await recorder.changes(
                    rows.map(\.row), in: units[unit], reportedSince: .max, readsConditions: units[unit].testsReferred)
                try await keep(rows, found, of: units[unit], in: &entries)
                for (row, record) in zip(rows, found) {
                    let open = record.changes.filter { !row.reported.contains($0.name) }
                    if row.needsPass, !open.isEmpty { effects.passes.insert(unit) } else { changes += open }
                }
            } catch {
                guard error.isOfOneSection else { throw error }
                effects.passes.insert(unit)
            }
        }
        return changes
    }

    /// Collects the journal entries of changed rows.
    private func keep(
        _ rows: [LogPlan.Effects.Change], _ found: [ForeignChangeRecorder.ChangedRow], of unit: ScanUnit,
        in entries: inout ForeignEntries
    ) async throws(StoreError) {
        if rows.allSatisfy({ $0.images == nil }) { return }
        let visible = try await visible(rows, of: unit)
        for (row, records) in zip(rows, found) {
            guard let images = row.images else { continue }
            let former = row.row.former.flatMap { unit.key($0.key) }.map { ($0, records.former) }
            let now = row.row.now.flatMap { unit.key($0.key) }.map { ($0, records.now) }
            if let visible, !(now.map { visible.contains($0.0) } ?? false) { continue }
            entries.add(.init(images: images, former: former, now: now), of: unit)
        }
    }

    /// Returns the keys of changed rows that the section contains now; nil if it contains all rows of its table.
    private func visible(
        _ rows: [LogPlan.Effects.Change], of unit: ScanUnit
    ) async throws(StoreError) -> Set<RecordKey>? {
        guard unit.section.visibility != nil else { return nil }
        // Such a section may hide the rows of other resources, and only the database can decide this.
        guard unit.section.keyCount > 0 else { return [] }
        let keys = Set(rows.compactMap { $0.row.now.flatMap { unit.key($0.key) } })
        return Set(try await recorder.rows.values(of: [0], in: Array(keys), of: unit).keys)
    }
}

extension RowLogError {
    fileprivate var isLost: Bool { if case .unusablePosition = self { true } else { false } }

    /// The reason for operators.
    fileprivate var reason: String {
        switch self {
        case .refused(let reason): reason
        case .failed(let error): error.description
        case .unusablePosition(let text): "the stored position cannot be used: \(text)"
        }
    }
}
