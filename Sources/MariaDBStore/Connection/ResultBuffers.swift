internal import CMariaDB
import MergeCore
import RecordStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Buffers that the rows of one SELECT are fetched into, one column after another.
final class ResultBuffers {
    let binds: UnsafeMutablePointer<MYSQL_BIND>
    private let lengths: UnsafeMutablePointer<UInt>
    private let nulls: UnsafeMutablePointer<my_bool>
    private let errors: UnsafeMutablePointer<my_bool>
    private let bytes: UnsafeMutableRawPointer
    private let count: Int
    private let isBit: [Bool]
    /// Values that are longer are fetched once more with their full length.
    private static let textSize = 256

    init(_ columns: [Column], metadata statement: UnsafeMutablePointer<MYSQL_STMT>) {
        count = max(columns.count, 1)
        binds = .allocate(capacity: count)
        binds.initialize(repeating: MYSQL_BIND(), count: count)
        lengths = .allocate(capacity: count)
        lengths.initialize(repeating: 0, count: count)
        nulls = .allocate(capacity: count)
        nulls.initialize(repeating: 0, count: count)
        errors = .allocate(capacity: count)
        errors.initialize(repeating: 0, count: count)
        bytes = .allocate(byteCount: count * Self.textSize, alignment: 16)
        var bits = [Bool](repeating: false, count: columns.count)
        if let fields = mysql_stmt_result_metadata(statement) {
            for index in columns.indices {
                bits[index] = mysql_fetch_field_direct(fields, UInt32(index))?.pointee.type == MYSQL_TYPE_BIT
            }
            mysql_free_result(fields)
        }
        isBit = bits
        for (index, column) in columns.enumerated() {
            binds[index].buffer = bytes + index * Self.textSize
            binds[index].buffer_length = UInt(Self.textSize)
            binds[index].length = lengths + index
            binds[index].is_null = nulls + index
            binds[index].error = errors + index
            binds[index].buffer_type = bits[index] ? MYSQL_TYPE_BLOB : Self.bufferType(column.type)
        }
    }

    deinit {
        binds.deallocate()
        lengths.deallocate()
        nulls.deallocate()
        errors.deallocate()
        bytes.deallocate()
    }

    private static func bufferType(_ type: ColumnType) -> enum_field_types {
        switch type {
        case .boolean, .integer, .bit, .year: MYSQL_TYPE_LONGLONG
        case .float: MYSQL_TYPE_FLOAT
        case .double: MYSQL_TYPE_DOUBLE
        case .date: MYSQL_TYPE_DATE
        case .dateTime, .timestamp: MYSQL_TYPE_DATETIME
        case .time: MYSQL_TYPE_TIME
        case .binary, .bytes: MYSQL_TYPE_BLOB
        case .decimal, .numeric, .text, .enumeration, .set, .delimitedSet, .uuid, .inet4, .inet6, .json,
            .wellKnownText:
            MYSQL_TYPE_STRING
        }
    }

    func value(_ index: Int, of column: Column, in statement: UnsafeMutablePointer<MYSQL_STMT>) throws(StoreError)
        -> Value
    {
        if nulls[index] != 0 { return .null }
        let place = bytes + index * Self.textSize
        if isBit[index] {
            let number = data(index, from: place, in: statement).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Self.integer(Int128(number), column)
        }
        switch column.type {
        case .boolean, .year, .bit: return Self.integer(Int128(place.load(as: Int64.self)), column)
        case .integer(let range):
            let isUnsigned = range.lowerBound >= 0
            return .integer(isUnsigned ? Int128(place.load(as: UInt64.self)) : Int128(place.load(as: Int64.self)))
        case .float: return .float(place.load(as: Float.self))
        case .double(_, let digits):
            let stored = place.load(as: Double.self)
            return .double(digits?.read(stored) ?? stored)
        case .date, .dateTime, .timestamp, .time: return try Self.time(place.load(as: MYSQL_TIME.self), column)
        case .binary, .bytes: return .bytes(data(index, from: place, in: statement))
        case .decimal, .numeric:
            guard let number = ExactDecimal(try text(index, from: place, of: column, in: statement)) else {
                throw Self.unreadable(column)
            }
            return .decimal(number)
        case .text, .enumeration, .uuid, .wellKnownText:
            return .text(ExactText(try text(index, from: place, of: column, in: statement)))
        case .inet4, .inet6:
            let spelled = try text(index, from: place, of: column, in: statement)
            let address =
                column.type == .inet4
                ? NetworkAddress(version4: spelled) : NetworkAddress(version6: spelled)
            guard let address else { throw Self.unreadable(column) }
            return .address(address)
        case .json:
            let source = try text(index, from: place, of: column, in: statement)
            return column.json(source)
        case .set: return .members(Scalar.split(try text(index, from: place, of: column, in: statement), ","))
        case .delimitedSet(let separator, _):
            return .members(
                Scalar.heldMembers(try text(index, from: place, of: column, in: statement), separator: separator))
        }
    }

