/// The key of a row: its values in key order, as the database stores them.
package struct RecordKey: Sendable, Hashable {
    package let parts: [Value]

    package init(_ parts: [Value]) {
        self.parts = parts
    }
}
