import MergeCore

/// The facts of information_schema about one column, and the resulting types.
struct ColumnFacts {
    let declaredType: String
    let dataType: String
    let repertoire: Repertoire?
    let characters: Int?
    let bytes: Int?
    let precision: Int?
    let scale: Int?
    let fraction: Int?
    /// True if the server stores TIMESTAMP up to 2106 (MariaDB 11.5).
    let hasWideTimestamp: Bool

    private var isUnsigned: Bool { declaredType.lowercased().contains("unsigned") }

    /// The types that the rules may choose, the default first; empty if the type is not supported.
    var types: [ColumnType] {
        switch dataType {
        case "tinyint": integers(bits: 8)
        case "smallint": integers(bits: 16)
        case "mediumint": integers(bits: 24)
        case "int", "integer": integers(bits: 32)
        case "bigint": integers(bits: 64)
        case "bit": precision == 1 ? [.boolean, .bit(1)] : precision.map { [.bit($0)] } ?? []
        case "year": [.year]
        case "decimal", "numeric": decimals
        case "float": [.float(isUnsigned: isUnsigned, fixedDigits)]
        case "double", "real": [.double(isUnsigned: isUnsigned, fixedDigits)]
        case "char": texts(TextType(maximumCharacters: characters, repertoire: .unicode, isPadded: true))
        case "varchar": texts(TextType(maximumCharacters: characters, repertoire: .unicode))
        case "tinytext", "text", "mediumtext", "longtext": texts(TextType(maximumBytes: bytes))
        case "enum": members.map { [.enumeration($0)] } ?? []
        case "set": members.map { [.set($0)] } ?? []
        case "date": [.date]
        case "datetime": [.dateTime(fraction: fraction ?? 0)]
        case "timestamp": timestamps
        case "time": [.time(fraction: fraction ?? 0)]
        case "binary": bytes.map { [.binary($0)] } ?? []
        case "varbinary", "tinyblob", "blob", "mediumblob", "longblob": [.bytes(maximum: bytes)]
        case "uuid": [.uuid]
        case "inet4": [.inet4]
        case "inet6": [.inet6]
        case "json": [.json(TextType(maximumBytes: bytes))]
        default: isSpatial ? [.wellKnownText] : []
        }
    }

    /// Spatial values are read as text and never written: WKT does not contain the complete value.
    var isSpatial: Bool {
        [
            "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
            "geometrycollection", "geomcollection",
        ].contains(dataType)
    }

    private func integers(bits: Int) -> [ColumnType] {
        let range: ClosedRange<Int128> =
            isUnsigned ? 0...((1 << bits) - 1) : -(1 << (bits - 1))...((1 << (bits - 1)) - 1)
        return [.integer(range), .boolean]
    }

    /// nil for FLOAT and DOUBLE without declared digits.
    private var fixedDigits: FixedDigits? {
        guard let precision, let scale else { return nil }
        return FixedDigits(precision: precision, scale: scale)
    }

    private var decimals: [ColumnType] {
        guard let precision, let scale else { return [] }
        let decimal = ColumnType.decimal(precision: precision, scale: scale, isUnsigned: isUnsigned)
        guard scale == 0, precision <= 36 else { return [decimal] }
        var limit: Int128 = 1
        for _ in 0..<precision { limit *= 10 }
        return [decimal, .integer((isUnsigned ? 0 : 1 - limit)...(limit - 1))]
    }

    private func texts(_ limits: TextType) -> [ColumnType] {
        guard let repertoire else { return [] }
        let text = TextType(
            maximumCharacters: limits.maximumCharacters, maximumBytes: limits.maximumBytes, repertoire: repertoire,
            isPadded: limits.isPadded)
        return [.text(text), .delimitedSet(separator: ",", text), .json(text)]
    }

    private var timestamps: [ColumnType] {
        guard let first = CalendarDate(year: 1970, month: 1, day: 1),
            let start = DateTime(date: first, hour: 0, minute: 0, second: 1, microsecond: 0),
            let last = CalendarDate(
                year: hasWideTimestamp ? 2106 : 2038, month: hasWideTimestamp ? 2 : 1, day: hasWideTimestamp ? 7 : 19),
            let end = DateTime(
                date: last, hour: hasWideTimestamp ? 6 : 3, minute: hasWideTimestamp ? 28 : 14,
                second: hasWideTimestamp ? 15 : 7, microsecond: 999_999)
        else { return [] }
        return [.timestamp(fraction: fraction ?? 0, start...end)]
    }

    /// The members of `enum('a','b''c')`, without the server's escapes.
    private var members: [ExactText]? {
        guard let open = declaredType.firstIndex(of: "("), declaredType.last == ")" else { return nil }
        var members: [ExactText] = []
        var current: [Unicode.Scalar]?
        var scalars = declaredType[declaredType.index(after: open)...].dropLast().unicodeScalars.makeIterator()
        var pending = scalars.next()
        while let scalar = pending {
            pending = scalars.next()
            guard let text = current else {
                if scalar == "'" { current = [] }
                continue
            }
            if scalar == "'", pending == "'" {
                current = text + ["'"]
                pending = scalars.next()
            } else if scalar == "'" {
                members.append(ExactText(String(String.UnicodeScalarView(text))))
                current = nil
            } else if scalar == "\\", let escaped = pending {
                current = text + [Self.unescaped(escaped)]
                pending = scalars.next()
            } else {
                current = text + [scalar]
            }
        }
        return current == nil && !members.isEmpty ? members : nil
    }

    private static func unescaped(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "n": "\n"
        case "r": "\r"
        case "0": "\0"
        case "t": "\t"
        default: scalar
        }
    }
}
