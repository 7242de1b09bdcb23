/// The names and values of the columns that access conditions read in one row at one time.
package struct ConditionTuple: Sendable, Hashable {
    /// The names of the columns, in the order of `AccessRules.columns`.
    package let names: [String]
    /// The values, parallel to the names.
    package let values: [Value]

    /// Copies the columns that conditions read from a root row, or returns nil if there are none.
    package init?(_ row: [Value], of resource: Resource) {
        guard let columns = resource.access?.columns, !columns.isEmpty else { return nil }
        names = columns.map { resource.root.columns[$0].name }
        values = columns.map { row[$0] }
    }

    /// Wraps the values of `AccessRules.columns`, or returns nil if there are none or their number differs.
    package init?(values: [Value], of resource: Resource) {
        guard let columns = resource.access?.columns, !columns.isEmpty, columns.count == values.count else {
            return nil
        }
        names = columns.map { resource.root.columns[$0].name }
        self.values = values
    }

    // MARK: Bytes

    /// The form that the feed stores: a line for each column.
    ///
    /// A value without such a form is written as a question mark, which is unreadable.
    package var bytes: [UInt8] {
        zip(names, values).flatMap { name, value in
            Array("\(Self.escaped(name))\t\(Self.text(value))\n".utf8)
        }
    }

    /// Reads `bytes`, or returns nil if they are invalid or contain other columns than the resource's conditions read.
    package init?(bytes: [UInt8], of resource: Resource) {
        guard let columns = resource.access?.columns, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        names = columns.map { resource.root.columns[$0].name }
        var values: [Value] = []
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        guard lines.count == columns.count else { return nil }
        for (line, column) in zip(lines, columns) {
            let shape = resource.root.columns[column]
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")),
                String(Substring(line[..<tab])) == Self.escaped(shape.name),
                let value = Self.value(String(Substring(line[line.index(after: tab)...])), of: shape.type)
            else { return nil }
            values.append(value)
        }
        self.values = values
    }

    /// Returns true if one of the values in `bytes` is this text.
    package static func contains(text: String, in bytes: [UInt8]) -> Bool {
        let wanted = Self.escaped(text)
        return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
            let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).dropFirst()
                .map { String(decoding: $0, as: UTF8.self) }
            guard let first = parts.first else { return false }
            // The values of a set follow each other.
            return first.hasPrefix("l")
                ? ([String(first.dropFirst())] + parts.dropFirst()).containsExactly(wanted)
                : first.isExactly("t" + wanted)
        }
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "n"
        case .boolean(let flag): flag ? "b1" : "b0"
        case .integer(let number): "i\(number)"
        case .decimal(let number): "d" + number.text
        case .text(let text): "t" + escaped(text.string)
        case .date(let date): "y\(date.year)-\(date.month)-\(date.day)"
        case .dateTime(let moment):
            "m\(moment.date.year)-\(moment.date.month)-\(moment.date.day)-\(moment.microseconds)"
        case .float(let number): "f\(number.bitPattern)"
        case .double(let number): "g\(number.bitPattern)"
        case .time(let span): "s\(span.microseconds)"
        case .bytes(let bytes): "x" + bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        case .members(let members): "l" + members.map { escaped($0.string) }.joined(separator: "\t")
        case .json, .address: "?"
        }
    }

    private static func value(_ text: String, of type: ColumnType) -> Value? {
        let rest = String(text.dropFirst())
        switch text.first {
        case "n": return .null
        case "b": return .boolean(rest == "1")
        case "i": return Int128(rest).map { .integer($0) }
        case "d": return (try? type.accept(.text(rest)))
        case "t": return unescaped(rest).map { .text(ExactText($0)) }
        case "y": return date(numbers(rest)).map { .date($0) }
        case "m":
            let parts = numbers(rest)
            guard parts.count == 4, let day = date(Array(parts.prefix(3))) else { return nil }
            return DateTime(date: day, microseconds: Int64(parts[3])).map { .dateTime($0) }
        case "f": return UInt32(rest).map { .float(Float(bitPattern: $0)) }
        case "g": return UInt64(rest).map { .double(Double(bitPattern: $0)) }
        case "s": return Int64(rest).flatMap { TimeSpan(microseconds: $0) }.map { .time($0) }
        case "x": return bytes(rest).map { .bytes($0) }
        case "l": return members(rest)
        default: return nil
        }
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }

    private static func members(_ text: String) -> Value? {
        if text.isEmpty { return .members([]) }
        let parts = text.utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            .map { unescaped(String(Substring($0))) }
        let members = parts.compactMap { $0.map { ExactText($0) } }
        return members.count == parts.count ? .members(members) : nil
    }

    private static func numbers(_ text: String) -> [Int] { text.split(separator: "-").compactMap { Int($0) } }

    private static func date(_ parts: [Int]) -> CalendarDate? {
        parts.count == 3 ? CalendarDate(year: parts[0], month: parts[1], day: parts[2]) : nil
    }

    private static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": out.append(contentsOf: "\\n".unicodeScalars)
            case "\t": out.append(contentsOf: "\\t".unicodeScalars)
            default: out.append(scalar)
            }
        }
        return String(out)
    }

    private static func unescaped(_ text: String) -> String? {
        var out = String.UnicodeScalarView()
        var rest = text.unicodeScalars.makeIterator()
        while let scalar = rest.next() {
            guard scalar == "\\" else {
                out.append(scalar)
                continue
            }
            switch rest.next() {
            case "\\": out.append("\\")
            case "n": out.append("\n")
            case "t": out.append("\t")
            default: return nil
            }
        }
        return String(out)
    }
}
