import MergeCore

/// A JSON value: a field, a group, a section, or a whole record.
///
/// Two values are equal as JSON is: numbers by their value, members in any order, texts by their characters and never by
/// what Unicode holds equivalent.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number without a fraction, of 64 bits, signed or not.
    case integer(Int128)
    /// Any other number.
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

/// The members of a JSON object.
public typealias JSONObject = [String: JSONValue]

extension JSONValue: Hashable {
    /// Returns true if both are the same as JSON.
    public static func == (a: JSONValue, b: JSONValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.double(let one), .double(let other)): one == other
        case (.integer(let whole), .double(let number)), (.double(let number), .integer(let whole)):
            Int128(exactly: number) == whole
        case (.string(let one), .string(let other)): one.isExactly(other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)):
            one.count == other.count
                && one.allSatisfy { name, value in
                    guard let same = other.index(forKey: name) else { return false }
                    return other[same].key.isExactly(name) && other[same].value == value
                }
        default: false
        }
    }

    /// Hashes what equal values have in common.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let flag): hasher.combine(flag)
        case .integer(let whole): hasher.combine(Double(whole))
        case .double(let number): hasher.combine(number)
        case .string(let text): hasher.combine(text)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members.count)
        }
    }
}

extension JSONValue {
    /// True for null alone.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The truth value; nil for anything else.
    public var boolValue: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The number as an `Int`, also if the value is its text; nil if it is no integer in range.
    public var intValue: Int? {
        switch self {
        case .integer(let whole): Int(exactly: whole)
        case .double(let number): Int(exactly: number)
        case .string(let text): Int(text)
        default: nil
        }
    }

    /// The number, also if the value is its text, as for decimals; nil for anything else.
    public var doubleValue: Double? {
        switch self {
        case .integer(let whole): Double(whole)
        case .double(let number): number
        case .string(let text): Double(text)
        default: nil
        }
    }

    /// The text; nil for anything else.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The elements; nil for anything else.
    public var arrayValue: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members; nil for anything else.
    public var objectValue: JSONObject? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The member of an object; null if there is none.
    ///
    /// Assigning makes an object of what was none.
    public subscript(name: String) -> JSONValue {
        get {
            if case .object(let members) = self { members[name] ?? .null } else { .null }
        }
        set {
            var members = objectValue ?? [:]
            members[name] = newValue
            self = .object(members)
        }
    }

    /// The element of an array; null if there is none.
    public subscript(index: Int) -> JSONValue {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { .null }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes null.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes a whole number.
    public init(integerLiteral value: Int64) { self = .integer(Int128(value)) }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object; of members with the same name the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements) { _, last in last })
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON, members sorted by their names.
    public var description: String { text }
}

extension JSONValue {
    /// The value; nil if it is null.
    var nonNull: JSONValue? { isNull ? Optional.none : Optional.some(self) }
}
