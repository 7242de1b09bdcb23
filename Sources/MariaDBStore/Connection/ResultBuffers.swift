internal import CMariaDB
import MergeCore
import RecordStore

/// Buffers for the columns of one row of a SELECT.
///
/// Their types come from the statement's metadata, never from the types in the rules.
final class ResultBuffers {
    /// Fetches a value of the current row again; tests replace the library's function.
    typealias Refetch = (UnsafeMutablePointer<MYSQL_STMT>, inout MYSQL_BIND, UInt32) -> Bool

    let binds: UnsafeMutablePointer<MYSQL_BIND>
    let columns: [WireColumn]
    private let lengths: UnsafeMutablePointer<UInt>
    private let nulls: UnsafeMutablePointer<my_bool>
    private let errors: UnsafeMutablePointer<my_bool>
    private let bytes: UnsafeMutableRawPointer
    private let refetch: Refetch
    /// Longer values are fetched again with their full length.
    private static let textSize = 256

    init(
        _ columns: [WireColumn],
        refetch: @escaping Refetch = { mysql_stmt_fetch_column($0, &$1, $2, 0) == 0 }
    ) {
        self.columns = columns
        self.refetch = refetch
        let count = max(columns.count, 1)
        binds = .allocate(capacity: count)
        binds.initialize(repeating: MYSQL_BIND(), count: count)
        lengths = .allocate(capacity: count)
        lengths.initialize(repeating: 0, count: count)
        nulls = .allocate(capacity: count)
        nulls.initialize(repeating: 0, count: count)
        errors = .allocate(capacity: count)
        errors.initialize(repeating: 0, count: count)
        bytes = .allocate(byteCount: count * Self.textSize, alignment: 16)
        for (index, column) in columns.enumerated() {
            binds[index].buffer = bytes + index * Self.textSize
            binds[index].buffer_length = UInt(Self.textSize)
            binds[index].length = lengths + index
            binds[index].is_null = nulls + index
            binds[index].error = errors + index
            binds[index].buffer_type = column.bufferType
            binds[index].is_unsigned = column.form == .unsigned ? 1 : 0
        }
    }

    deinit {
        binds.deallocate()
        lengths.deallocate()
        nulls.deallocate()
        errors.deallocate()
        bytes.deallocate()
    }

    /// Returns the value of a column of the current row in the column's type in the rules.
    ///
    /// - Throws: `StoreError` if this type has no such value.
    func value(_ index: Int, of column: Column, in statement: UnsafeMutablePointer<MYSQL_STMT>) throws(StoreError)
        -> Value
    {
        guard let uncoded = column.uncoded else { return try stored(index, of: column, in: statement) }
        return try column.decoded(try stored(index, of: uncoded, in: statement))
    }

    private func stored(
        _ index: Int, of column: Column, in statement: UnsafeMutablePointer<MYSQL_STMT>
    ) throws(StoreError) -> Value {
        if nulls[index] != 0 { return .null }
        let place = bytes + index * Self.textSize
        switch columns[index].form {
        case .integer: return try column.value(ofWhole: Int128(place.load(as: Int64.self)))
        case .unsigned: return try column.value(ofWhole: Int128(place.load(as: UInt64.self)))
        case .bits:
            let number = try data(index, in: statement).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return try column.value(ofWhole: Int128(number))
        case .float: return try column.value(ofFloat: place.load(as: Float.self))
        case .double: return try column.value(ofDouble: place.load(as: Double.self))
        case .date: return try column.value(ofDate: place.load(as: MYSQL_TIME.self))
        case .dateTime: return try column.value(ofMoment: place.load(as: MYSQL_TIME.self))
        case .time: return try column.value(ofSpan: place.load(as: MYSQL_TIME.self))
        case .string:
            switch column.type {
            case .binary, .bytes: return .bytes(try data(index, in: statement))
            default: return try column.value(ofText: try text(index, of: column, in: statement))
            }
        }
    }

