import MergeCore
import MergeService
import MergeWire
import RecordStore

/// The steps after a backup was restored or a replica was promoted.
package struct JournalRestore: Sendable {
    private let engine: any RecordEngine
    private let service: MergeService
    private let active: ActiveRules
    private let journal: Journal
    private let newer: Journal?
    private static let batch = 200

    /// - Parameter newer: a copy of the journal from before the restore; nil if there is none.
    init(service: MergeService, active: ActiveRules, journal: Journal, newer: Journal?) {
        engine = service.engine
        self.service = service
        self.active = active
        self.journal = journal
        self.newer = newer
    }

    private var deadline: ContinuousClock.Instant { .now.advanced(by: .seconds(300)) }

    /// Compares the journals with the data, begins a new feed, and copies rows from the newer journal.
    ///
    /// - Parameter rollsForward: merges the pushes again that the data lack.
    /// - Throws: `StoreError`, or a `JournalFault` if the newer journal is not a copy of the same journal.
    package func run(rollsForward: Bool, isPreview: Bool) async throws -> RestoreReport {
        let place = try await position(of: journal)
        var report = RestoreReport(restored: place.copy)
        if let newer {
            let other = try await position(of: newer)
            guard other.secret == place.secret else {
                throw JournalFault("the newer journal is not a copy of this journal: its secret is another one")
            }
            report.newer = other.copy
        }
        let backup = try await lastOfBackup(before: report.newer?.summary)
        let gap = try await gap(after: backup)
        let rows = GapRows(gap)
        let judged = try await states(of: rows.steps.keys, in: rows)
        try await list(gap, rows: rows, judged: judged, mergesAgain: false, in: &report)
        report.counters = try await counters(gap)
        if isPreview { return report }
        if let newer = report.newer?.summary { try await note(backup, before: newer) }
        report.copiedRows = try await copy(after: backup)
        report.feed = try await beginNewFeed(above: report.newer?.revision ?? place.copy.revision)
        if rollsForward { try await list(gap, rows: rows, judged: judged, mergesAgain: true, in: &report) }
        return report
    }

    private func position(of journal: Journal) async throws -> (copy: RestoreReport.Copy, secret: String) {
        let tables = journal.tables
        let (summary, place) = try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
            (
                tables.summary(try session.query(tables.summary).first),
                tables.historyPosition(try session.query(tables.historyPosition).first)
            )
        }
        guard let summary, let place else {
            throw JournalFault("the journal “\(tables.schema)” has no feed or no secret; restore all of its tables")
        }
        return (RestoreReport.Copy(summary: summary, revision: place.revision), place.secret)
    }

    /// Begins a feed with higher revisions than the newer journal.
    ///
    /// Without the newer journal, the keys of the time since the backup are unknown.
    private func beginNewFeed(above revision: Int) async throws(StoreError) -> String {
        let tables = journal.tables
        let id = JournalOpener.newFeedID()
        let losesKeys = newer == nil
        try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
            _ = try session.query(tables.feed.lock)
            for statement in tables.feed.beginAnew(id, above: revision / FeedTables.epochSize) {
                _ = try session.execute(statement)
            }
            guard losesKeys else { return .commit(()) }
            let moment = try tables.moment(in: session)
            for statement in tables.setKeysSince(moment) { _ = try session.execute(statement) }
            return .commit(())
        }
        return id
    }

    /// Stores the last entry of the backup before anything is copied, so that the command can be repeated.
    private func note(_ backup: Int, before newer: JournalSummary) async throws(StoreError) {
        try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
            _ = try session.execute(journal.tables.note(lastOfBackup: backup, before: newer))
            return .commit(())
        }
    }

    /// Returns the number of the last entry of the backup, which both journals contain.
    private func lastOfBackup(before summary: JournalSummary?) async throws(StoreError) -> Int {
        guard let newer, let summary else { return 0 }
        let noted = try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
            try session.query(journal.tables.lastOfBackup(before: summary)).first?.first
        }
        if case .text(let text)? = noted, let number = Int(text.string) { return number }
        var limit = Int.max
        while true {
            let rows = try await times(of: journal, upTo: limit)
            guard let first = rows.first, let last = rows.last else { return 0 }
            let others = Set(try await times(of: newer, upTo: first.number))
            if let common = rows.first(where: { others.contains($0) }) { return common.number }
            limit = last.number - 1
        }
    }

    private struct EntryTime: Hashable, Sendable {
        let number: Int
        let at: DateTime
    }

    private func times(of journal: Journal, upTo number: Int) async throws(StoreError) -> [EntryTime] {
        try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
            try session.query(journal.tables.times(upTo: number, limit: Self.batch)).compactMap { row in
                guard case .integer(let number) = row[0], case .dateTime(let at) = row[1] else { return nil }
                return EntryTime(number: Int(clamping: number), at: at)
            }
        }
    }

    /// Copies the missing rows of the newer journal, including keys and answers.
    private func copy(after number: Int) async throws(StoreError) -> Int {
        guard let newer else { return 0 }
        var (last, copied) = (number, 0)
        while true {
            let rows = try await newer.engine.read(deadline: deadline) { [last] session throws(StoreError) in
                try session.query(newer.tables.copies(after: last, limit: Self.batch))
            }
            guard let next = rows.last.flatMap({ newer.tables.number(ofCopy: $0) }) else { return copied }
            copied += try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
                var count = 0
                for row in rows { count += try Self.copy(row, to: journal.tables, in: session) ? 1 : 0 }
                return .commit(count)
            }
            last = next
        }
    }

    /// - Returns: false if the journal already has the key.
    private static func copy(
        _ row: [Value], to tables: JournalTables, in session: any StoreSession
    ) throws(StoreError) -> Bool {
        if let name = tables.keyName(ofCopy: row), try !session.query(tables.answer(name, locking: false)).isEmpty {
            return false
        }
        let number = tables.number(ofCopy: row) ?? 0
        // A gateway may have used the number again since the restore.
        let isFree = try session.query(tables.entry(number)).isEmpty
        _ = try session.execute(tables.insert(copy: row, keepsNumber: isFree))
        return true
    }

    // MARK: The missing pushes

    /// A merged entry of the newer journal, with the changes to its record.
    private struct GapEntry: Sendable {
        let stored: StoredEntry
        let resource: Resource
        let steps: [EntryReader.Step]

        func name(of step: EntryReader.Step) -> SharedRows.Name {
            SharedRows.Name(resource: resource, row: step.effect.row)
        }
    }

    /// All steps of each row, in order, with the positions of their entries.
    private struct GapRows: Sendable {
        let steps: [SharedRows.Name: [(entry: Int, step: EntryReader.Step)]]
        let shared: SharedRows

        init(_ gap: [GapEntry]) {
            var rows: [SharedRows.Name: [(entry: Int, step: EntryReader.Step)]] = [:]
            for (index, entry) in gap.enumerated() {
                for step in entry.steps { rows[entry.name(of: step), default: []].append((index, step)) }
            }
            (steps, shared) = (rows, SharedRows(among: rows.keys))
        }
    }

    private func gap(after number: Int) async throws(StoreError) -> [GapEntry] {
        guard let newer else { return [] }
        var entries: [GapEntry] = []
        var filter = JournalFilter()
        (filter.after, filter.limit) = (number, Self.batch)
        while true {
            let found = try await newer.entries(filter, deadline)
            for stored in found where stored.entry?.status == "merged" {
                guard let entry = stored.entry, let resource = active.catalog[entry.resource] else { continue }
                entries.append(
                    GapEntry(stored: stored, resource: resource, steps: EntryReader.steps(entry.body, resource)))
            }
            guard let last = found.last else { return entries }
            filter.after = last.number
        }
    }

    /// Compares rows with the current data.
    ///
    /// - Returns: the states by entry and outcome.
    private func states(
        of names: some Sequence<SharedRows.Name>, in rows: GapRows
    ) async throws(StoreError) -> [Int: [Int: RestoredRow.State]] {
        var states: [Int: [Int: RestoredRow.State]] = [:]
        for name in names {
            let steps = rows.steps[name] ?? []
            let effects = steps.map(\.step.effect)
            let found =
                rows.shared.contains(name)
                ? effects.map { _ in RestoredRow.State.unclear }
                : RestoredRow.states(of: effects, current: try await current(name.row, of: name.resource))
            for (step, state) in zip(steps, found) { states[step.entry, default: [:]][step.step.outcome] = state }
        }
        return states
    }

    /// Lists the pushes that the data lack or that are unclear.
    ///
    /// A push that is merged again can delete or change rows of later pushes by foreign keys and triggers. Therefore
    /// the rows of a later push are compared again at its turn.
    private func list(
        _ gap: [GapEntry], rows: GapRows, judged: [Int: [Int: RestoredRow.State]], mergesAgain: Bool,
        in report: inout RestoreReport
    ) async throws {
        (report.missing, report.unclear) = ([], [])
        for (index, entry) in gap.enumerated() {
            var states = judged[index] ?? [:]
            if mergesAgain, !report.missing.isEmpty {
                let names = Set(entry.steps.map(entry.name))
                let now = try await self.states(of: names, in: rows)[index] ?? [:]
                states.merge(now) { first, now in first == .missing ? first : now }
            }
            var push = push(entry)
            if states.values.contains(.unclear) { report.unclear.append(push) }
            guard states.values.contains(.missing) else { continue }
            if mergesAgain {
                let skipped = Set(states.filter { $0.value != .missing }.keys)
                push.problem = try await mergeAgain(entry, skipping: skipped)
                if push.problem == nil { report.mergedAgain += 1 }
            }
            report.missing.append(push)
        }
    }

    private func push(_ entry: GapEntry) -> RestoreReport.Push {
        let names = entry.steps.map { step in
            let section = entry.resource.sections[step.effect.row.section]
            let fields = Set(step.effect.after.map { Array($0.keys) } ?? [])
            let group = section.groups.first { step.effect.before != nil && fields == Set($0.fields) }
            return section.name + (group.map { "." + $0.name } ?? "")
        }
        return RestoreReport.Push(
            number: entry.stored.number, at: entry.stored.at, who: entry.stored.sender.who,
            record: entry.resource.name + "/" + (entry.stored.entry?.record ?? ""), groups: names)
    }

    private func current(
        _ name: RowEffect.Row, of resource: Resource
    ) async throws(StoreError) -> RestoredRow.Current {
        let section = resource.sections[name.section]
        if let fields = try await fields(name, of: resource) { return .shown(fields) }
        guard section.softDelete != nil, let key = section.kind == .root ? name.record : name.key,
            key.parts.count == section.keyCount
        else { return .gone }
        let columns = Array(section.columns.prefix(section.keyCount))
        let statement = RawSQL(engine.dialect).select(
            columns, from: section.table, where: zip(columns, key.parts).map { RawValue(column: $0, value: $1) },
            locking: false)
        let rows = try await engine.read(deadline: deadline) { session throws(StoreError) in
            try session.query(statement)
        }
        return rows.isEmpty ? .neverInserted : .gone
    }

    /// Returns the fields of a row; nil if clients see none.
    private func fields(_ name: RowEffect.Row, of resource: Resource) async throws(StoreError) -> [Int: Value]? {
        guard let record = try await service.record(resource, name.record, deadline: deadline)?.readable else {
            return nil
        }
        let section = resource.sections[name.section]
        let row: [Value]?
        switch record.sections[name.section] {
        case .one(let one): row = one
        case .many(let rows): row = rows.first { RecordKey(Array($0.prefix(section.keyCount))) == name.key }
        }
        guard let row else { return nil }
        return Dictionary(uniqueKeysWithValues: section.fields.enumerated().map { ($0.offset, row[$0.element.column]) })
    }

    /// - Returns: the problem that prevents merging the push again; nil if it is merged.
    private func mergeAgain(_ entry: GapEntry, skipping skipped: Set<Int>) async throws -> String? {
        let number = entry.stored.number
        let request = RequestKey(effect: "forward:\(number)", body: [])
        let key = PushKey(text: request.text, name: request.name, request: request.fingerprint)
        do {
            let edit = try UndoDecoder(
                resource: entry.resource, groups: nil, taken: skipped, direction: .forward,
                columns: active.columns
            ).opposite(of: entry.stored.entry?.body ?? []).edit
            let answer = try await service.keyed.answer(under: key, active: active, deadline: deadline) {
                () async throws(Failure) in
                try await service.merge(
                    PushRequest(
                        push: Push(key: key.text, atomicity: .push, edits: [edit]), form: .merge,
                        sender: entry.stored.sender, purpose: .once(key, []),
                        sent: SentRequest(address: "/v1/journal/\(number)/undo", body: [])),
                    active: active, deadline: deadline)
            }
            if answer.status == .merged { return nil }
            return answer.result?.problem?.detail ?? "it was refused before"
        } catch {
            return Failure(any: error).problem.detail
        }
    }

    // MARK: Counters

    /// Returns statements for keys that were assigned before, so that no record gets the number of another one.
    private func counters(_ gap: [GapEntry]) async throws(StoreError) -> [String] {
        var highest: [TableName: (section: Section, key: Int128)] = [:]
        func note(_ resource: Resource, _ steps: [EntryReader.Step]) {
            for step in steps where step.effect.before == nil {
                let row = step.effect.row
                let section = resource.sections[row.section]
                guard !section.gatewayNumbersKey, let position = section.generatedKeyColumn,
                    case .integer(let number)? = row.key?.parts[position]
                else { continue }
                highest[section.table] = (section, max(number, highest[section.table]?.key ?? 0))
            }
        }
        for entry in gap { note(entry.resource, entry.steps) }
        var filter = JournalFilter()
        (filter.outcome, filter.limit, filter.after) = ("inserted", Self.batch, 0)
        while true {
            let found = try await journal.entries(filter, deadline)
            for stored in found where stored.entry?.status == "merged" {
                guard let entry = stored.entry, let resource = active.catalog[entry.resource] else { continue }
                note(resource, EntryReader.steps(entry.body, resource))
            }
            guard let last = found.last else { break }
            filter.after = last.number
        }
        return highest.sorted { $0.key.description < $1.key.description }.map { table, value in
            let named = TableName(schema: table.schema ?? active.schema.name, name: table.name)
            return engine.dialect.raise(counterOf: named, above: value.key)
        }
    }
}
