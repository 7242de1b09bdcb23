package import MergeCore

/// The forms of records and keys; the wire module knows them.
package struct FeedCodec: Sendable {
    /// A record by its name, and as it was read, nil if it is gone: a part of a change that is the same for all clients
    /// that may see it.
    package let record: @Sendable (Resource, RecordKey, ReadRecord?) -> [UInt8]
    /// Reads a key as URLs spell it; nil where no record has it.
    package let key: @Sendable (String, Section) -> RecordKey?

    /// Takes the forms.
    package init(
        record: @escaping @Sendable (Resource, RecordKey, ReadRecord?) -> [UInt8],
        key: @escaping @Sendable (String, Section) -> RecordKey?
    ) {
        self.record = record
        self.key = key
    }
}
