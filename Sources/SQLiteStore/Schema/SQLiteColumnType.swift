import MergeCore

/// The types of a SQLite column, from its declared type.
///
/// SQLite itself has only affinities (https://www.sqlite.org/datatype3.html section 3.1).
struct SQLiteColumnType {
    let declared: String

    private var name: String { declared.uppercased() }

    /// The numbers of `(p)` or `(p,s)` after the name.
    private var arguments: [Int] {
        guard let open = declared.firstIndex(of: "("), let close = declared.lastIndex(of: ")"), open < close else {
            return []
        }
        return declared[declared.index(after: open)..<close].split(separator: ",")
            .compactMap { Int($0.filter { $0.isNumber }) }
    }

    /// True if the column turns every number into text, and so contains only texts and BLOBs.
    var hasTextAffinity: Bool {
        !name.contains("INT") && (name.contains("CHAR") || name.contains("CLOB") || name.contains("TEXT"))
    }

    /// The limit of a declared scale, because each value is written with as many digits.
    private static let mostDecimals = 1_000

    private static let wide = ColumnType.integer(Int128(Int64.min)...Int128(Int64.max))

    /// A text in a column whose affinity turns a numeric text into a number.
    private static let guarded = TextType(turnsNumbers: true)

    /// The types that the rules may choose, the default first.
    var types: [ColumnType] {
        let name = name
        let fraction = min(arguments.first ?? 0, 6)
        let clock: [ColumnType] = [
            .date, .dateTime(fraction: fraction), .timestamp(fraction: fraction, nil), .time(fraction: fraction),
        ]
        if name.contains("INT") { return [Self.wide, .boolean] }
        if name.contains("CHAR") || name.contains("CLOB") || name.contains("TEXT") {
            return [.text(TextType()), .delimitedSet(separator: ",", TextType()), .json(TextType())] + clock
        }
        // A name such as BINARY results in NUMERIC affinity, which does not change BLOBs.
        if name.contains("BLOB") || name.contains("BINARY") {
            return [.bytes(maximum: nil)]
        }
        if name.contains("REAL") || name.contains("FLOA") || name.contains("DOUB") {
            return [.double(isUnsigned: false)]
        }
        let texts: [ColumnType] = [.text(Self.guarded), .delimitedSet(separator: ",", Self.guarded)]
        // SQLite stores any number of digits before the point, whatever the declaration names.
        let scale = arguments.count > 1 ? min(arguments[1], Self.mostDecimals) : 0
        let number = ColumnType.numeric(scale: arguments.isEmpty ? nil : scale)
        if name.hasPrefix("BOOL") { return [.boolean, Self.wide] }
        if name.hasPrefix("DECIMAL") || name.hasPrefix("NUMERIC") {
            return [number, Self.wide, .boolean]
        }
        if name.hasPrefix("DATETIME") { return [clock[1], clock[0], clock[2]] + texts }
        if name.hasPrefix("TIMESTAMP") { return [clock[2], clock[1]] + texts }
        if name.hasPrefix("DATE") { return [clock[0], clock[1]] + texts }
        if name.hasPrefix("JSON") { return [.json(Self.guarded)] }
        if name.hasPrefix("TIME") { return [clock[3]] + texts }
        return []
    }

    /// The types that the rules may choose for a column with an unknown declared type.
    ///
    /// The column's affinity does not change their values.
    var explicitTypes: [ColumnType] {
        let name = name
        if declared.isEmpty {
            return [Self.wide, .boolean, .text(TextType()), .double(isUnsigned: false), .bytes(maximum: nil)]
        }
        let isKnown = ["INT", "CHAR", "CLOB", "TEXT", "BLOB", "BINARY", "REAL", "FLOA", "DOUB"].contains {
            name.contains($0)
        }
        if isKnown || !types.isEmpty { return [] }
        return [
            Self.wide, .boolean, .numeric(scale: nil), .text(Self.guarded),
            .delimitedSet(separator: ",", Self.guarded), .date, .dateTime(fraction: 0), .timestamp(fraction: 0, nil),
            .time(fraction: 0), .json(Self.guarded),
        ]
    }
}
