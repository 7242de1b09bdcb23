public import Foundation

/// A record that is being edited: `$0["customer", "address"] = ["street": "2 High St"]`.
///
/// Assigning a field edits its whole group. At its end, the block throws the first value that the rules refuse.
public struct RecordEdit: Sendable {
    /// The record's id, temporary until the gateway has assigned one.
    public let id: JSONValue
    let resource: ResourceRules
    /// The record that the edit is the difference to; nil for a new one.
    var before: JSONObject?
    /// The fields that `before` and the record have as null because they are unknown.
    private(set) var unknown: UnknownFields
    private var members: JSONObject
    private var faults: [(part: String, error: InvalidEdit)] = []

    /// The first value that the rules refuse, unless another was assigned since.
    var fault: InvalidEdit? { faults.first?.error }

    init(_ resource: ResourceRules, id: JSONValue, before: JSONObject?, unknown: UnknownFields = .none) {
        self.resource = resource
        self.id = id
        self.before = before
        self.unknown = unknown
        members = before ?? ["id": id]
        if before == nil {
            for section in resource.sections where section.isList { members[section.name] = [] }
            members[resource.root.name] = [:]
        }
    }

    /// The record as it is to be.
    public var record: Record { Record(members, resource, unknown: unknown) }

    /// The record that the edit is the difference to; nil for a new one.
    var saved: Record? { before.map { Record($0, resource, unknown: unknown) } }

    var state: JSONObject { members }

    /// Replaces the record as it is to be.
    mutating func restore(_ state: JSONObject) { members = state }

    /// Takes the values and faults of a copy.
    ///
    /// The record that the edit is the difference to stays: a `save` may have changed it since the copy was made.
    mutating func takeValues(of copy: RecordEdit) {
        members = copy.members
        faults = copy.faults
    }

    mutating func forgetFaults() { faults = [] }

    /// Makes a saved copy the record that the edit is the difference to.
    mutating func begin(after saved: RecordEdit) {
        unknown.remove(RecordChanges(of: resource, from: saved.before, to: saved.state))
        before = saved.state
    }

    /// Gives unknown fields the values of rows that the gateway has sent since, unless the app has set them.
    mutating func fill(from rows: [RowChange.Place: JSONObject]) {
        for (place, row) in rows {
            let names = unknown.remove(place)
            before = before.map { Self.filled($0, names, from: row, at: place) }
            members = Self.filled(members, names, from: row, at: place)
        }
    }

    private static func filled(
        _ record: JSONObject, _ names: Set<String>, from row: JSONObject, at place: RowChange.Place
    ) -> JSONObject {
        func filled(_ held: JSONValue) -> JSONValue {
            guard var values = held.objectValue else { return held }
            // A field that the row lacks is unknown, which is not null.
            for name in names where values[name]?.isNull == true { values[name] = row[name] }
            return .object(values)
        }
        var record = record
        if let key = place.key {
            let items = record[place.section]?.arrayValue ?? []
            record[place.section] = .array(items.map { $0["id"].key == key ? filled($0) : $0 })
        } else {
            record[place.section] = record[place.section].map(filled)
        }
        return record
    }

    // MARK: Groups

    /// A group of a section: of one field the value, of several an object; also a single field by its name.
    ///
    /// Of an object, the fields that it does not name keep their values. Assigning to a section without a row creates it.
    public subscript(section: String, group: String) -> JSONValue {
        get { record[section, group] }
        set {
            let name = resource.section(named: section)?.group(ofField: group)?.name ?? group
            attempt("\(section).\(name)") { edit throws(InvalidEdit) in
                let rules = try edit.resource.section(section)
                guard !rules.isList else {
                    throw InvalidEdit(path: section, detail: "it is a list: name an item, as in [0, “\(group)”]")
                }
                let row = edit.members[section]?.objectValue ?? [:]
                let fields = try Self.fields(group, value: newValue, of: rules, path: section)
                edit.members[section] = .object(
                    try Self.assigned(
                        fields, to: row, before: edit.before?[section]?.objectValue, of: rules, path: section))
            }
        }
    }

    /// A group, or a single field, of an item of a list.
    public subscript(section: String, index: Int, group: String) -> JSONValue {
        get { record[section, index, group] }
        set {
            let part = "\(section)[\(index)].\(group)"
            attempt(part) { edit throws(InvalidEdit) in
                var items = edit[section]
                guard items.arrayValue?.indices.contains(index) == true else {
                    throw InvalidEdit(path: "\(section)[\(index)]", detail: "there is no such item")
                }
                items[index, group] = newValue
                try edit.assign(items, to: section)
            }
        }
    }

    /// A section: an object, or in a list an array of items.
    ///
    /// Null deletes the row of a section. Fields that an object does not name keep their values. Items of a list are
    /// identified by `id`: an item without `id` is new, and a missing item is deleted.
    public subscript(section: String) -> JSONValue {
        get { members[section] ?? .null }
        set {
            attempt(section) { edit throws(InvalidEdit) in try edit.assign(newValue, to: section) }
        }
    }

    private mutating func assign(_ value: JSONValue, to section: String) throws(InvalidEdit) {
        let rules = try resource.section(section)
        members[section] = rules.isList ? try items(value, of: rules) : try row(value, of: rules)
    }

    /// Sets a section to a value of the app's type, compared group by group; for a list, an array of items.
    ///
    /// A property that is nil makes its field null. Fields that the type does not have keep their values.
    /// - Throws: `EncodingError` if the value is not a row.
    public mutating func replace(
        section: String, with value: some Encodable, using encoder: JSONEncoder = JSONEncoder()
    ) throws {
        self[section] = try RowEncoder.encode(value, using: encoder)
        if let fault { throw fault }
    }

