import MergeCore

/// A column whose values are decoded.
struct WatchedColumn: Sendable, Hashable {
    /// The position in the table, from 0.
    let ordinal: Int
    let column: Column
    let isUnsigned: Bool
    /// The character set of a text column.
    let text: BinlogText
    /// True if the table is read also without the values of this column.
    var isOptional = false
}

/// A table whose changes are reported, with the columns that identify its rows and their records.
struct WatchedTable: Sendable, Hashable {
    /// The table with its schema.
    let name: TableName
    /// The number of columns when the schema was read.
    let columnCount: Int
    let columns: [WatchedColumn]
    /// The positions of the columns with a fraction of seconds.
    ///
    /// In the format before MariaDB 10.1, the log does not contain the length of their values.
    let fractions: Set<Int>
    private let places: [[Int]]

    init(name: TableName, columnCount: Int, columns: [WatchedColumn], fractions: Set<Int> = []) {
        self.name = name
        self.columnCount = columnCount
        self.columns = columns
        self.fractions = fractions
        var places = [[Int]](repeating: [], count: columnCount)
        for (place, column) in columns.enumerated() where places.indices.contains(column.ordinal) {
            places[column.ordinal].append(place)
        }
        self.places = places
    }

    /// Returns the indexes in `columns` of a table's column, which the rules may read under several types.
    func places(of ordinal: Int) -> [Int] { places.indices.contains(ordinal) ? places[ordinal] : [] }

    /// Returns the types of a table's columns; nil if the table has another form than when its schema was read.
    func types(in map: BinlogTableMap) -> [BinlogColumnType]? {
        guard let types = map.columns, types.count == columnCount else { return nil }
        if types.indices.contains(where: { fractions.contains($0) && types[$0].hasUnknownFraction }) { return nil }
        for column in columns {
            guard types.indices.contains(column.ordinal) else { return nil }
            if let names = map.names, names[column.ordinal] != column.column.name { return nil }
        }
        return types
    }
}

/// A value of a row image, which may lack columns (`binlog_row_image` MINIMAL and NOBLOB).
enum WatchedValue: Sendable, Hashable {
    case absent
    case value(Value)
    /// The bytes of an optional column that cannot be decoded.
    case undecoded([UInt8])
}

/// A row that was inserted, changed or deleted, with the values of the watched columns.
struct WatchedChange: Sendable, Hashable {
    let table: TableName
    let kind: BinlogRows.Kind
    /// The row before the change; nil after an insertion.
    let before: [WatchedValue]?
    /// The row after the change; nil after a deletion.
    let after: [WatchedValue]?

    /// - Parameters:
    ///   - first: the only image of the row, or the image before an update.
    ///   - second: the image after an update. A column that it lacks was not changed.
    init(table: TableName, kind: BinlogRows.Kind, first: [WatchedValue], second: [WatchedValue]?) {
        self.table = table
        self.kind = kind
        before = kind == .insert ? nil : first
        switch kind {
        case .insert: after = first
        case .update: after = second.map { zip(first, $0).map { $1 == .absent ? $0 : $1 } }
        case .delete: after = nil
        }
    }
}
