/// A field, or an id, that a path names.
struct FieldPath: Sendable, Hashable {
    let path: String
    /// nil for the id of the record.
    let section: String?
    /// nil for an id.
    let field: String?
    let isList: Bool
    /// The type of the field, or the types of the columns of the id.
    let types: [String]

    /// Resolves a path by the rules.
    init(_ path: String, in rules: ResourceRules) throws(InvalidQuery) {
        self.path = path
        if path == "id" {
            (section, field, isList, types) = (nil, nil, false, rules.root.keyTypes)
            return
        }
        let parts = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts.count > 1 ? parts[1] : ""
        guard let section = rules.section(named: parts[0]) else {
            throw InvalidQuery(unknown: "section", parts[0], among: rules.sections.map(\.name), path: path)
        }
        self.section = section.name
        isList = section.isList
        if isList, name == "id" {
            (field, types) = (nil, section.keyTypes)
            return
        }
        guard let type = section.types[name] else {
            throw InvalidQuery(unknown: "field", name, among: section.types.keys, path: path)
        }
        (field, types) = (name, [type])
    }

    /// The type of the field; empty for an id.
    var type: String { field == nil ? "" : types[0] }
    /// A record may have several values here.
    var hasSeveralValues: Bool { isList || type == "set" }

    /// Returns the values of a record: one, or for a list or a set any number; nil is unknown.
    private func values(of record: JSONObject) -> [JSONValue?] {
        guard let section else { return [record["id"]] }
        guard let held = record[section] else { return [nil] }
        let values = (isList ? held.arrayValue ?? [] : [held]).map { row -> JSONValue? in
            row.isNull ? .some(.null) : row.objectValue?[field ?? "id"]
        }
        guard type == "set" else { return values }
        return values.flatMap { value -> [JSONValue?] in
            switch value {
            case .array(let members)?: members
            case .string(let text)?: text.split(separator: ",").map { .string(String($0)) }
            default: [value]
            }
        }
    }

    /// Returns the keys of the values of a record.
    func keys(of record: JSONObject) -> [OrderKey] {
        values(of: record).map { value in
            guard field != nil else { return value.map { OrderKey(id: $0, types: types) } ?? .unknown }
            return OrderKey(value, type: type == "set" ? "text" : type)
        }
    }

    /// Returns the words of the texts of a record.
    func words(of record: JSONObject) -> [[UInt8]] {
        values(of: record).flatMap { $0?.stringValue.map(SearchWords.words) ?? [] }
    }
}
