import MergeCore
package import RecordStore

/// Checks that the journal could store a push now.
package struct JournalProbe: Sendable {
    private let journal: Journal
    private let needsSpace: Bool

    /// Creates a probe.
    ///
    /// - Parameter needsSpace: also checks that the journal can grow, which is expensive; for a journal that has been
    ///   full.
    package init(_ journal: Journal, needsSpace: Bool = false) {
        self.journal = journal
        self.needsSpace = needsSpace
    }

    /// Writes a row in a transaction that is rolled back.
    ///
    /// - Throws: `StoreError`; of the kind `unwritable` if a table, a right or space is missing, or the database is
    ///   read-only.
    package func run(until deadline: ContinuousClock.Instant) async throws(StoreError) {
        let tables = journal.tables
        let commitsSpace = needsSpace && tables.dialect.isFile
        let space = needsSpace ? [tables.spaceProbe] : []
        do throws(StoreError) {
            try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
                var statements = (tables.rightsProbes + [tables.writeProbe] + (commitsSpace ? [] : space))[...]
                try session.run({ statements.popFirst() }) { _ in }
                return .rollback(())
            }
            guard commitsSpace else { return }
            for statement in space + [tables.endSpaceProbe] {
                try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
                    _ = try session.execute(statement)
                    return .commit(())
                }
            }
        } catch {
            throw error.ofJournal
        }
    }
}

extension MergeService {
    /// Checks that a push could be written and stored now.
    ///
    /// - Parameter needsSpace: also checks that the journal can grow.
    /// - Throws: `StoreError` if no push can be stored, or if the check itself fails.
    package func checkWritable(
        _ active: ActiveRules, needsSpace: Bool, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        if let journal = active.journal {
            try await JournalProbe(journal, needsSpace: needsSpace).run(until: deadline)
            // A server is read-only as a whole.
            if journal.ahead == nil, !engine.dialect.isFile { return }
        }
        guard let statement = active.writeProbe(engine.dialect) else { return }
        do throws(StoreError) {
            try await engine.write(deadline: deadline) { session throws(StoreError) in
                _ = try session.execute(statement)
                return .rollback(())
            }
        } catch {
            // Missing rights on one table do not concern the database as a whole.
            if error.kind == .unwritable { throw error }
        }
    }
}

extension ActiveRules {
    fileprivate func writeProbe(_ dialect: any Dialect) -> Statement? {
        let sections = catalog.resources.lazy.flatMap(\.sections)
        return sections.first { !$0.groups.isEmpty && self.schema.tables[$0.table]?.isView != true }
            .map { SectionSQL.of($0, dialect).emptyUpdate }
    }
}
