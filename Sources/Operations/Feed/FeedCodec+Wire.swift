package import ChangeFeed
import MergeWire

extension FeedCodec {
    /// The forms of Protocol.md.
    package static var wire: FeedCodec {
        FeedCodec(
            record: { ChangesEncoder.encode($2, under: $1, of: $0) },
            key: { text, section in
                // A text that is no key under the current rules names no record.
                (try? KeyText.lookup(text, section)) ?? nil
            })
    }
}
