import Foundation

/// A record in a type that `fieldmerge types --language swift` has written.
public protocol TypedRecord: Codable, Hashable, Sendable, Identifiable where ID == TypedID<Self> {
    /// Writes each section into an edit, which compares them group by group.
    func write(to edit: inout RecordEdit) throws
}

/// A row of a section in a type that `fieldmerge types` has written.
///
/// In a new row, the database fills properties that are nil. In another row, nil is null.
public protocol TypedRow: Codable, Hashable, Sendable {}

/// A member of an ENUM or SET column.
///
/// The types may not name it.
public protocol TypedMember: RawRepresentable, Codable, Hashable, Sendable where RawValue == String {}

/// A resource with the type of its records, such as `Orders`.
public struct ResourceType<Value: TypedRecord>: Sendable {
    /// The name of the resource.
    public let name: String

    /// Names a resource.
    public init(_ name: String) { self.name = name }
}

extension TypedRecord {
    /// Reads the values of a record.
    ///
    /// - Throws: `DecodingError` with the path if a field is missing or has another type. A field is missing if the types
    ///   are newer than the stored record, which the next sync fetches again.
    public init(_ record: Record) throws { self = try ValueDecoder(record.value).decode(Self.self) }
}

extension RecordEdit {
    /// Writes the row of a section; nil deletes it.
    ///
    /// - Throws: `InvalidEdit` with the path.
    public mutating func write(_ row: (some TypedRow)?, to section: String) throws {
        guard let row else {
            if before?[section]?.nonNull != nil { self[section] = .null }
            if let fault { throw fault }
            return
        }
        let isNew = before?[section]?.nonNull == nil
        try put(RowEncoder.encode(row, using: JSONEncoder()), to: section) { _ in isNew }
    }

    /// Writes the items of a list.
    ///
    /// - Throws: `InvalidEdit` with the path.
    public mutating func write(_ items: [some TypedRow], to section: String) throws {
        let known = Set((before?[section]?.arrayValue ?? []).map { $0["id"].key })
        try put(RowEncoder.encode(items, using: JSONEncoder()), to: section) { !known.contains($0["id"].key) }
    }

    private mutating func put(
        _ value: JSONValue, to section: String, isNew: (JSONValue) -> Bool
    ) throws {
        let readOnly = resource.section(named: section)?.readOnly ?? []
        func settable(_ row: JSONValue) -> JSONValue {
            let isNew = isNew(row)
            let members = row.objectValue ?? [:]
            return .object(members.filter { !readOnly.contains($0.key) && !(isNew && $0.value.isNull) })
        }
        self[section] = value.arrayValue.map { .array($0.map(settable)) } ?? settable(value)
        if let fault { throw fault }
    }
}