    /// Returns the digest of the current row, which depends only on the metadata and the values.
    func hash(_ key: SipHash.Key, in statement: UnsafeMutablePointer<MYSQL_STMT>) throws(StoreError) -> UInt64 {
        var hash = RowHash(key: key)
        for (index, column) in columns.enumerated() {
            guard nulls[index] == 0 else {
                hash.combineNull()
                continue
            }
            let place = bytes + index * Self.textSize
            switch column.form {
            case .integer: hash.combine(place.load(as: Int64.self))
            case .unsigned: hash.combine(unsigned: place.load(as: UInt64.self))
            case .float: hash.combine(place.load(as: Float.self))
            case .double: hash.combine(place.load(as: Double.self))
            case .date, .dateTime, .time: Self.combine(place.load(as: MYSQL_TIME.self), of: column.form, into: &hash)
            case .bits, .string:
                let length = Int(lengths[index])
                if length <= Self.textSize {
                    hash.combine(UnsafeRawBufferPointer(start: place, count: length))
                } else {
                    try data(index, in: statement).withUnsafeBytes { hash.combine($0) }
                }
            }
        }
        return hash.finish()
    }

    /// Adds only the parts of the form; the library leaves the other parts unset.
    private static func combine(_ time: MYSQL_TIME, of form: WireColumn.Form, into hash: inout RowHash) {
        let date = UInt64(time.year) << 32 | UInt64(time.month) << 16
        let clock =
            UInt64(time.hour) << 40 | UInt64(time.minute) << 32 | UInt64(time.second) << 24 | UInt64(time.second_part)
        hash.combine(
            moment: (form == .time ? 0 : date) | UInt64(time.day) << 1 | (time.neg != 0 ? 1 : 0),
            time: form == .date ? 0 : clock)
    }

    private func data(_ index: Int, in statement: UnsafeMutablePointer<MYSQL_STMT>) throws(StoreError) -> [UInt8] {
        let length = Int(lengths[index])
        if length <= Self.textSize {
            return [UInt8](UnsafeRawBufferPointer(start: bytes + index * Self.textSize, count: length))
        }
        var isWhole = false
        let data = [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            isWhole = fetch(index, into: UnsafeMutableRawBufferPointer(buffer), in: statement)
            initialized = isWhole ? length : 0
        }
        guard isWhole else {
            throw StoreError(.other, "the client library did not return a long value as a whole; nothing of it is used")
        }
        return data
    }

    private func text(
        _ index: Int, of column: Column, in statement: UnsafeMutablePointer<MYSQL_STMT>
    ) throws(StoreError) -> String {
        let length = Int(lengths[index])
        let text =
            length <= Self.textSize
            ? String(validUTF8: UnsafeRawBufferPointer(start: bytes + index * Self.textSize, count: length))
            : try data(index, in: statement).withUnsafeBytes { String(validUTF8: $0) }
        guard let text else { throw column.unreadable }
        return text
    }

    /// Returns false if the buffer does not contain the complete value.
    private func fetch(
        _ index: Int, into buffer: UnsafeMutableRawBufferPointer, in statement: UnsafeMutablePointer<MYSQL_STMT>
    ) -> Bool {
        var bind = MYSQL_BIND()
        var length: UInt = 0
        var isNull: my_bool = 0
        var error: my_bool = 0
        bind.buffer_type = binds[index].buffer_type
        bind.buffer = buffer.baseAddress
        bind.buffer_length = UInt(buffer.count)
        return withUnsafeMutablePointer(to: &length) { lengthPointer in
            withUnsafeMutablePointer(to: &isNull) { nullPointer in
                withUnsafeMutablePointer(to: &error) { errorPointer in
                    bind.length = lengthPointer
                    bind.is_null = nullPointer
                    bind.error = errorPointer
                    return refetch(statement, &bind, UInt32(index)) && nullPointer.pointee == 0
                        && lengthPointer.pointee == UInt(buffer.count)
                }
            }
        }
    }
}
