package import MergeCore

/// A value and the column that it is compared with or written to.
package struct Bind: Sendable, Hashable {
    package let value: Value
    package let type: ColumnType

    package init(_ value: Value, _ type: ColumnType) {
        self.value = value
        self.type = type
    }
}
