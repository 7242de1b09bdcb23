/// The unit of merging: one or more fields that only have a meaning together.
package struct GroupRules: Sendable {
    /// The name that clients use.
    package let name: String
    /// The fields in their order; at least one.
    package let fields: [FieldRules]
    /// The policy for conflicts, `onConflict` on the wire.
    package let policy: String
    /// The merge function as the gateway describes it; null if there is none.
    package let merge: JSONValue
    /// The permitted next values of each value; nil if all are permitted.
    package let transitions: JSONObject?
    /// True if this client may write it.
    package let isWritable: Bool

    init?(_ described: JSONValue) {
        guard let name = described["group"].stringValue, let told = described["fields"].arrayValue else { return nil }
        self.name = name
        fields = told.compactMap(FieldRules.init)
        guard fields.count == told.count, !fields.isEmpty else { return nil }
        policy = described["onConflict"].stringValue ?? "client-wins"
        merge = described["merge"]
        transitions = described["transitions"].objectValue
        isWritable = described["write"].boolValue ?? true
    }

    /// Returns the group's fields in a row; a missing field is unknown, which is not null.
    func fields(of row: JSONObject) -> JSONObject {
        var out: JSONObject = [:]
        for field in fields { out[field.name] = row[field.name] }
        return out
    }

    /// Returns the names of the group's fields that a row lacks.
    func unknownFields(of row: JSONObject) -> Set<String> {
        Set(fields.map(\.name).filter { row[$0] == nil })
    }

    /// Returns the group's value in a row: the value of a single field, otherwise an object of all fields.
    package func value(of row: JSONObject) -> JSONValue {
        fields.count == 1 ? row[fields[0].name] ?? .null : .object(fields(of: row))
    }

    /// Returns the fields and values of a result of `value(of:)`.
    package func spread(_ value: JSONValue) -> JSONObject {
        if fields.count == 1 { return [fields[0].name: value] }
        return value.objectValue.map(fields(of:)) ?? [:]
    }

    /// Returns true if the group stores the same for both values.
    ///
    /// Values differ if a field is unknown in only one of them.
    package func holdsSame(_ one: JSONObject, _ other: JSONObject) -> Bool {
        fields.allSatisfy { field in
            switch (one[field.name], other[field.name]) {
            case (nil, nil): true
            case (let left?, let right?): field.holdsSame(left, right)
            default: false
            }
        }
    }

    /// Returns true if the fields that are known in both values are equal.
    func agrees(_ one: JSONObject, _ other: JSONObject) -> Bool {
        fields.allSatisfy { field in
            guard let left = one[field.name], let right = other[field.name] else { return true }
            return field.holdsSame(left, right)
        }
    }
}
