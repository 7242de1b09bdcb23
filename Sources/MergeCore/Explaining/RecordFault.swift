/// A fault in a sample record that prevents the merge.
package struct RecordFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The record that has the fault.
    package let side: RecordSide
    /// The location in the record, such as `groceries[0].quantity`; empty for the whole record.
    package let path: WirePath
    /// The end of a sentence that begins with the path.
    package let reason: String

    /// Creates a fault from its location and a sentence without a full stop.
    package init(_ side: RecordSide, at path: WirePath, reason: String) {
        self.side = side
        self.path = path
        self.reason = reason
    }

    /// A sentence without its full stop.
    package var description: String { (path.text.isEmpty ? "the record" : "“\(path)”") + " \(reason)" }
}
