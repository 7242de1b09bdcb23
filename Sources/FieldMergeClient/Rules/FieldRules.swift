import MergeCore

/// A field with the limits by which its values are checked before they are sent.
package struct FieldRules: Sendable {
    /// The name that clients use.
    package let name: String
    /// The type, as far as the gateway reports it.
    let type: ColumnType
    /// The field can be null.
    package let isNullable: Bool
    /// The resource whose ids it contains; nil if it is not a reference.
    package let references: String?
    /// Its names under earlier rules.
    let formerly: [String]

    /// Reads a field of `GET /v1/rules`; nil for another form.
    init?(_ described: JSONValue) {
        guard let name = described["field"].stringValue else { return nil }
        self.name = name
        type = Self.type(described)
        isNullable = described["nullable"].boolValue ?? true
        references = described["references"].stringValue
        formerly = described["formerly"].arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The column's type; the widest possible one for properties that the gateway does not report, such as a character set.
    private static func type(_ told: JSONValue) -> ColumnType {
        let text = TextType(
            maximumCharacters: told["maximumCharacters"].intValue, maximumBytes: told["maximumBytes"].intValue)
        let digits = told["fraction"].intValue ?? 6
        let members = told["members"].arrayValue?.compactMap(\.stringValue).map { ExactText($0) }
        switch told["type"].stringValue {
        case "boolean": return .boolean
        case "integer":
            return .integer((whole(told["minimum"]) ?? Int128.min)...(whole(told["maximum"]) ?? Int128.max))
        case "bit": return .bit(told["bits"].intValue ?? 64)
        case "year": return .year
        case "decimal":
            guard let precision = told["precision"].intValue, let scale = told["scale"].intValue else {
                return .numeric(scale: told["scale"].intValue)
            }
            return .decimal(precision: precision, scale: scale, isUnsigned: false)
        case "float": return .float(isUnsigned: false)
        case "double": return .double(isUnsigned: false)
        case "enum": return .enumeration(members ?? [])
        case "set": return members.map(ColumnType.set) ?? .delimitedSet(separator: ",", text)
        case "date": return .date
        case "datetime": return .dateTime(fraction: digits)
        case "timestamp": return .timestamp(fraction: digits, nil)
        case "time": return .time(fraction: digits)
        case "binary": return .bytes(maximum: told["maximumBytes"].intValue)
        case "uuid": return .uuid
        case "inet4": return .inet4
        case "inet6": return .inet6
        case "geometry": return .wellKnownText
        case "json": return .json(text)
        default: return .text(text)
        }
    }

    private static func whole(_ bound: JSONValue) -> Int128? {
        switch bound {
        case .integer(let number): number
        case .string(let text): Int128(text)
        default: nil
        }
    }
}

extension FieldRules {
    /// Returns a value in the form in which the gateway sends it.
    ///
    /// - Throws: `InvalidEdit` if the value does not fit the field.
    package func wireValue(_ value: JSONValue, path: String) throws(InvalidEdit) -> JSONValue {
        if value.isNull {
            guard isNullable else { throw InvalidEdit(path: path, detail: "it cannot be null") }
            return .null
        }
        if references != nil, value.temporaryID != nil { return value }
        guard value.isFinite else { throw InvalidEdit(path: path, detail: "it is a finite number") }
        do throws(ValueProblem) {
            let held = try accepted(value)
            if let problem = type.forbidsWriting(held) { throw problem }
            return held.isNull ? value : JSONValue(held, in: ValueStyle(type))
        } catch {
            throw InvalidEdit(path: path, detail: "“\(value.shortText)” \(error.reason)")
        }
    }

    /// Returns true if the field would store the same for two values.
    package func holdsSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
        if one == other { return true }
        if one.isNull || other.isNull || one.temporaryID != nil || other.temporaryID != nil { return false }
        guard let left = try? accepted(one), let right = try? accepted(other) else { return false }
        return left == right
    }

    /// Returns the column's value; for a whole number, a text in the form of a JSON number without an exponent, and with
    /// no fraction except zero.
    private func accepted(_ value: JSONValue) throws(ValueProblem) -> MergeCore.Value {
        switch type {
        case .integer, .bit, .year:
            guard case .string(let text) = value else { return try type.accept(value.scalar) }
            guard let whole = Self.wholeNumber(text) else { throw ValueProblem("is not a decimal integer") }
            return try type.accept(.text(whole))
        default: return try type.accept(value.scalar)
        }
    }

    private static func wholeNumber(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let digits = parts[0].first == UInt8(ascii: "-") ? parts[0].dropFirst() : parts[0]
        guard let first = digits.first, digits.allSatisfy({ $0 >= 48 && $0 <= 57 }), first != 48 || digits.count == 1
        else { return nil }
        if parts.count == 2, parts[1].isEmpty || parts[1].contains(where: { $0 != 48 }) { return nil }
        return String(parts[0])
    }
}

