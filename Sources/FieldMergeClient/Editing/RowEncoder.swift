import Foundation

/// Makes rows of an app's own values.
///
/// A property that is nil differs from a property that the type does not have.
/// `JSONEncoder` writes neither.
enum RowEncoder {
    /// - Throws: `EncodingError` for a value that is neither a row nor an array of rows.
    static func encode(_ value: some Encodable, using encoder: JSONEncoder) throws -> JSONValue {
        let target = RowTarget(encoder)
        try value.encode(to: Pass(target: target, codingPath: []))
        guard let made = target.value else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "A section is an object of fields."))
        }
        return made
    }

    /// The value that is being made.
    private final class RowTarget {
        var value: JSONValue?
        let encoder: JSONEncoder

        init(_ encoder: JSONEncoder) { self.encoder = encoder }

        func leaf(_ value: some Encodable) throws -> JSONValue {
            // As a number of JSON, a decimal would lose digits.
            if let decimal = value as? Decimal { return .string("\(decimal)") }
            return try JSONValue(bytes: encoder.encode(value)) ?? .null
        }
    }

    private struct Pass: Encoder {
        let target: RowTarget
        let codingPath: [any CodingKey]
        let userInfo: [CodingUserInfoKey: Any] = [:]

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            if target.value == nil { target.value = [:] }
            return KeyedEncodingContainer(Fields<Key>(target: target, codingPath: codingPath))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer {
            target.value = []
            return Items(target: target, codingPath: codingPath)
        }

        func singleValueContainer() -> any SingleValueEncodingContainer {
            Single(target: target, codingPath: codingPath)
        }
    }

    private struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let target: RowTarget
        let codingPath: [any CodingKey]

        mutating func encodeNil(forKey key: Key) throws { target.value?[key.stringValue] = .null }

        mutating func encode(_ value: some Encodable, forKey key: Key) throws {
            target.value?[key.stringValue] = try target.leaf(value)
        }

        private mutating func encode(optional value: (some Encodable)?, _ key: Key) throws {
            target.value?[key.stringValue] = try value.map(target.leaf) ?? .null
        }

        mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
            try encode(optional: value, key)
        }
        mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encode(optional: value, key) }
        mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encode(optional: value, key) }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy keyType: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(Fields<Nested>(target: target, codingPath: codingPath + [key]))
        }

        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            Items(target: target, codingPath: codingPath + [key])
        }

        mutating func superEncoder() -> any Encoder { Pass(target: target, codingPath: codingPath) }

        mutating func superEncoder(forKey key: Key) -> any Encoder { Pass(target: target, codingPath: codingPath) }
    }

    private struct Items: UnkeyedEncodingContainer {
        let target: RowTarget
        let codingPath: [any CodingKey]
        var count: Int { target.value?.count ?? 0 }

        mutating func encodeNil() throws { target.value?.append(.null) }

        mutating func encode(_ value: some Encodable) throws {
            target.value?.append(try RowEncoder.encode(value, using: target.encoder))
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy keyType: Nested.Type
        ) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(Fields<Nested>(target: target, codingPath: codingPath))
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

        mutating func superEncoder() -> any Encoder { Pass(target: target, codingPath: codingPath) }
    }

    /// A wrapper around another value, such as an optional or an enumeration; a single value is not a row.
    private struct Single: SingleValueEncodingContainer {
        let target: RowTarget
        let codingPath: [any CodingKey]

        mutating func encodeNil() throws { target.value = .null }

        mutating func encode(_ value: some Encodable) throws {
            target.value =
                value is JSONValue
                ? try target.leaf(value) : try RowEncoder.encode(value, using: target.encoder)
        }

        mutating func encode(_ value: Bool) throws { target.value = nil }
        mutating func encode(_ value: String) throws { target.value = nil }
        mutating func encode(_ value: Double) throws { target.value = nil }
        mutating func encode(_ value: Float) throws { target.value = nil }
        mutating func encode(_ value: Int) throws { target.value = nil }
        mutating func encode(_ value: Int8) throws { target.value = nil }
        mutating func encode(_ value: Int16) throws { target.value = nil }
        mutating func encode(_ value: Int32) throws { target.value = nil }
        mutating func encode(_ value: Int64) throws { target.value = nil }
        mutating func encode(_ value: UInt) throws { target.value = nil }
        mutating func encode(_ value: UInt8) throws { target.value = nil }
        mutating func encode(_ value: UInt16) throws { target.value = nil }
        mutating func encode(_ value: UInt32) throws { target.value = nil }
        mutating func encode(_ value: UInt64) throws { target.value = nil }
    }
}
