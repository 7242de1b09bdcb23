/// A row with every column that its table lets be read and written, so that it can come back as it was.
package struct RawRow: Sendable, Hashable {
    package let values: [RawValue]

    package init(values: [RawValue]) {
        self.values = values
    }
}
