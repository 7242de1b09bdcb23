package import MergeCore

/// A value and the column that it is compared with or written to.
package struct Bind: Sendable, Hashable {
    /// The value, of the type.
    package let value: Value
    /// The type of the column.
    package let type: ColumnType

    /// Binds a value as its column takes it.
    package init(_ value: Value, _ type: ColumnType) {
        self.value = value
        self.type = type
    }
}
