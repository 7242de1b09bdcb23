import MergeCore
package import RecordStore

/// The steps of an upgrade of a journal, for a preview.
package struct JournalUpgrade: Sendable, Hashable {
    /// The name of the journal's schema.
    package let journal: String
    /// The version of the journal.
    package let from: Int
    /// The version that this program writes.
    package let to: Int
    /// True if tables or columns are missing.
    package let makesTables: Bool
    /// True if every client takes a snapshot.
    package let beginsFeed: Bool
    /// The rows that the upgrade reads.
    package let rows: Int
    /// True if a gateway uses the journal now.
    package let isInUse: Bool

    /// True if `serve` may not make the tables by itself.
    package let needsAdministrator: Bool

    /// True if nothing is to be done.
    package var isCurrent: Bool { from == to }
}

extension JournalOpener {
    /// Returns the steps of an upgrade without taking them.
    ///
    /// - Throws: `StoreError` if there is no journal, or if a newer version made it.
    package func plannedUpgrade() async throws(StoreError) -> JournalUpgrade {
        guard let version = try await meta("version").flatMap({ Int($0) }) else {
            throw missing("“\(tables.schema)” contains no journal")
        }
        guard version <= JournalTables.version else {
            throw StoreError(
                .other,
                "the journal “\(tables.schema)” is of version \(version), which a newer version of FieldMerge made; this one "
                    + "can use versions up to \(JournalTables.version)")
        }
        let makesTables = version < JournalTables.version ? try await !answers(tables.feed.probes) : false
        let readsRows = version == 4
        return JournalUpgrade(
            journal: tables.schema, from: version, to: JournalTables.version, makesTables: makesTables,
            beginsFeed: readsRows ? try await hasConditions() : false, rows: readsRows ? try await countChanges() : 0,
            isInUse: try await isInUse(), needsAdministrator: makesTables && !tables.dialect.isFile)
    }

    /// Returns true if a gateway has a lease to detect changes of other programs, which it renews every second.
    func isInUse() async throws(StoreError) -> Bool {
        guard ahead == nil, !engine.dialect.isFile else { return false }
        do throws(StoreError) {
            return try await engine.read(deadline: deadline) { [feed = tables.feed] session throws(StoreError) in
                try !session.query(feed.lease).isEmpty
            }
        } catch {
            // A journal from before the scan has no such table.
            guard error.kind == .schemaChanged || error.kind == .denied else { throw error }
            return false
        }
    }

    private func countChanges() async throws(StoreError) -> Int {
        let rows = try await engine.read(deadline: .now + .seconds(600)) {
            [feed = tables.feed] session throws(StoreError) in
            try session.query(feed.changeCount)
        }
        guard case .integer(let count)? = rows.first?.first else { return 0 }
        return Int(clamping: count)
    }
}
