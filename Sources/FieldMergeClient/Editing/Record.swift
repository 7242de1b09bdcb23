public import Foundation

/// A record as an app reads it, with the edits that were not sent yet.
public struct Record: Sendable {
    /// The whole record: `id`, and each section by its name.
    public let members: JSONObject
    /// The fields that are null because a creation without an answer leaves them to the database.
    let unknown: UnknownFields
    private let rules: ResourceRules?

    init(_ members: JSONObject, _ rules: ResourceRules? = nil, unknown: UnknownFields = .none) {
        self.members = members
        self.rules = rules
        self.unknown = unknown
    }

    /// Returns whether the record belongs to a resource, as far as this is known.
    func isOf(_ resource: String) -> Bool { rules.map { $0.name == resource } ?? true }

    /// The record's id, temporary before the record was created.
    public var id: JSONValue { members["id"] ?? .null }

    /// The reason why the gateway cannot read the record now; nil if it can.
    ///
    /// The values are from the last successful read, and edits are allowed.
    public var problem: JSONValue? { members["problem"].flatMap { $0["code"] == "unreadable-record" ? $0 : nil } }

    /// The complete record as one value.
    public var value: JSONValue { .object(members) }

    /// A section: an object, or an array of objects for a list; null if there is none.
    public subscript(section: String) -> JSONValue { members[section] ?? .null }

    /// A group of a section: of one field the value, of several an object; also a single field by its name.
    public subscript(section: String, group: String) -> JSONValue {
        guard let row = members[section]?.objectValue else { return .null }
        return Self.value(group, of: row, rules?.section(named: section))
    }

    /// Returns a field of a section; nil if the record lacks the field, which is then unknown and not null.
    ///
    /// New rules may name a field before the records that have it are here.
    public func value(_ section: String, _ field: String) -> JSONValue? { members[section]?.objectValue?[field] }

    /// A group, or a single field, of an item of a list.
    public subscript(section: String, index: Int, group: String) -> JSONValue {
        guard let row = members[section]?[index].objectValue else { return .null }
        return Self.value(group, of: row, rules?.section(named: section))
    }

    static func value(_ name: String, of row: JSONObject, _ section: SectionRules?) -> JSONValue {
        if let group = section?.group(name) { return group.value(of: row) }
        return row[name] ?? .null
    }

    /// Returns a section, or without a name the complete record, as a value of the app's type.
    ///
    /// - Throws: `DecodingError` if the type does not fit.
    public func decode<T: Decodable>(
        _ type: T.Type, section: String? = nil, using decoder: JSONDecoder = JSONDecoder()
    ) throws -> T {
        try decoder.decode(type, from: Data((section.map { self[$0] } ?? value).bytes))
    }
}

extension Record: Hashable, CustomStringConvertible {
    /// Returns true if both have the same values.
    public static func == (a: Record, b: Record) -> Bool { a.members == b.members }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(id.key) }

    /// The record as JSON.
    public var description: String { value.description }
}
