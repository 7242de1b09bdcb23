internal import CMariaDB
import MergeCore
import RecordStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Converts a value from the server to the column's type, exactly or with an error.
extension Column {
    func value(ofWhole number: Int128) throws(StoreError) -> Value {
        switch type {
        // A TINYINT that the rules call boolean may contain other numbers, which stay numbers.
        case .boolean: return number == 0 || number == 1 ? .boolean(number == 1) : .integer(number)
        case .integer, .bit, .year: return .integer(number)
        case .decimal, .numeric: return .decimal(ExactDecimal(number))
        case .float:
            guard let float = Float(exactly: number) else { throw unreadable }
            return .float(float)
        case .double:
            guard let double = Double(exactly: number) else { throw unreadable }
            return .double(double)
        default: return try value(ofText: String(number))
        }
    }

    func value(ofFloat number: Float) throws(StoreError) -> Value {
        switch type {
        case .float: return .float(number)
        case .double: return .double(Double(number))
        default: throw altered
        }
    }

    func value(ofDouble number: Double) throws(StoreError) -> Value {
        switch type {
        case .double(_, let digits): return .double(digits?.read(number) ?? number)
        case .float:
            guard let float = Float(exactly: number) else { throw unreadable }
            return .float(float)
        default: throw altered
        }
    }

    func value(ofDate time: MYSQL_TIME) throws(StoreError) -> Value {
        guard type == .date else { throw altered }
        return .date(try date(of: time))
    }

    func value(ofMoment time: MYSQL_TIME) throws(StoreError) -> Value {
        let fraction: Int
        switch type {
        case .dateTime(let digits), .timestamp(let digits, _): fraction = digits
        default: throw altered
        }
        guard
            let moment = DateTime(
                date: try date(of: time), hour: Int(time.hour), minute: Int(time.minute), second: Int(time.second),
                microsecond: Int(time.second_part))
        else { throw unreadable }
        return .dateTime(try fits(moment, microsecond: moment.microsecond, digits: fraction))
    }

    func value(ofSpan time: MYSQL_TIME) throws(StoreError) -> Value {
        guard case .time(let fraction) = type else { throw altered }
        let hours = Int64(time.day) * 24 + Int64(time.hour)
        let seconds = hours * 3_600 + Int64(time.minute) * 60 + Int64(time.second)
        let total = seconds * 1_000_000 + Int64(time.second_part)
        guard let span = TimeSpan(microseconds: time.neg != 0 ? -total : total) else { throw unreadable }
        return .time(try fits(span, microsecond: span.microsecond, digits: fraction))
    }

    private func date(of time: MYSQL_TIME) throws(StoreError) -> CalendarDate {
        guard let date = CalendarDate(year: Int(time.year), month: Int(time.month), day: Int(time.day)) else {
            throw unreadable
        }
        return date
    }

    /// - Throws: `StoreError` if the value has more digits than the column had when the schema was read.
    private func fits<Time>(_ time: Time, microsecond: Int, digits: Int) throws(StoreError) -> Time {
        var step = 1_000_000
        for _ in 0..<digits { step /= 10 }
        guard step <= 1 || microsecond % step == 0 else { throw altered }
        return time
    }

    /// - Parameter text: a text, UTF-8 bytes or a decimal, as the server sent it.
    func value(ofText text: String) throws(StoreError) -> Value {
        switch type {
        case .text, .enumeration, .uuid, .wellKnownText: return .text(ExactText(text))
        case .json: return json(text)
        case .set: return .members(Scalar.split(text, ","))
        case .delimitedSet(let separator, _): return .members(Scalar.heldMembers(text, separator: separator))
        case .decimal, .numeric:
            guard let number = ExactDecimal(text) else { throw unreadable }
            return .decimal(number)
        case .boolean, .integer, .bit, .year:
            guard let number = ExactDecimal(text)?.integer else { throw unreadable }
            return try value(ofWhole: number)
        case .inet4:
            guard let address = NetworkAddress(version4: text) else { throw unreadable }
            return .address(address)
        case .inet6:
            guard let address = NetworkAddress(version6: text) else { throw unreadable }
            return .address(address)
        case .binary, .bytes: return .bytes(Array(text.utf8))
        case .coded, .float, .double, .date, .dateTime, .timestamp, .time: throw altered
        }
    }

    var unreadable: StoreError {
        StoreError(
            .unreadable,
            "column “\(name)” holds something that its type \(type.name) cannot express; give it another type in the rules"
        )
    }

    /// The error if the column no longer has the type in the schema.
    var altered: StoreError {
        StoreError(
            .schemaChanged,
            "column “\(name)” has another type, length, precision, sign or character set than when the schema was read")
    }
}

extension String {
    /// Decodes UTF-8; nil if it is invalid.
    ///
    /// `String(validating:)` looks up generic types at every call. This initialiser repairs invalid bytes and then
    /// compares.
    init?(validUTF8 bytes: UnsafeRawBufferPointer) {
        let text: String? = bytes.withMemoryRebound(to: UInt8.self) { bytes in
            var text = String(decoding: bytes, as: UTF8.self)
            let isSame = text.withUTF8 { utf8 in
                guard utf8.count == bytes.count, let read = utf8.baseAddress, let sent = bytes.baseAddress else {
                    return utf8.count == bytes.count
                }
                return memcmp(read, sent, bytes.count) == 0
            }
            return isSame ? text : nil
        }
        guard let text else { return nil }
        self = text
    }
}
