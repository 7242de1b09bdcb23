import MergeCore
package import MergeService
package import RecordStore

/// A journal that is missing may have been lost. An empty one in its place would answer known keys as new ones, so only
/// `journal init` makes one.
extension JournalOpener {
    /// Opens the journal, and makes nothing.
    ///
    /// - Throws: `StoreError` with what to do if the schema or its tables are missing.
    package func openExisting(for purpose: Purpose) async throws(StoreError) -> Journal {
        try await requireSchema()
        return try await open(createsTables: false, for: purpose)
    }

    /// - Throws: `StoreError` with what to do if the journal's schema is missing.
    package func requireSchema() async throws(StoreError) {
        guard try await exists() else { throw missing("The server has no schema “\(tables.schema)”") }
    }

    func missing(_ sentence: String) -> StoreError {
        StoreError(
            .other,
            sentence + ", or the database user has no right on it. “fieldmerge journal init” makes the journal and "
                + "prints the GRANT. “--journal off” serves without a journal")
    }

    /// Checks everything that `serve` requires of the journal, and its rights.
    ///
    /// Nothing is made or written.
    ///
    /// - Throws: `StoreError` with what to do if the journal cannot be used.
    package func check() async throws(StoreError) {
        let version = try await meta("version")
        // Tables of a file are made at start.
        if tables.dialect.isFile, version == nil { return }
        let journal = try await openExisting(for: .looking)
        // An older journal gets further tables at start.
        guard version == String(JournalTables.version) else { return }
        try await JournalProbe(journal).run(until: deadline)
    }
}
