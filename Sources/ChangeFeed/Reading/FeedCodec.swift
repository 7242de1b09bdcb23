package import MergeCore

/// The forms of records and keys; the wire module knows them.
package struct FeedCodec: Sendable {
    /// A record as `GET /v1/records` answers it.
    package let record: @Sendable (Record, Resource) -> [UInt8]
    /// Reads a key as URLs spell it; nil where no record has it.
    package let key: @Sendable (String, Section) -> RecordKey?

    /// Takes the forms.
    package init(
        record: @escaping @Sendable (Record, Resource) -> [UInt8],
        key: @escaping @Sendable (String, Section) -> RecordKey?
    ) {
        self.record = record
        self.key = key
    }
}
