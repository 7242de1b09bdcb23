package import MergeCore
package import RecordStore

/// The place in which a gateway keeps what it merged, and the forms in which it is written down.
package final class Journal: Sendable {
    /// The tables that hold it.
    package let tables: JournalTables
    /// The forms in which results are written down.
    package let codec: JournalCodec
    /// The engine that holds the tables.
    package let engine: any RecordEngine
    /// The journal's own store, where it cannot take part in the merge's transaction; nil where it does.
    package let ahead: (any WaitingStore)?
    /// The key under which rows are hashed.
    package let hashKey: SipHash.Key

    /// A journal that is written in the transaction of the merge.
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

    /// A journal of its own, which is written before the merge is committed; recovery decides on what stayed in doubt.
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

    /// The bytes of the longest push that can be kept; nil without such a bound.
    package var longestBody: Int? { engine.longestValue }

    /// Checks that a push can be kept whole, should it be refused.
    ///
    /// - Throws: a 413 `Problem` if the journal's database accepts no value of its length.
    package func checkLength(ofBody count: Int) throws(Problem) {
        guard let longest = longestBody, count > longest else { return }
        throw Problem(
            .tooLarge,
            detail: "A push may have \(longest) bytes, because the journal's database accepts no longer values "
                + "(max_allowed_packet). Send it in parts.", retry: .never)
    }
}

/// The forms in which results are kept; the wire module knows them.
package struct JournalCodec: Sendable {
    /// One edit's outcomes for the journal, under rules that say what is private.
    package let entry: @Sendable (EditResult, Catalog) -> [UInt8]
    /// A record's key as URLs spell it.
    package let key: @Sendable (RecordKey, Section) -> String
    /// Reads what an entry tells of some rows of a resource, whose sections' tables have these columns.
    package let traces:
        @Sendable (_ entry: [UInt8], Resource, Set<EntryRow>, _ columns: (Int) -> [Column]) -> EntryTraces

    /// Reads what pushes wrote.
    package let writes: WriteReader

    /// Reads what an entry did to rows, to be compared with what the database holds.
    package let effects: @Sendable (_ entry: [UInt8], Resource) -> [RowEffect]

    /// An answer as it is kept, under rules that say what is private; nil if it cannot be read.
    package let answer: @Sendable (_ body: [UInt8], Catalog) -> [UInt8]?

    /// A refused push as it is kept, under rules that say what is private.
    package let refused: @Sendable (_ body: [UInt8], _ address: String, Catalog) -> [UInt8]

    /// A kept answer as it was given, as far as its values are at hand: in the push and in the records as they stand.
    package let revealed:
        @Sendable (
            _ answer: [UInt8], _ push: [UInt8], _ address: String, _ records: [(resource: Resource, record: [UInt8])],
            Catalog
        ) -> [UInt8]

    /// Takes the forms; without rules that say what is private, answers and pushes are kept as they are.
    package init(
        entry: @escaping @Sendable (EditResult, Catalog) -> [UInt8],
        key: @escaping @Sendable (RecordKey, Section) -> String,
        traces: @escaping @Sendable ([UInt8], Resource, Set<EntryRow>, (Int) -> [Column]) -> EntryTraces,
        effects: @escaping @Sendable ([UInt8], Resource) -> [RowEffect],
        writes: WriteReader = WriteReader { _, _, _ in [:] },
        answer: @escaping @Sendable ([UInt8], Catalog) -> [UInt8]? = { body, _ in body },
        refused: @escaping @Sendable ([UInt8], String, Catalog) -> [UInt8] = { body, _, _ in body },
        revealed:
            @escaping @Sendable ([UInt8], [UInt8], String, [(resource: Resource, record: [UInt8])], Catalog) ->
            [UInt8] = { answer, _, _, _, _ in answer }
    ) {
        self.entry = entry
        self.key = key
        self.traces = traces
        self.effects = effects
        self.writes = writes
        self.answer = answer
        self.refused = refused
        self.revealed = revealed
    }
}

/// Reads what pushes wrote, to be compared with what the database contains.
package struct WriteReader: Sendable {
    /// Reads the writes of an entry to some rows of a resource.
    package let writes: @Sendable (_ entry: [UInt8], Resource, Set<EntryRow>) -> [EntryRow: RowWrites]
    /// Returns what an entry contains in place of a private value.
    package let digest: @Sendable (Value, Column) -> String

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
    /// That of `POST /v1/push`.
    case push
    /// That of `POST /v1/merge/{resource}`.
    case merge
}
