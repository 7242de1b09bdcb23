import Foundation

/// Reads values of a record in types of the app: integers and decimals also if they are texts in JSON.
struct ValueDecoder: Decoder {
    let value: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: JSONValue, at path: [any CodingKey] = []) {
        self.value = value
        codingPath = path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = value.objectValue else { throw mismatch(JSONObject.self) }
        return KeyedDecodingContainer(Members(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.arrayValue else { throw mismatch([JSONValue].self) }
        return Elements(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(
            type, DecodingError.Context(codingPath: codingPath, debugDescription: "The value is \(value) instead."))
    }

    /// Returns a number, a text or a truth value; nil if the type is none of them.
    private func scalar(_ type: any Decodable.Type) throws -> (any Decodable)? {
        let found: (any Decodable)?
        switch type {
        case is JSONValue.Type: found = value
        case is Bool.Type: found = value.boolValue
        case is String.Type: found = value.stringValue
        case is Double.Type: found = value.doubleValue
        case is Float.Type: found = value.doubleValue.map { Float($0) }
        case is Decimal.Type: found = value.decimal
        case is Data.Type: found = value.stringValue.flatMap { Data(base64Encoded: $0) }
        case let integer as any (FixedWidthInteger & Decodable).Type: found = whole(integer)
        default: return nil
        }
        guard let found else { throw mismatch(type) }
        return found
    }

    private func whole<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type) -> Integer? {
        switch value {
        case .integer(let whole): Integer(exactly: whole)
        case .double(let number): Integer(exactly: number)
        case .string(let text): Integer(text)
        default: nil
        }
    }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let scalar = try scalar(type) else { return try T(from: self) }
        guard let made = scalar as? T else { throw mismatch(type) }
        return made
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: JSONObject
    let codingPath: [any CodingKey]
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { members[key.stringValue]?.isNull ?? true }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try value(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try value(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { ValueDecoder(.object(members), at: codingPath) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }

    private func value(_ key: Key) throws -> ValueDecoder {
        guard let value = members[key.stringValue] else {
            let detail = "The record does not contain the field. Sync the store, or write the types again."
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: detail))
        }
        return ValueDecoder(value, at: codingPath + [key])
    }
}

private struct Elements: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: [JSONValue], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    mutating func decodeNil() -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> ValueDecoder {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                JSONValue.self, DecodingError.Context(codingPath: codingPath, debugDescription: "The list ends here."))
        }
        defer { currentIndex += 1 }
        return ValueDecoder(elements[currentIndex], at: codingPath + [Index(intValue: currentIndex)])
    }

    private struct Index: CodingKey {
        let intValue: Int?
        var stringValue: String { "\(intValue ?? 0)" }

        init(intValue: Int) { self.intValue = intValue }
        init?(stringValue: String) { return nil }
    }
}

extension JSONValue {
    fileprivate var decimal: Decimal? {
        switch self {
        case .string(let text): Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        case .integer(let whole): Decimal(string: String(whole), locale: nil)
        case .double(let number): Decimal(string: "\(number)", locale: nil)
        default: nil
        }
    }
}
