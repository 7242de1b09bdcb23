package import MergeCore
import Synchronization

/// The text of a page of records, written as they are read.
///
/// Pieces leave one behind the other: the last is held back until it is known whether another follows, and short ones go
/// together.
package final class PageText: Sendable {
    private let resource: Resource
    private struct State {
        var writer = JSONWriter(capacity: 16_384)
        /// Records that have not left.
        var held = 0
        var byteCount = 0
    }

    /// Bytes of records that were added.
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

    /// The records, and the bytes, from which text leaves.
    private static let (fewest, shortest) = (64, 262_144)

    /// - Returns: the text that came before, which can be sent; nil where little or nothing came before.
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

    /// Returns what is left to send.
    ///
    /// - Parameter next: ready for `after` in a URL; nil on the last page.
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
