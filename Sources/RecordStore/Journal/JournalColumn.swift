package import MergeCore

/// The kinds of columns that the journal has.
package enum JournalColumn {
    package static let text = Column(name: "text", type: .text(TextType()), isNullable: true)
    package static let bytes = Column(name: "bytes", type: .bytes(maximum: nil), isNullable: true)
    package static let number = Column(
        name: "number", type: .integer(Int128(Int64.min)...Int128(UInt64.max)), isNullable: true)
    package static let time = Column(name: "time", type: .dateTime(fraction: 6), isNullable: true)
}
