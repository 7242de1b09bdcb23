package import MergeCore

/// Encodes records and decodes keys.
///
/// The wire module supplies both functions.
package struct FeedCodec: Sendable {
    /// Encodes a record or its absence, in the same form for all clients that may read it.
    package let record: @Sendable (Resource, RecordKey, ReadRecord?) -> [UInt8]
    /// Decodes a key from its URL form, or returns nil.
    package let key: @Sendable (String, Section) -> RecordKey?

    /// Makes a codec.
    package init(
        record: @escaping @Sendable (Resource, RecordKey, ReadRecord?) -> [UInt8],
        key: @escaping @Sendable (String, Section) -> RecordKey?
    ) {
        self.record = record
        self.key = key
    }
}
