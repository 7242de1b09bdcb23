import MergeCore
package import RecordStore

/// A journal belongs to one database: its keys and records mean nothing for another one.
extension JournalOpener {
    /// The result of an adoption.
    package struct Adoption: Sendable, Hashable {
        /// The journal's schema or file.
        package let journal: String
        /// The former owner; nil if there was none.
        package let former: DatabaseMark?
        /// The current owner.
        package let owner: DatabaseMark
    }

    private static let owner = "database"

    /// Returns the statement that stores the owner in a new journal.
    func ownerStatement() async throws(StoreError) -> Statement {
        tables.setMeta(Self.owner, try await DatabaseMark(of: database, deadline: deadline).text.string)
    }

    /// Compares the journal's owner with the database.
    ///
    /// - Parameter isClaimed: makes this database the owner if an older journal has none.
    /// - Throws: `StoreError` with the remedy if another database is the owner.
    func prove(isClaimed: Bool) async throws(StoreError) {
        let mark = try await DatabaseMark(of: database, deadline: deadline)
        var owner = try await meta(Self.owner)
        if owner == nil, isClaimed {
            // If several gateways start at once, the first mark remains, and each gateway reads it.
            try await run([tables.setMeta(Self.owner, mark.text.string)])
            owner = try await meta(Self.owner)
        }
        guard let owner, DatabaseMark(text: owner) != mark else { return }
        throw StoreError(.other, try await refusal(mark, owner: DatabaseMark(text: owner)))
    }

    /// Makes this database the owner of the journal, whatever the former owner.
    ///
    /// - Throws: `StoreError` if there is no journal, or it cannot be written.
    package func adopt() async throws(StoreError) -> Adoption {
        let mark = try await DatabaseMark(of: database, deadline: deadline)
        _ = try await open(for: .adopting)
        let tables = tables
        let former = try await engine.write(deadline: deadline) { session throws(StoreError) -> Ending<[Value]> in
            let former = try session.query(tables.meta(Self.owner)).first ?? []
            _ = try session.execute(tables.setMeta(Self.owner, mark.text.string))
            _ = try session.execute(tables.changeMeta(Self.owner, mark.text.string))
            return .commit(former)
        }
        var formerMark: DatabaseMark?
        if case .text(let text)? = former.first { formerMark = DatabaseMark(text: text.string) }
        return Adoption(journal: try await name(), former: formerMark, owner: mark)
    }

    /// Returns the journal's schema or the path of its file.
    private func name() async throws(StoreError) -> String {
        guard let question = tables.dialect.file(ofSchema: tables.schema) else { return tables.schema }
        return try await DatabaseMark.text(question, in: engine, deadline: deadline) ?? tables.schema
    }

    private func refusal(_ mark: DatabaseMark, owner: DatabaseMark) async throws(StoreError) -> String {
        let journal = try await name()
        let adopting = "take the journal over with “fieldmerge journal adopt”"
        guard owner.name != mark.name else {
            return
                "the journal “\(journal)” belongs to a file that was at “\(mark.name)” before, and another is there now; "
                + "where that file was restored or moved back, \(adopting), else begin with an empty journal, such as "
                + "--journal sqlite:FILE"
        }
        return
            "the journal “\(journal)” belongs to the database “\(owner.name)”, and this is “\(mark.name)”; give it a "
            + "journal of its own with --journal \(suggestion(mark)), which “fieldmerge journal init” makes, or, where "
            + "“\(owner.name)” was moved or restored as “\(mark.name)”, \(adopting)"
    }

    private func suggestion(_ mark: DatabaseMark) -> String {
        guard !tables.dialect.isFile else { return "sqlite:FILE" }
        let schema = "fieldmerge_" + mark.name
        return "same-server:" + (schema.count <= 64 ? schema : "SCHEMA")
    }
}
