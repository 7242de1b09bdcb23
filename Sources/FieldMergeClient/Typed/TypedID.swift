/// An id of a record of one type, so that an id of another resource is an error of the compiler.
public struct TypedID<Target>: RecordID, Codable {
    /// The id in JSON.
    public let jsonValue: JSONValue

    /// Makes an id of a number, a text, or the parts of a key of several columns.
    public init(_ id: some RecordID) { jsonValue = id.jsonValue }

    /// Returns a new temporary id.
    public static func temporary() -> Self { Self(JSONValue.temporaryID()) }

    /// True until the gateway has assigned an id to the record.
    public var isTemporary: Bool { jsonValue.temporaryID != nil }

    /// Reads the JSON of an id.
    public init(from decoder: any Decoder) throws { jsonValue = try JSONValue(from: decoder) }

    /// Writes the JSON of the id.
    public func encode(to encoder: any Encoder) throws { try jsonValue.encode(to: encoder) }
}

extension TypedID: Hashable {
    /// Returns true if both name one record: 7 and "7" are one id.
    public static func == (a: Self, b: Self) -> Bool { a.jsonValue.key == b.jsonValue.key }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(jsonValue.key) }
}

extension TypedID: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Makes an id of a number.
    public init(integerLiteral value: Int) { self.init(value) }
    /// Makes an id of a text.
    public init(stringLiteral value: String) { self.init(value) }
}

extension TypedID: CustomStringConvertible {
    /// The id as JSON.
    public var description: String { jsonValue.description }
}
