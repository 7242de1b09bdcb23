package import MergeCore
package import RecordStore

/// The journal of a gateway: its store and the encodings of its entries.
package final class Journal: Sendable {
    /// The journal's tables.
    package let tables: JournalTables
    /// The encodings of entries and answers.
    package let codec: JournalCodec
    /// The engine that contains the tables.
    package let engine: any RecordEngine
    /// The journal's separate store; nil if the journal is written in the transaction of the merge.
    package let ahead: (any WaitingStore)?
    /// The key of the row hashes.
    package let hashKey: SipHash.Key

    /// Creates a journal that is written in the transaction of the merge.
    package init(
        tables: JournalTables, codec: JournalCodec, together engine: any RecordEngine,
        hashKey: SipHash.Key = SipHash.Key(secret: [])
    ) {
        self.hashKey = hashKey
        self.tables = tables
        self.codec = codec
        self.engine = engine
        ahead = nil
    }

    /// Creates a write-ahead journal, which is written before the merge is committed.
    package init(
        tables: JournalTables, codec: JournalCodec, ahead store: any WaitingStore,
        hashKey: SipHash.Key = SipHash.Key(secret: [])
    ) {
        self.hashKey = hashKey
        self.tables = tables
        self.codec = codec
        engine = store
        ahead = store
    }
}

extension Journal {
    /// True if the journal is written in the transaction of the merge.
    package var isTogether: Bool { ahead == nil }

    /// The bytes of the longest push that can be stored; nil without a limit.
    package var longestBody: Int? { engine.longestValue }

    /// Checks that the journal could store a push if it were refused.
    ///
    /// - Throws: a 413 `Problem` if the body is too long for the journal's database.
    package func checkLength(ofBody count: Int) throws(Problem) {
        guard let longest = longestBody, count > longest else { return }
        throw Problem(
            .tooLarge,
            detail: "A push may have \(longest) bytes, because the journal's database accepts no longer values "
                + "(max_allowed_packet). Send it in parts.", retry: .never)
    }
}

/// The encodings of entries and answers, which the wire module implements.
package struct JournalCodec: Sendable {
    /// Encodes one edit's outcomes without the private values of the rules, with the id of its request.
    package let entry: @Sendable (EditResult, Catalog, _ request: String?) -> [UInt8]
    /// Encodes the entry of a push without edited records: the id of its request.
    package let bareEntry: @Sendable (_ request: String) -> [UInt8]
    /// Encodes a record's key as in URLs.
    package let key: @Sendable (RecordKey, Section) -> String
    /// Reads the events of some rows from an entry; `columns` returns the columns of a section's table.
    package let traces:
        @Sendable (_ entry: [UInt8], Resource, Set<EntryRow>, _ columns: (Int) -> [Column]) -> EntryTraces

    /// Returns true if an entry names a group.
    package let names: @Sendable (_ entry: [UInt8], EntryGroup) -> Bool

    /// Returns true if an entry has a conflict.
    package let hasConflict: @Sendable (_ entry: [UInt8]) -> Bool

    /// Reads writes of pushes.
    package let writes: WriteReader

    /// Reads the effects of an entry on rows, for a comparison with the database.
    package let effects: @Sendable (_ entry: [UInt8], Resource) -> [RowEffect]

    /// Removes the private values from an answer; nil if it cannot be read.
    package let answer: @Sendable (_ body: [UInt8], Catalog) -> [UInt8]?

    /// Removes the private values from a refused push.
    package let refused: @Sendable (_ body: [UInt8], _ address: String, Catalog) -> [UInt8]

    /// Restores the private values of a stored answer, as far as the push and the current records contain them.
    package let revealed:
        @Sendable (
            _ answer: [UInt8], _ push: [UInt8], _ address: String, _ records: [(resource: Resource, record: [UInt8])],
            Catalog
        ) -> [UInt8]

    /// Creates a codec; by default, answers and pushes are stored unchanged.
    package init(
        entry: @escaping @Sendable (EditResult, Catalog, String?) -> [UInt8],
        bareEntry: @escaping @Sendable (String) -> [UInt8] = { _ in [] },
        key: @escaping @Sendable (RecordKey, Section) -> String,
        traces: @escaping @Sendable ([UInt8], Resource, Set<EntryRow>, (Int) -> [Column]) -> EntryTraces,
        effects: @escaping @Sendable ([UInt8], Resource) -> [RowEffect],
        names: @escaping @Sendable ([UInt8], EntryGroup) -> Bool = { _, _ in true },
        hasConflict: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
        writes: WriteReader = WriteReader { _, _, _ in [:] },
        answer: @escaping @Sendable ([UInt8], Catalog) -> [UInt8]? = { body, _ in body },
        refused: @escaping @Sendable ([UInt8], String, Catalog) -> [UInt8] = { body, _, _ in body },
        revealed:
            @escaping @Sendable ([UInt8], [UInt8], String, [(resource: Resource, record: [UInt8])], Catalog) ->
            [UInt8] = { answer, _, _, _, _ in answer }
    ) {
        self.entry = entry
        self.bareEntry = bareEntry
        self.key = key
        self.traces = traces
        self.effects = effects
        self.names = names
        self.hasConflict = hasConflict
        self.writes = writes
        self.answer = answer
        self.refused = refused
        self.revealed = revealed
    }
}

extension JournalCodec {
    /// Returns true if the content of an entry matches the parts of a filter that no statement can test.
    func matches(_ stored: StoredEntry, _ filter: JournalFilter) -> Bool {
        guard let body = stored.entry?.body else { return false }
        if let group = filter.group, !names(body, group) { return false }
        return !filter.onlyConflicts || hasConflict(body)
    }
}

/// Reads the writes of pushes, for a comparison with the database.
package struct WriteReader: Sendable {
    /// Reads the writes of an entry to some rows of a resource.
    package let writes: @Sendable (_ entry: [UInt8], Resource, Set<EntryRow>) -> [EntryRow: RowWrites]
    /// Returns the digest that replaces a private value in entries.
    package let digest: @Sendable (Value, Column) -> String

    /// Creates a reader.
    ///
    /// - Parameter digest: needed only if entries contain private values.
    package init(
        digest: @escaping @Sendable (Value, Column) -> String = { _, _ in "" },
        writes: @escaping @Sendable (_ entry: [UInt8], Resource, Set<EntryRow>) -> [EntryRow: RowWrites]
    ) {
        self.writes = writes
        self.digest = digest
    }
}

/// The shape of an answer.
package enum AnswerForm: Sendable, Hashable {
    /// The shape of `POST /v1/push`.
    case push
    /// The shape of `POST /v1/merge/{resource}`.
    case merge
}