    // MARK: Checking

    /// Changes a part, and replaces an invalid value by a valid one.
    private mutating func attempt(_ part: String, _ change: (inout RecordEdit) throws(InvalidEdit) -> Void) {
        do throws(InvalidEdit) {
            try change(&self)
            faults.removeAll { $0.part == part || $0.part.hasPrefix("\(part).") || $0.part.hasPrefix("\(part)[") }
        } catch {
            faults.removeAll { $0.part == part }
            faults.append((part, error))
        }
    }

    private func row(_ value: JSONValue, of section: SectionRules) throws(InvalidEdit) -> JSONValue {
        if value.isNull {
            guard section.name != resource.root.name else {
                throw InvalidEdit(path: section.name, detail: "the record itself is deleted with delete()")
            }
            return .null
        }
        guard var values = value.objectValue else {
            throw InvalidEdit(path: section.name, detail: "a section is an object of fields")
        }
        values["id"] = section.fields["id"] == nil ? nil : values["id"]
        let held = before?[section.name]?.objectValue
        let row = members[section.name]?.objectValue ?? held ?? [:]
        return .object(try Self.assigned(values, to: row, before: held, of: section, path: section.name))
    }

    private func items(_ value: JSONValue, of section: SectionRules) throws(InvalidEdit) -> JSONValue {
        guard let told = value.arrayValue else {
            throw InvalidEdit(path: section.name, detail: "a list is an array of objects")
        }
        let known = Dictionary(
            (before?[section.name]?.arrayValue ?? []).map { ($0["id"].key, $0.objectValue ?? [:]) }
        ) { first, _ in first }
        var seen: Set<IDText> = []
        var items: [JSONValue] = []
        for (index, item) in told.enumerated() {
            let path = "\(section.name)[\(index)]"
            guard var values = item.objectValue else {
                throw InvalidEdit(path: path, detail: "a row is an object of fields")
            }
            var id = values.removeValue(forKey: "id") ?? .null
            if id.isNull {
                guard section.isGenerated else {
                    throw InvalidEdit(
                        path: "\(path).id", detail: "the database does not number these rows: the row needs an id")
                }
                id = .temporaryID()
            }
            guard seen.insert(id.key).inserted else {
                throw InvalidEdit(path: "\(path).id", detail: "two items have this id")
            }
            let held = known[id.key]
            var row = try Self.assigned(values, to: held ?? ["id": id], before: held, of: section, path: path)
            row["id"] = held?["id"] ?? id
            items.append(.object(row))
        }
        return .array(items)
    }

    /// Returns the fields that assigning to a group, or to a single field, is about.
    private static func fields(
        _ name: String, value: JSONValue, of section: SectionRules, path: String
    ) throws(InvalidEdit) -> JSONObject {
        guard let group = section.group(name), group.fields.count > 1 || section.fields[name] == nil else {
            return [name: value]
        }
        if group.fields.count == 1 { return [group.fields[0].name: value] }
        guard let values = value.objectValue else {
            throw InvalidEdit(path: "\(path).\(name)", detail: "a group of several fields is an object of them")
        }
        for field in values.keys where !group.fields.contains(where: { $0.name == field }) {
            throw InvalidEdit(unknown: field, among: group.fields.map(\.name), path: "\(path).\(field)")
        }
        return values
    }

    /// Returns a row with values assigned, in the form in which the gateway sends them.
    private static func assigned(
        _ values: JSONObject, to row: JSONObject, before: JSONObject?, of section: SectionRules, path: String
    ) throws(InvalidEdit) -> JSONObject {
        var row = row
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if section.fields[name] == nil, section.group(name) != nil {
                for (field, value) in try fields(name, value: value, of: section, path: path) {
                    row[field] = try checked(
                        value, field: section.field(field, path: path), over: row, before: before, path: path)
                }
            } else if section.readOnly.contains(name) {
                guard value == row[name] ?? .null else {
                    throw InvalidEdit(path: "\(path).\(name)", detail: "it is read-only")
                }
            } else {
                row[name] = try checked(
                    value, field: section.field(name, path: path), over: row, before: before, path: path)
            }
        }
        return row
    }

    private static func checked(
        _ value: JSONValue, field: FieldRules, over row: JSONObject, before: JSONObject?, path: String
    ) throws(InvalidEdit) -> JSONValue {
        // An echo, also of a value that could not be written again.
        if let held = row[field.name], field.holdsSame(held, value) { return held }
        if let held = before?[field.name], field.holdsSame(held, value) { return held }
        return try field.wireValue(value, path: "\(path).\(field.name)")
    }
}

extension JSONValue {
    /// Appends an element; null becomes an array.
    public mutating func append(_ element: JSONValue) { self = .array((arrayValue ?? []) + [element]) }

    /// Removes an element of an array; returns it, null if there is none.
    @discardableResult
    public mutating func remove(at index: Int) -> JSONValue {
        guard var elements = arrayValue, elements.indices.contains(index) else { return .null }
        let removed = elements.remove(at: index)
        self = .array(elements)
        return removed
    }

    /// Takes the elements out of an array that meet a condition.
    public mutating func removeAll(where condition: (JSONValue) throws -> Bool) rethrows {
        guard var elements = arrayValue else { return }
        try elements.removeAll(where: condition)
        self = .array(elements)
    }

    /// The number of elements or members; 0 for anything else.
    public var count: Int { arrayValue?.count ?? objectValue?.count ?? 0 }

    /// A member of an object in an array, such as a field of an item of a list.
    public subscript(index: Int, name: String) -> JSONValue {
        get { self[index][name] }
        set {
            guard var elements = arrayValue, elements.indices.contains(index) else { return }
            elements[index][name] = newValue
            self = .array(elements)
        }
    }
}
