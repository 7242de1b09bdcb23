package import MergeCore
package import RecordStore

/// Where a gateway keeps what it merged, and how it is written down.
package struct Journal: Sendable {
    /// The tables that hold it.
    package let tables: JournalTables
    /// The forms in which results are written down.
    package let codec: JournalCodec
    /// Where the tables are.
    package let engine: any RecordEngine
    /// The journal's own store, where it cannot take part in the merge's transaction; nil where it does.
    package let ahead: (any WaitingStore)?

    /// A journal that is written in the transaction of the merge.
    package init(tables: JournalTables, codec: JournalCodec, together engine: any RecordEngine) {
        self.tables = tables
        self.codec = codec
        self.engine = engine
        ahead = nil
    }

    /// A journal of its own, which is written before the merge is committed; recovery decides on what stayed in doubt.
    package init(tables: JournalTables, codec: JournalCodec, ahead store: any WaitingStore) {
        self.tables = tables
        self.codec = codec
        engine = store
        ahead = store
    }
}

/// The forms in which results are kept; the wire module knows them.
package struct JournalCodec: Sendable {
    /// One edit's outcomes for the journal, under rules that say what is private.
    package let entry: @Sendable (EditResult, Catalog) -> [UInt8]
    /// A record's key as URLs spell it.
    package let key: @Sendable (RecordKey, Section) -> String
    /// Reads what an entry tells of one row of a resource, whose table has these columns.
    package let traces: @Sendable (_ entry: [UInt8], Resource, _ section: Int, RecordKey?, [Column]) -> [RowTrace]

    /// Reads what an entry did to rows, to be compared with what the database holds.
    package let effects: @Sendable (_ entry: [UInt8], Resource) -> [RowEffect]

    package init(
        entry: @escaping @Sendable (EditResult, Catalog) -> [UInt8],
        key: @escaping @Sendable (RecordKey, Section) -> String,
        traces: @escaping @Sendable ([UInt8], Resource, Int, RecordKey?, [Column]) -> [RowTrace],
        effects: @escaping @Sendable ([UInt8], Resource) -> [RowEffect]
    ) {
        self.entry = entry
        self.key = key
        self.traces = traces
        self.effects = effects
    }
}

/// The shape of an answer.
package enum AnswerForm: Sendable, Hashable {
    /// That of `POST /v1/push`.
    case push
    /// That of `POST /v1/merge/{resource}`.
    case merge
}
