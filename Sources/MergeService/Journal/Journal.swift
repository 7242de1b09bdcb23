package import MergeCore
package import RecordStore

/// Where a gateway keeps what it merged, and how it is written down.
package struct Journal: Sendable {
    package let tables: JournalTables
    package let codec: JournalCodec

    package init(tables: JournalTables, codec: JournalCodec) {
        self.tables = tables
        self.codec = codec
    }
}

/// The forms in which results are kept; the wire module knows them.
package struct JournalCodec: Sendable {
    /// One edit's outcomes for the journal, under rules that say what is private.
    package let entry: @Sendable (EditResult, Catalog) -> [UInt8]
    /// A record's key as URLs spell it.
    package let key: @Sendable (RecordKey, Section) -> String
    /// What an entry tells of one row of a resource, whose table has these columns.
    package let traces: @Sendable (_ entry: [UInt8], Resource, _ section: Int, RecordKey?, [Column]) -> [RowTrace]

    package init(
        entry: @escaping @Sendable (EditResult, Catalog) -> [UInt8],
        key: @escaping @Sendable (RecordKey, Section) -> String,
        traces: @escaping @Sendable ([UInt8], Resource, Int, RecordKey?, [Column]) -> [RowTrace]
    ) {
        self.entry = entry
        self.key = key
        self.traces = traces
    }
}

/// The shape of an answer.
package enum AnswerForm: Sendable, Hashable {
    /// That of `POST /v1/push`.
    case push
    /// That of `POST /v1/merge/{resource}`.
    case merge
}
