package import MergeCore

/// A value with the type of its column.
package struct Bind: Sendable, Hashable {
    /// The value, converted to the type; a boolean of two stored values is the stored value.
    package let value: Value
    /// The type of the column.
    package let type: ColumnType

    /// Binds a value to the type of its column.
    package init(_ value: Value, _ type: ColumnType) {
        if case .coded(let code) = type {
            self.value = code.stored(value)
            self.type = code.type
        } else {
            self.value = value
            self.type = type
        }
    }

    /// Binds a value of a key for `<` or `>` in the order of `ORDER BY`.
    ///
    /// MariaDB sorts an ENUM by the positions of its members, from 1; the error value has position 0. It compares an
    /// ENUM with a text by text, and with a number by position (MariaDB Knowledge Base, ENUM).
    init(orderOf value: Value, _ type: ColumnType) {
        guard case .enumeration(let members) = type, case .text(let member) = value else {
            self.init(value, type)
            return
        }
        let position = members.firstIndex(of: member).map { $0 + 1 } ?? 0
        self.init(.integer(Int128(position)), .integer(0...65_535))
    }
}
