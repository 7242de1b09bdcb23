internal import CMariaDB
import MergeCore

/// A result column, from the metadata of its statement.
///
/// Only the metadata determine how its values are fetched, so a value cannot be decoded as another type.
struct WireColumn {
    enum Form {
        /// Whole numbers of up to 64 bits.
        case integer, unsigned
        /// BIT: bytes, the highest first.
        case bits
        case float, double
        case date, dateTime, time
        /// Text, bytes and decimals.
        case string
    }

    let form: Form
    let signature: ColumnSignature

    init(_ field: MYSQL_FIELD) {
        form = Self.form(of: field)
        signature = Self.signature(of: field, as: form)
    }

    private static func form(of field: MYSQL_FIELD) -> Form {
        switch field.type {
        case MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_YEAR:
            has(UNSIGNED_FLAG, field: field) ? .unsigned : .integer
        case MYSQL_TYPE_BIT: .bits
        case MYSQL_TYPE_FLOAT: .float
        case MYSQL_TYPE_DOUBLE: .double
        case MYSQL_TYPE_DATE, MYSQL_TYPE_NEWDATE: .date
        case MYSQL_TYPE_DATETIME, MYSQL_TYPE_TIMESTAMP: .dateTime
        case MYSQL_TYPE_TIME: .time
        default: .string
        }
    }

    private static func has(_ flag: Int32, field: MYSQL_FIELD) -> Bool { field.flags & UInt32(flag) != 0 }

    /// Packs type, sign, kind of character set, decimals and length.
    ///
    /// The length of a whole number or a time is a display width, which limits no value.
    private static func signature(of field: MYSQL_FIELD, as form: Form) -> ColumnSignature {
        let isUnsigned = has(UNSIGNED_FLAG, field: field)
        let isBinary = field.charsetnr == binaryCharacterSet
        var bits = UInt64(field.type.rawValue & 0xFF)
        bits |= (isUnsigned ? 1 : 0) << 8 | (isBinary ? 1 : 0) << 9
        bits |= (has(ENUM_FLAG, field: field) ? 1 : 0) << 10 | (has(SET_FLAG, field: field) ? 1 : 0) << 11
        bits |= UInt64(field.decimals & 0xFF) << 16
        switch form {
        case .integer, .unsigned, .date, .dateTime, .time: break
        case .bits, .float, .double, .string: bits |= UInt64(UInt32(truncatingIfNeeded: field.length)) << 32
        }
        return ColumnSignature(bits: bits)
    }

    private static let binaryCharacterSet: UInt32 = 63

    /// The type of a buffer that contains every value of this form exactly.
    var bufferType: enum_field_types {
        switch form {
        case .integer, .unsigned: MYSQL_TYPE_LONGLONG
        case .bits: MYSQL_TYPE_BLOB
        case .float: MYSQL_TYPE_FLOAT
        case .double: MYSQL_TYPE_DOUBLE
        case .date: MYSQL_TYPE_DATE
        case .dateTime: MYSQL_TYPE_DATETIME
        case .time: MYSQL_TYPE_TIME
        case .string: MYSQL_TYPE_STRING
        }
    }
}

extension UnsafeMutablePointer<MYSQL_STMT> {
    /// The result columns as the server described them at the last execution.
    var wireColumns: [WireColumn] {
        guard let fields = pointee.fields else { return [] }
        return (0..<Int(pointee.field_count)).map { WireColumn(fields[$0]) }
    }
}
