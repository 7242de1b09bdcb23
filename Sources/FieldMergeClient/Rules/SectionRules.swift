import MergeCore

/// A part of a record: one row, or many rows in a list.
package struct SectionRules: Sendable {
    /// The name that clients use.
    package let name: String
    /// It has many rows.
    package let isList: Bool
    /// The groups in their order.
    package let groups: [GroupRules]
    /// The names of read-only fields.
    package let readOnly: [String]
    /// The database numbers its rows.
    package let isGenerated: Bool
    /// The fields that are written, by their names.
    package let fields: [String: FieldRules]
    /// A guard may freeze its rows by a rule that the client cannot read.
    package let hasUnknownGuard: Bool
    /// The types of its fields in JSON, including read-only fields.
    let types: [String: String]
    /// The types of the columns of its key.
    let keyTypes: [String]
    private let places: [String: Int]
    private let newNames: [String: String]

    init?(_ described: JSONValue) {
        guard let name = described["section"].stringValue, let told = described["groups"].arrayValue else { return nil }
        self.name = name
        isList = described["kind"] == "list"
        groups = told.compactMap(GroupRules.init)
        guard groups.count == told.count else { return nil }
        readOnly = (described["readOnly"].arrayValue ?? []).compactMap { $0["field"].stringValue }
        hasUnknownGuard = described["frozenWhen"] == true
        let key = described["key"].arrayValue ?? []
        isGenerated = key.contains { $0["generated"] == true }
        keyTypes = key.map { $0["type"].stringValue ?? "" }
        let all = told.flatMap { $0["fields"].arrayValue ?? [] } + (described["readOnly"].arrayValue ?? [])
        types = Dictionary(all.map { ($0["field"].stringValue ?? "", $0["type"].stringValue ?? "") }) { $1 }
        var fields: [String: FieldRules] = [:]
        var places: [String: Int] = [:]
        var newNames: [String: String] = [:]
        for (index, group) in groups.enumerated() {
            for field in group.fields {
                fields[field.name] = field
                places[field.name] = index
                for earlier in field.formerly { newNames[earlier] = field.name }
            }
        }
        self.fields = fields
        self.places = places
        self.newNames = newNames.filter { fields[$0.key] == nil }
    }

    /// The group with this name; nil if there is none.
    package func group(_ name: String) -> GroupRules? { groups.first { $0.name == name } }

    /// The group that contains a field; nil if the section has no such field.
    package func group(ofField name: String) -> GroupRules? { places[name].map { groups[$0] } }

    /// Returns values under the present names of their fields.
    func renamed(_ row: JSONObject) -> JSONObject {
        newNames.isEmpty ? row : JSONObject(row.map { (renamed($0.key), $0.value) }) { first, _ in first }
    }

    /// Returns the present names of fields.
    func renamed(_ names: Set<String>) -> Set<String> { Set(names.map(renamed)) }

    /// Returns the present name of a field.
    func renamed(_ name: String) -> String { newNames[name] ?? name }

    /// Returns a field.
    ///
    /// - Throws: `InvalidEdit` with the nearest name if there is none.
    package func field(_ name: String, path: String) throws(InvalidEdit) -> FieldRules {
        guard let field = fields[name] else {
            throw InvalidEdit(unknown: name, among: fields.keys, path: "\(path).\(name)")
        }
        return field
    }

    /// A row without known fields.
    package var blank: JSONObject {
        var row: JSONObject = [:]
        for name in fields.keys { row[name] = .null }
        for name in readOnly { row[name] = .null }
        return row
    }
}