    /// Returns the digest of the row that stands in the buffers.
    func hash(
        _ columns: [Column], _ key: SipHash.Key, in statement: UnsafeMutablePointer<MYSQL_STMT>
    ) -> UInt64 {
        var hash = RowHash(key: key)
        for index in columns.indices {
            guard nulls[index] == 0 else {
                hash.combineNull()
                continue
            }
            let place = bytes + index * Self.textSize
            switch binds[index].buffer_type {
            case MYSQL_TYPE_LONGLONG:
                if isUnsigned(columns[index]) {
                    hash.combine(unsigned: place.load(as: UInt64.self))
                } else {
                    hash.combine(place.load(as: Int64.self))
                }
            case MYSQL_TYPE_FLOAT: hash.combine(place.load(as: Float.self))
            case MYSQL_TYPE_DOUBLE: hash.combine(place.load(as: Double.self))
            case MYSQL_TYPE_DATE, MYSQL_TYPE_DATETIME, MYSQL_TYPE_TIME:
                Self.combine(place.load(as: MYSQL_TIME.self), of: binds[index].buffer_type, into: &hash)
            default:
                let length = Int(lengths[index])
                if length <= Self.textSize {
                    hash.combine(UnsafeRawBufferPointer(start: place, count: length))
                } else {
                    data(index, from: place, in: statement).withUnsafeBytes { hash.combine($0) }
                }
            }
        }
        return hash.finish()
    }

    /// Takes the parts that a column of the type has; the library leaves the others as they were.
    private static func combine(_ time: MYSQL_TIME, of type: enum_field_types, into hash: inout RowHash) {
        let date = UInt64(time.year) << 32 | UInt64(time.month) << 16
        let clock =
            UInt64(time.hour) << 40 | UInt64(time.minute) << 32 | UInt64(time.second) << 24 | UInt64(time.second_part)
        hash.combine(
            moment: (type == MYSQL_TYPE_TIME ? 0 : date) | UInt64(time.day) << 1 | (time.neg != 0 ? 1 : 0),
            time: type == MYSQL_TYPE_DATE ? 0 : clock)
    }

    private func isUnsigned(_ column: Column) -> Bool {
        if case .integer(let range) = column.type { range.lowerBound >= 0 } else { false }
    }

    private static func unreadable(_ column: Column) -> StoreError {
        StoreError(
            .unreadable,
            "column “\(column.name)” holds something that its type \(column.type.name) cannot express; give it another "
                + "type in the rules")
    }

    private static func integer(_ number: Int128, _ column: Column) -> Value {
        guard column.type == .boolean else { return .integer(number) }
        // A TINYINT that the rules call boolean may hold more; it is shown as it is.
        return number == 0 || number == 1 ? .boolean(number == 1) : .integer(number)
    }

    private static func time(_ time: MYSQL_TIME, _ column: Column) throws(StoreError) -> Value {
        if case .time = column.type {
            let hours = Int64(time.day) * 24 + Int64(time.hour)
            let seconds = hours * 3_600 + Int64(time.minute) * 60 + Int64(time.second)
            let total = seconds * 1_000_000 + Int64(time.second_part)
            guard let span = TimeSpan(microseconds: time.neg != 0 ? -total : total) else { throw unreadable(column) }
            return .time(span)
        }
        guard let date = CalendarDate(year: Int(time.year), month: Int(time.month), day: Int(time.day)) else {
            throw unreadable(column)
        }
        if column.type == .date { return .date(date) }
        guard
            let moment = DateTime(
                date: date, hour: Int(time.hour), minute: Int(time.minute), second: Int(time.second),
                microsecond: Int(time.second_part))
        else { throw unreadable(column) }
        return .dateTime(moment)
    }

    private func data(
        _ index: Int, from place: UnsafeMutableRawPointer, in statement: UnsafeMutablePointer<MYSQL_STMT>
    ) -> [UInt8] {
        let length = Int(lengths[index])
        if length <= Self.textSize {
            return [UInt8](UnsafeRawBufferPointer(start: place, count: length))
        }
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            initialized = refetch(index, into: UnsafeMutableRawBufferPointer(buffer), in: statement)
        }
    }

    private func text(
        _ index: Int, from place: UnsafeMutableRawPointer, of column: Column,
        in statement: UnsafeMutablePointer<MYSQL_STMT>
    ) throws(StoreError) -> String {
        let length = Int(lengths[index])
        let text =
            length <= Self.textSize
            ? Self.text(UnsafeRawBufferPointer(start: place, count: length))
            : data(index, from: place, in: statement).withUnsafeBytes { Self.text($0) }
        guard let text else { throw Self.unreadable(column) }
        return text
    }

    /// nil for bytes that are no UTF-8.
    ///
    /// `String(validating:)` looks its generic types up at every call; this does not, and what had to be repaired is
    /// seen because it is not what it was.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            var text = String(decoding: bytes, as: UTF8.self)
            let isSame = text.withUTF8 { utf8 in
                guard utf8.count == bytes.count, let read = utf8.baseAddress, let sent = bytes.baseAddress else {
                    return utf8.count == bytes.count
                }
                return memcmp(read, sent, bytes.count) == 0
            }
            return isSame ? text : nil
        }
    }

    private func refetch(
        _ index: Int, into buffer: UnsafeMutableRawBufferPointer, in statement: UnsafeMutablePointer<MYSQL_STMT>
    ) -> Int {
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
                    return mysql_stmt_fetch_column(statement, &bind, UInt32(index), 0) == 0 ? buffer.count : 0
                }
            }
        }
    }
}
