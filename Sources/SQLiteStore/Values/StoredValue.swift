internal import GRDBSQLite
import MergeCore
import RecordStore

/// One column of a statement's current row.
///
/// A SQLite column may contain any storage class. A value that the column's type cannot express keeps its stored type.
struct StoredValue {
    private let raw: OpaquePointer
    private let index: Int32

    init(_ raw: OpaquePointer, _ index: Int32) {
        self.raw = raw
        self.index = index
    }

    func value(of column: Column) throws(StoreError) -> Value {
        guard let uncoded = column.uncoded else { return try stored(in: column) }
        return try column.decoded(try stored(in: uncoded))
    }

    private func stored(in column: Column) throws(StoreError) -> Value {
        let storage = sqlite3_column_type(raw, index)
        if storage == SQLITE_NULL { return .null }
        let value: Value? =
            switch column.type {
            case .boolean, .coded: storage == SQLITE_INTEGER ? boolean : nil
            case .integer, .bit, .year: storage == SQLITE_INTEGER ? .integer(Int128(integer)) : nil
            case .decimal, .numeric: number(storage).map { .decimal($0) }
            case .float: storage == SQLITE_FLOAT ? .float(Float(sqlite3_column_double(raw, index))) : nil
            case .double: finite(storage)
            case .text, .enumeration, .uuid, .wellKnownText:
                storage == SQLITE_TEXT ? text.map { .text(ExactText($0)) } : nil
            case .set: storage == SQLITE_TEXT ? text.map { .members(Scalar.split($0, ",")) } : nil
            case .delimitedSet(let separator, _):
                storage == SQLITE_TEXT ? text.map { .members(Scalar.heldMembers($0, separator: separator)) } : nil
            case .date, .dateTime, .timestamp, .time:
                storage == SQLITE_TEXT ? text.flatMap { column.type.storedTime($0) } : nil
            case .json: json(storage, column)
            case .inet4, .inet6: storage == SQLITE_TEXT ? text.flatMap { try? column.type.accept(.text($0)) } : nil
            case .binary, .bytes: storage == SQLITE_BLOB ? .bytes(bytes) : nil
            }
        if let value { return value }
        if let stored = stored(storage) { return stored }
        throw StoreError(
            .unreadable,
            "column “\(column.name)” contains a text that is not UTF-8, or an "
                + "infinite number")
    }

    /// Returns the digest of a statement's current row, with each column as it is stored.
    static func hash(_ raw: OpaquePointer, _ key: SipHash.Key) -> UInt64 {
        var hash = RowHash(key: key)
        for index in 0..<sqlite3_column_count(raw) {
            switch sqlite3_column_type(raw, index) {
            case SQLITE_NULL: hash.combineNull()
            case SQLITE_INTEGER: hash.combine(sqlite3_column_int64(raw, index))
            case SQLITE_FLOAT: hash.combine(sqlite3_column_double(raw, index))
            case SQLITE_TEXT:
                // A text and a BLOB of the same bytes differ.
                hash.combine(text: data(raw, index: index))
            default: hash.combine(data(raw, index: index))
            }
        }
        return hash.finish()
    }

    private static func data(_ raw: OpaquePointer, index: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(raw, index)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(raw, index)))
    }

    private func stored(_ storage: Int32) -> Value? {
        switch storage {
        case SQLITE_INTEGER: .integer(Int128(integer))
        case SQLITE_FLOAT: finite(storage)
        case SQLITE_TEXT: text.map { .text(ExactText($0)) }
        default: .bytes(bytes)
        }
    }

    private var integer: Int64 { sqlite3_column_int64(raw, index) }

    private var boolean: Value? { integer == 0 || integer == 1 ? .boolean(integer == 1) : nil }

    private func finite(_ storage: Int32) -> Value? {
        guard storage == SQLITE_FLOAT || storage == SQLITE_INTEGER else { return nil }
        let double = sqlite3_column_double(raw, index)
        return double.isFinite ? .double(double) : nil
    }

    private func number(_ storage: Int32) -> ExactDecimal? {
        switch storage {
        case SQLITE_INTEGER: ExactDecimal(Int128(integer))
        case SQLITE_FLOAT: ExactDecimal(shortest: sqlite3_column_double(raw, index))
        default: nil
        }
    }

    /// A number may be a JSON value, because the affinity of a column called JSON turns its text into one.
    private func json(_ storage: Int32, _ column: Column) -> Value? {
        switch storage {
        case SQLITE_TEXT: text.map { column.json($0) }
        case SQLITE_INTEGER, SQLITE_FLOAT:
            number(storage).flatMap { JSONTree(number: $0) }.map { .json($0) }
        default: nil
        }
    }

    private var text: String? { String(validating: bytes, as: UTF8.self) }

    private var bytes: [UInt8] {
        // The pointer comes first: it determines the encoding and so the count.
        let start = sqlite3_column_blob(raw, index)
        let count = Int(sqlite3_column_bytes(raw, index))
        guard let start, count > 0 else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
