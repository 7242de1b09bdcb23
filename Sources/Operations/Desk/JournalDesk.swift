import MergeCore
package import MergeService
import MergeWire
package import RecordStore
import RuleFiles

/// The journal for an operator, without a running gateway.
package struct JournalDesk: Sendable {
    let engine: any RecordEngine
    let journal: Journal
    /// The person who acts.
    let author: Sender
    private static let patience = Duration.seconds(300)

    /// Makes the desk of one database and its journal.
    ///
    /// - Parameter author: the name of the person who acts, for the journal.
    package init(engine: any RecordEngine, journal: Journal, author: String) {
        // The device distinguishes this name from a token's name.
        self.author = Sender(who: author, device: "command line")
        self.engine = engine
        self.journal = journal
    }

    /// No client waits, so the deadline is generous.
    var deadline: ContinuousClock.Instant { .now.advanced(by: Self.patience) }

    // MARK: Reading

    /// Returns the newest entries of a filter, or those after its number; the newest last.
    ///
    /// - Parameter value: returns a parameter of `GET /v1/journal`; nil if it is absent.
    package func list(
        rules: String?, onlyRefused: Bool = false, _ value: (String) -> String?
    ) async throws(JournalFault) -> JournalPage {
        var catalog: Catalog?
        if value("id") != nil || value("field") != nil, let rules { catalog = try await active(rules).catalog }
        do {
            var filter = try JournalQuery(catalog: catalog).filter { name throws(Problem) in value(name) }
            if onlyRefused { filter.onlyRefused = true }
            filter.isBackward = filter.after == nil
            let limit = filter.limit
            filter.limit += 1
            let found = try await journal.entries(filter, deadline)
            let shown = Array(found.prefix(limit))
            var page = JournalPage(
                entries: filter.isBackward ? shown.reversed() : shown, hasMore: found.count > limit,
                isNewest: filter.isBackward)
            // The entry of a foreign change shows it already.
            if let resource = filter.resource, let record = filter.record,
                page.entries.last?.sender != .foreignProgram
            {
                page.lastForeignChange = try await lastForeignChange(
                    of: RecordName(resource: resource, record: record))
            }
            return page
        } catch {
            throw JournalFault(error)
        }
    }

    private func lastForeignChange(of name: RecordName) async throws(StoreError) -> DateTime? {
        let question = journal.tables.feed.lastForeignChange(of: name)
        let rows = try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
            try session.query(question)
        }
        guard case .dateTime(let moment)? = rows.first?.last else { return nil }
        return moment
    }

    /// Returns an entry; throws if there is none, or the journal cannot be read.
    package func entry(_ number: Int) async throws(JournalFault) -> StoredEntry {
        do {
            return try await journal.entry(number, deadline)
        } catch {
            throw JournalFault(error)
        }
    }

    // MARK: Actions

    /// Merges the opposite of an entry.
    ///
    /// - Parameters:
    ///   - groups: the groups to undo, as `section.group`; empty for all.
    ///   - isForced: undoes also values that have changed since the entry.
    package func undo(
        _ number: Int, groups: [String], isForced: Bool, rules: String, isPreview: Bool
    ) async throws(JournalFault) -> PushAnswer {
        try await act(under: rules, isPreview: isPreview) { actions in
            try await actions.undo(
                number,
                wanted: UndoRequest(
                    groups: groups.isEmpty ? nil : Set(groups.map { ExactText($0) }), isForced: isForced),
                sender: author, isPreview: isPreview)
        }
    }

    /// Sends a refused push again.
    package func replay(_ number: Int, rules: String, isPreview: Bool) async throws(JournalFault) -> PushAnswer {
        try await act(under: rules, isPreview: isPreview) { try await $0.replay(number, isPreview: isPreview) }
    }

    /// Settles a refused push without a resend.
    package func drop(_ number: Int, rules: String) async throws(JournalFault) -> StoredEntry {
        let active = try await active(rules)
        let service = MergeService.wire(engine)
        try await claim(service, active)
        do {
            return try await JournalActions(service: service, active: active, limits: WireLimits(), deadline: deadline)
                .drop(number, by: author.who)
        } catch {
            throw JournalFault(error)
        }
    }

    /// Takes and reports the necessary steps after a restore or a failover.
    ///
    /// - Parameters:
    ///   - newer: a copy of the journal from before the restore; nil if there is none.
    ///   - rollsForward: merges pushes that are missing in the data again.
    package func restored(
        newer: Journal?, rules: String, rollsForward: Bool, isPreview: Bool
    ) async throws(JournalFault) -> RestoreReport {
        let active = try await active(rules)
        var merging = MergeLimits()
        merging.rowsPerRecord = 10_000_000
        let service = MergeService.wire(engine, limits: merging)
        if !isPreview { try await claim(service, active) }
        do {
            return try await JournalRestore(
                service: service, active: active, journal: journal, newer: newer
            ).run(rollsForward: rollsForward, isPreview: isPreview)
        } catch {
            throw JournalFault(error)
        }
    }

    /// Recovers in-doubt transactions of a write-ahead journal before the first merge, unless a gateway does so.
    func claim(_ service: MergeService, _ active: ActiveRules) async throws(JournalFault) {
        guard let ahead = journal.ahead else { return }
        do throws(StoreError) {
            try ahead.claim()
            try await service.recover(active, until: deadline)
        } catch {
            guard error.kind == .busy, !ahead.isClaimed else { throw JournalFault(error) }
        }
    }

    private func act(
        under rules: String, isPreview: Bool, _ action: (JournalActions) async throws -> PushAnswer
    ) async throws(JournalFault) -> PushAnswer {
        let active = try await active(rules)
        // Stored pushes passed the gateway's own limits, which are unknown here.
        var limits = WireLimits()
        (limits.depth, limits.edits, limits.items) = (2_000, .max, .max)
        var merging = MergeLimits()
        merging.rowsPerRecord = 10_000_000
        let service = MergeService.wire(engine, limits: merging)
        if !isPreview { try await claim(service, active) }
        do {
            return try await action(
                JournalActions(
                    service: service, active: active, limits: limits, deadline: deadline))
        } catch {
            throw JournalFault(error)
        }
    }

    func active(_ folder: String) async throws(JournalFault) -> ActiveRules {
        switch await RulesLoader.load(folder, against: engine) {
        case .active(let active, _):
            return ActiveRules(
                catalog: active.catalog, schema: active.schema, dialect: engine.dialect, journal: journal)
        case .refused(let findings):
            let first = findings.sorted.first { $0.severity == .error }
            throw JournalFault(
                "the rules cannot be used; “fieldmerge check” prints why\(first.map { " (\($0))" } ?? "")")
        case .unreachable(let error): throw JournalFault(error)
        }
    }
}
