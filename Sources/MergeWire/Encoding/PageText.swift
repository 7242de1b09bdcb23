package import MergeCore
import Synchronization

/// The text of a page of records, written while the records are read.
///
/// The last piece is kept until the next one arrives. Short pieces are joined.
package final class PageText: Sendable {
    private let resource: Resource
    private struct State {
        var writer = JSONWriter(capacity: 16_384)
        /// The number of records that are not sent yet.
        var held = 0
        var byteCount = 0
    }

    /// The number of bytes of all added records.
    package var byteCount: Int { state.withLock { $0.byteCount } }

    private let state: Mutex<State>

    /// Begins a page of records of a resource.
    package init(_ resource: Resource) {
        self.resource = resource
        var start = State()
        start.writer.begin(UInt8(ascii: "{"))
        start.writer.member("records")
        start.writer.begin(UInt8(ascii: "["))
        state = Mutex(start)
    }

    /// The number of records, and of bytes, from which on text is sent.
    private static let (fewest, shortest) = (64, 262_144)

    /// Adds records, and returns the earlier text if there is enough to send.
    package func add(_ records: [ReadRecord]) -> [UInt8]? {
        state.withLock { state in
            let leaves = state.held >= Self.fewest || (state.held > 0 && state.writer.bytes.count >= Self.shortest)
            let before = leaves ? state.writer.takeBytes() : nil
            if leaves { state.held = 0 }
            state.held += records.count
            let start = state.writer.bytes.count
            for record in records { RecordEncoder.writeItem(record, of: resource, to: &state.writer) }
            state.byteCount += state.writer.bytes.count - start
            return before
        }
    }

    /// Returns the rest of the text, with the key for the next page, if any.
    package func end(next: RecordKey?) -> [UInt8] {
        state.withLock { state in
            state.writer.end(UInt8(ascii: "]"))
            state.writer.member("next")
            if let next {
                state.writer.string(KeyText.encode(next, resource.root))
            } else {
                state.writer.null()
            }
            state.writer.end(UInt8(ascii: "}"))
            return state.writer.takeBytes()
        }
    }
}
