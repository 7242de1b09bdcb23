import MergeCore
package import MergeService
package import RecordStore

/// A missing journal may be lost, and an empty one would treat known keys as new. So only `journal init` creates one.
extension JournalOpener {
    /// Opens the journal without creating anything.
    ///
    /// - Throws: `StoreError` with the remedy if the schema or its tables are missing.
    package func openExisting(for purpose: Purpose) async throws(StoreError) -> Journal {
        try await requireSchema()
        return try await open(createsTables: false, for: purpose)
    }

    /// - Throws: `StoreError` with the remedy if the journal's schema is missing.
    package func requireSchema() async throws(StoreError) {
        guard try await exists() else { throw missing("The server has no schema “\(tables.schema)”") }
    }

    func missing(_ sentence: String) -> StoreError {
        StoreError(
            .other,
            sentence + ", or the database user has no right on it. “fieldmerge journal init” makes the journal and "
                + "prints the GRANT. “--journal off” serves without a journal")
    }

    /// Checks all requirements of `serve` on the journal, and its rights.
    ///
    /// It creates and writes nothing.
    ///
    /// - Throws: `StoreError` with the remedy if the journal cannot be used.
    package func check() async throws(StoreError) {
        let version = try await meta("version")
        // `serve` creates the tables of a file at start.
        if tables.dialect.isFile, version == nil { return }
        let journal = try await openExisting(for: .looking)
        // `serve` adds tables to an older journal at start.
        guard version == String(JournalTables.version) else { return }
        try await JournalProbe(journal).run(until: deadline)
    }
}
