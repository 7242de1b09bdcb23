package import MergeCore

/// The types of the journal's columns.
package enum JournalColumn {
    /// A text of any length.
    package static let text = Column(name: "text", type: .text(TextType()), isNullable: true)
    /// Bytes of any number.
    package static let bytes = Column(name: "bytes", type: .bytes(maximum: nil), isNullable: true)
    /// A whole number.
    package static let number = Column(
        name: "number", type: .integer(Int128(Int64.min)...Int128(UInt64.max)), isNullable: true)
    /// A time in UTC, to the microsecond.
    package static let time = Column(name: "time", type: .dateTime(fraction: 6), isNullable: true)
}
