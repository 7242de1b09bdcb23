import MergeCore
import RecordStore

/// Reads the watched columns of the rows of one event.
struct BinlogRowReader {
    private let rows: BinlogRows
    private let columns: [BinlogColumnType]
    private let watched: WatchedTable
    private var reader: PackedReader

    /// - Throws: `BinlogFault` if rows and table have different numbers of columns.
    init(_ rows: BinlogRows, columns: [BinlogColumnType], watched: WatchedTable) throws(BinlogFault) {
        guard rows.columnCount == columns.count else { throw .malformed }
        self.rows = rows
        self.columns = columns
        self.watched = watched
        reader = PackedReader(rows.data)
    }

    /// Returns the next row; nil after the last one.
    ///
    /// - Throws: `BinlogFault` if the row cannot be decoded; the rest of the event cannot either.
    mutating func next() throws(BinlogFault) -> WatchedChange? {
        guard !reader.isAtEnd else { return nil }
        let size = reader.remaining
        let first = try image(rows.present)
        let second = rows.kind == .update ? try image(rows.presentAfter) : nil
        // A row without any column would be read for ever.
        guard reader.remaining < size else { throw .malformed }
        return WatchedChange(table: watched.name, kind: rows.kind, first: first, second: second)
    }

    /// Reads one image of a row: the bits for NULL, then the values of the present columns.
    private mutating func image(_ present: BinlogBitmap) throws(BinlogFault) -> [WatchedValue] {
        let nulls = try reader.bitmap(present.count(of: columns.count))
        var values = [WatchedValue](repeating: .absent, count: watched.columns.count)
        var index = 0
        for (ordinal, type) in columns.enumerated() where present.contains(ordinal) {
            defer { index += 1 }
            let places = watched.places(of: ordinal)
            if nulls.contains(index) {
                for place in places { values[place] = .value(.null) }
                continue
            }
            let bytes = try type.take(from: &reader)
            for place in places {
                let column = watched.columns[place]
                if let value = column.value(of: bytes, type) {
                    values[place] = .value(value)
                } else if column.isOptional {
                    values[place] = .undecoded(Array(bytes))
                } else {
                    throw .unsupported
                }
            }
        }
        return values
    }
}
