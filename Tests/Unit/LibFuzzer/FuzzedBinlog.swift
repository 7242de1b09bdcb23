import MergeCore
import RecordStore

@testable import BinlogDecoding

/// The decoder of MariaDB's binary log.
enum FuzzedBinlog {
    private static let table = TableName(schema: "d", name: "t")

    /// Columns of all types, of which each may be needed or optional.
    private static let types: [ColumnType] = [
        .integer(-9...9), .text(TextType()), .date, .dateTime(fraction: 6), .time(fraction: 6),
        .timestamp(fraction: 6, nil), .decimal(precision: 20, scale: 5, isUnsigned: false), .binary(16), .uuid, .inet4,
        .inet6, .bytes(maximum: 100), .double(isUnsigned: false), .float(isUnsigned: false), .year, .bit(8),
        .enumeration([ExactText("a"), ExactText("b")]), .set([ExactText("a"), ExactText("b")]),
    ]

    /// The format of a file without checksums, so that changed events reach the decoder.
    private static let format: [UInt8] = {
        let lengths = [UInt8](repeating: 8, count: 180)
        let body = [4, 0] + [UInt8](repeating: 0, count: 54) + [19] + lengths + [0] + [0, 0, 0, 0]
        return event(type: 15, body)
    }()

    private static func event(type: UInt8, _ body: some Collection<UInt8>) -> [UInt8] {
        let length = UInt32(19 + body.count)
        let size = (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(8 * $0)) }
        return [0, 0, 0, 0, type, 1, 0, 0, 0] + size + [0, 0, 0, 0, 0, 0] + body
    }

    /// Events become transactions, or need a pass.
    ///
    /// Each event is a type, a length of two bytes, and its content.
    static func decode(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let columns = types.enumerated().map { index, type in
            WatchedColumn(
                ordinal: index, column: Column(name: "c\(index)", type: type, isNullable: true),
                isUnsigned: choice & 1 == 1, text: choice & 2 == 2 ? .utf16 : .utf8,
                isOptional: choice & 4 == 4)
        }
        let watched = WatchedTable(name: table, columnCount: columns.count, columns: columns)
        var decoder = BinlogDecoder()
        var groups = BinlogGroups(WatchedTables([watched]))
        _ = groups.add(decoder.decode(format))
        var rest = bytes.dropFirst()
        while rest.count >= 3 {
            let head = Array(rest.prefix(3))
            let length = Int(head[1]) + Int(head[2]) << 8
            let body = rest.dropFirst(3).prefix(length)
            rest = rest.dropFirst(3 + body.count)
            guard let transaction = groups.add(decoder.decode(event(type: head[0], body))) else { continue }
            for change in transaction.changes {
                precondition(!transaction.passes.contains(change.table), "a change of a table that needs a pass")
                for image in [change.before, change.after].compactMap(\.self) {
                    precondition(image.count == columns.count, "an image with other columns")
                }
            }
        }
    }
}
