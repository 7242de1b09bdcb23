import MergeCore
import RecordStore

/// The description of a table before its rows (TABLE_MAP_EVENT).
struct BinlogTableMap: Sendable, Hashable {
    let id: UInt64
    /// The table with its schema.
    let table: TableName
    /// The types of the columns; nil if one of them is unknown, so that no row can be decoded.
    let columns: [BinlogColumnType]?
    /// The names of the columns, if the server writes them (`binlog_row_metadata=FULL`).
    let names: [String]?

    /// The most columns of a table.
    static let mostColumns = 4_096
    private static let columnNames: UInt64 = 4

    /// Decodes the event after its common header.
    init(_ reader: inout PackedReader, headerLength: Int) throws(BinlogFault) {
        id = try reader.littleEndian(headerLength == 6 ? 4 : 6)
        _ = try reader.littleEndian(2)
        let schema = try reader.name()
        table = TableName(schema: schema, name: try reader.name())
        let count = try reader.lengthEncoded()
        guard count <= Self.mostColumns else { throw .malformed }
        let codes = try reader.take(count)
        var metadata = PackedReader(Array(try reader.take(try reader.lengthEncoded())))
        columns = try Self.columns(codes, metadata: &metadata)
        _ = try reader.bitmap(codes.count)
        names = try Self.names(&reader, count: codes.count)
    }

    private static func columns(
        _ codes: ArraySlice<UInt8>, metadata: inout PackedReader
    ) throws(BinlogFault) -> [BinlogColumnType]? {
        var types: [BinlogColumnType] = []
        for code in codes {
            guard let type = try BinlogColumnType(code: code, metadata: &metadata) else { return nil }
            types.append(type)
        }
        guard metadata.isAtEnd else { throw .malformed }
        return types
    }

    /// Reads the names among the optional fields, which have a type and a length each.
    private static func names(_ reader: inout PackedReader, count: Int) throws(BinlogFault) -> [String]? {
        while !reader.isAtEnd {
            let type = try reader.littleEndian(1)
            var field = PackedReader(Array(try reader.take(try reader.lengthEncoded())))
            guard type == columnNames else { continue }
            var names: [String] = []
            while !field.isAtEnd, names.count <= count {
                names.append(String(decoding: try field.take(try field.lengthEncoded()), as: UTF8.self))
            }
            guard names.count == count else { throw .malformed }
            return names
        }
        return nil
    }
}
