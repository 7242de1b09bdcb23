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

    /// Binds a value of a key to be compared by `<` or `>` as `ORDER BY` sorts its column.
    ///
    /// MariaDB sorts an ENUM by the positions of its members, from 1, but compares it to a text as texts; to a number it
    /// compares the position (MariaDB Knowledge Base, ENUM). The error value is at position 0.
    init(orderOf value: Value, _ type: ColumnType) {
        guard case .enumeration(let members) = type, case .text(let member) = value else {
            self.init(value, type)
            return
        }
        let position = members.firstIndex(of: member).map { $0 + 1 } ?? 0
        self.init(.integer(Int128(position)), .integer(0...65_535))
    }
}