extension JSONValue {
    /// The value as it would arrive at the gateway.
    var scalar: Scalar {
        switch self {
        case .null: .null
        case .bool(let flag): .boolean(flag)
        case .integer(let whole): Int64(exactly: whole).map(Scalar.integer) ?? .number(ExactDecimal(whole))
        case .double(let number): ExactDecimal(shortest: number).map(Scalar.number) ?? .null
        case .string(let text): .text(text)
        case .array(let elements): .array(elements.map(\.scalar))
        case .object(let members):
            .object(members.sorted { $0.key < $1.key }.map { ScalarMember(name: $0.key, value: $0.value.scalar) })
        }
    }

    /// False if a number in it is none that JSON has.
    fileprivate var isFinite: Bool {
        switch self {
        case .double(let number): number.isFinite
        case .array(let elements): elements.allSatisfy(\.isFinite)
        case .object(let members): members.values.allSatisfy(\.isFinite)
        default: true
        }
    }

    /// The beginning of the value, for sentences.
    fileprivate var shortText: String {
        let text = stringValue ?? self.text
        return text.count > 40 ? text.prefix(40) + "…" : text
    }

    /// The value of a column as the wire has it (Protocol.md, section 2).
    init(_ value: MergeCore.Value, in style: ValueStyle) {
        switch value {
        case .null: self = .null
        case .boolean(let flag): self = .bool(flag)
        case .integer(let number):
            self = number.magnitude <= 1 << 53 ? .integer(number) : .string(String(number))
        case .decimal(let number): self = .string(number.text(scale: style.scale))
        case .float(let number): self = JSONValue(text: ShortestNumber.text(number)) ?? .double(Double(number))
        case .double(let number): self = JSONValue(text: ShortestNumber.text(number)) ?? .double(number)
        case .text(let text): self = .string(text.string)
        case .members(let members): self = .array(members.map { .string($0.string) })
        case .date(let date): self = .string(date.text)
        case .dateTime(let moment):
            let text = moment.text(separator: "T", fraction: style.fractionDigits)
            self = .string(style.isUTC ? text + "Z" : text)
        case .time(let span): self = .string(span.text(fraction: style.fractionDigits))
        case .bytes(let data): self = .string(String(decoding: Base64.encode(data), as: UTF8.self))
        case .json(let tree): self = JSONValue(tree)
        case .address(let address): self = .string(address.text)
        }
    }

    private init(_ tree: JSONTree) {
        switch tree {
        case .null: self = .null
        case .boolean(let flag): self = .bool(flag)
        case .integer(let whole): self = .integer(whole)
        case .double(let number): self = .double(number)
        case .text(let text): self = .string(text.string)
        case .array(let elements): self = .array(elements.map(JSONValue.init))
        case .object(let members):
            self = .object(
                JSONObject(members.list.map { ($0.name.string, JSONValue($0.value)) }) { _, last in last })
        }
    }
}
