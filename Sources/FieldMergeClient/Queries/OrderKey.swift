import MergeCore

/// Bytes that have the order of a value.
///
/// Of two values of a type the lesser value has the lesser bytes, and equal values have equal bytes. Conditions, orders and
/// indexes compare only these bytes. The first byte is `0` for null and `1` for a value. A field that a record does not contain has no bytes.
struct OrderKey: Sendable, Hashable, Comparable {
    var bytes: [UInt8]

    static let unknown = OrderKey(bytes: [])
    static let null = OrderKey(bytes: [0x30])
    /// Every value is from here on, and before `end`.
    static let start = OrderKey(bytes: [0x31])
    static let end = OrderKey(bytes: [0x32])

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The key of a value of a type.
    init(_ value: JSONValue?, type: String) {
        guard let value else {
            self = .unknown
            return
        }
        bytes = value.isNull ? Self.null.bytes : Self.start.bytes + Self.bytes(of: value, type: type)
    }

    /// The key of an id, by the types of its columns.
    init(id: JSONValue, types: [String]) {
        bytes = Self.start.bytes
        for (index, part) in (id.arrayValue ?? [id]).enumerated() {
            if index > 0 { bytes += Self.separator }
            bytes += OrderKey(part, type: types.indices.contains(index) ? types[index] : "").bytes
        }
    }

    static func < (one: OrderKey, other: OrderKey) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }

    /// The end of a range that contains this key alone.
    var behind: OrderKey { OrderKey(bytes: bytes + Self.separator) }

    /// The end of the range of all texts that begin with the text of this key.
    var behindPrefixed: OrderKey { OrderKey(bytes: bytes + [0xFF]) }

    /// Separates the columns of an id.
    ///
    /// It sorts before all that a longer value continues with.
    private static let separator: [UInt8] = [0, 1]

    // MARK: Types

    static let numbers: Set = ["integer", "year", "bit", "decimal", "float", "double"]
    static let times: Set = ["date", "datetime", "timestamp", "time", "boolean"]

    private static func bytes(of value: JSONValue, type: String) -> [UInt8] {
        switch type {
        case _ where numbers.contains(type): return number(value) ?? any(value)
        case "boolean":
            if case .bool(let flag) = value { return [flag ? 0x31 : 0x30] }
            return number(value) == number(0) ? [0x30] : [0x31]
        case "datetime", "timestamp": return value.stringValue.map(moment) ?? any(value)
        case "time": return value.stringValue.flatMap(time) ?? any(value)
        case "json": return any(value)
        default: return value.stringValue.map(text) ?? any(value)
        }
    }

    /// Any JSON: booleans, numbers, texts, then all others, which are equal.
    ///
    /// A temporary id among numbers has such a key, so it follows them.
    private static func any(_ value: JSONValue) -> [UInt8] {
        switch value {
        case .bool(let flag): [0x31, flag ? 0x31 : 0x30]
        case .integer, .double: [0x32] + (number(value) ?? [])
        case .string(let string): [0x33] + text(string)
        default: [0x34]
        }
    }

    /// UTF-8 has the order of code points.
    static func text(_ string: String) -> [UInt8] {
        guard string.utf8.contains(0) else { return Array(string.utf8) }
        return string.utf8.flatMap { $0 == 0 ? [0, 2] : [$0] }
    }

    static func number(_ value: JSONValue) -> [UInt8]? {
        switch value {
        case .integer(let whole): number(String(whole).utf8)
        case .double(let double): number(ShortestNumber.text(double).utf8)
        case .string(let string): number(string.utf8)
        default: nil
        }
    }

    /// The sign, the position of the point, and the digits; for negative numbers the complement of each digit.
    private static func number(_ text: some Collection<UInt8>) -> [UInt8]? {
        var rest = text[...]
        func digits() -> [UInt8] {
            let found = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(found.count)
            return Array(found)
        }
        func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }
        let isNegative = take(UInt8(ascii: "-"))
        let whole = digits()
        let fraction = take(UInt8(ascii: ".")) ? digits() : []
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var power = 0
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            let isDown = take(UInt8(ascii: "-"))
            if !isDown { _ = take(UInt8(ascii: "+")) }
            let found = digits()
            guard !found.isEmpty, let size = Int(String(decoding: found, as: UTF8.self)), size < 1_000_000_000 else {
                return nil
            }
            power = isDown ? -size : size
        }
        guard rest.isEmpty else { return nil }
        let all = (whole + fraction).drop { $0 == 0x30 }
        var kept = all
        while kept.last == 0x30 { kept.removeLast() }
        guard !kept.isEmpty else { return [0x31] }
        let point = power + all.count - fraction.count + 5_000_000_000
        let place = String(point)
        let padded = Array(repeating: UInt8(ascii: "0"), count: max(10 - place.utf8.count, 0)) + place.utf8
        return isNegative ? [0x30] + (padded + kept).map { 0x69 - $0 } + [0x7E] : [0x32] + padded + kept
    }

    /// A space is a `T`, zeros at the end of a fraction do not count, a date is its midnight, an offset is applied.
    private static func moment(_ string: String) -> [UInt8] {
        var bytes = Array(string.utf8)
        if bytes.count == 10 { return bytes + "T00:00:00".utf8 }
        guard bytes.count >= 19 else { return bytes }
        if bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        var fraction = bytes[19...]
        let isAtUTC = fraction.last.map { [UInt8(ascii: "Z"), UInt8(ascii: "z")].contains($0) } ?? true
        if isAtUTC {
            fraction = fraction.dropLast(fraction.isEmpty ? 0 : 1)
        } else if let sign = fraction.firstIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) {
            fraction = fraction[..<sign]
            guard case .dateTime(let moment)? = try? ColumnType.timestamp(fraction: 9, nil).accept(.text(string)) else {
                return bytes
            }
            bytes = Array(moment.text(separator: "T", fraction: 0).utf8)
        }
        while fraction.last == 0x30 { fraction = fraction.dropLast() }
        if fraction.count == 1 { fraction = [] }
        return Array(bytes.prefix(19)) + fraction
    }

    /// Seconds, so that times below zero and beyond a day have their place.
    private static func time(_ string: String) -> [UInt8]? {
        let isNegative = string.hasPrefix("-")
        let parts = string.dropFirst(isNegative ? 1 : 0).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = Int(parts[0]), let minutes = Int(parts[1]) else { return nil }
        let last = parts[2].split(separator: ".", maxSplits: 1)
        guard let first = last.first, let seconds = Int(first) else { return nil }
        let fraction = last.count > 1 ? ".\(last[1])" : ""
        return number("\(isNegative ? "-" : "")\(hours * 3_600 + minutes * 60 + seconds)\(fraction)".utf8)
    }
}
