/// A fault for which a sample record cannot take part in a merge.
package struct RecordFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file that has the fault.
    package let side: RecordSide
    /// The place in the record, such as `groceries[0].quantity`; empty for the record as a whole.
    package let path: WirePath
    /// The end of a sentence that begins with the path.
    package let reason: String

    /// Makes the fault of a value, by its place in the file and a sentence without a full stop.
    package init(_ side: RecordSide, at path: WirePath, reason: String) {
        self.side = side
        self.path = path
        self.reason = reason
    }

    /// A sentence without its full stop.
    package var description: String { (path.text.isEmpty ? "the record" : "“\(path)”") + " \(reason)" }
}
