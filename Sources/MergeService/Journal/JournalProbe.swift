import MergeCore
package import RecordStore

/// Finds out whether the journal could keep a push now.
package struct JournalProbe: Sendable {
    private let journal: Journal
    private let needsSpace: Bool

    /// - Parameter needsSpace: also proves that the journal can grow. That is no cheap probe, so it is for a journal that
    ///   has just been full.
    package init(_ journal: Journal, needsSpace: Bool = false) {
        self.journal = journal
        self.needsSpace = needsSpace
    }

    /// Writes a row in a transaction that is rolled back.
    ///
    /// - Throws: `StoreError`; of the kind `unwritable` if a table, a right or space is missing, or if the database is
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
    /// Checks that a push could be written and kept now.
    ///
    /// - Parameter needsSpace: also proves that the journal can grow.
    /// - Throws: `StoreError` with the reason if nothing can be pushed, or if that could not be found out.
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
            // Rights on single tables say nothing of the database as a whole.
            if error.kind == .unwritable { throw error }
        }
    }
}

extension ActiveRules {
    /// An UPDATE of no row of a table that is no view; nil if there is none.
    fileprivate func writeProbe(_ dialect: any Dialect) -> Statement? {
        let sections = catalog.resources.lazy.flatMap(\.sections)
        return sections.first { !$0.groups.isEmpty && self.schema.tables[$0.table]?.isView != true }
            .map { SectionSQL.of($0, dialect).emptyUpdate }
    }
}
