import TestSupport

/// Checks JSON against the schemas of an OpenAPI document: the keywords of JSON Schema that the document uses.
struct SchemaCheck {
    let document: JSON

    /// The supported keywords.
    ///
    /// Any other would be ignored.
    static let keywords: Set<String> = [
        "$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum", "format", "items",
        "maxLength",
        "minItems", "minLength", "minimum", "properties", "required", "type",
    ]

    /// Returns the places at which a value is none of the schema's, and why.
    func faults(_ value: JSON, _ schema: JSON, at path: String = "") -> [String] {
        let schema = resolved(schema)
        var faults: [String] = []
        for word in schema.object.keys where !Self.keywords.contains(word) { faults.append("\(path): \(word)?") }
        if let choices = schema["anyOf"]?.array {
            let tried = choices.map { self.faults(value, $0, at: path) }
            if !tried.contains(where: \.isEmpty) { faults += tried.min { $0.count < $1.count } ?? [] }
        }
        if let allowed = schema["const"], allowed != value { faults.append("\(path): \(value) is not \(allowed)") }
        if let allowed = schema["enum"]?.array, !allowed.contains(value) {
            faults.append("\(path): \(value) is none of \(allowed)")
        }
        if let type = schema["type"] {
            let names = type.text.map { [$0] } ?? type.array.compactMap(\.text)
            if !names.contains(where: { Self.isOfType(value, $0) }) {
                return faults + ["\(path): \(value) is no \(names.joined(separator: ", "))"]
            }
        }
        faults += members(value, schema, at: path)
        if let items = schema["items"] {
            for (index, element) in value.array.enumerated() {
                faults += self.faults(element, items, at: "\(path)[\(index)]")
            }
        }
        return faults
    }

    private func members(_ value: JSON, _ schema: JSON, at path: String) -> [String] {
        var faults: [String] = []
        let known = schema["properties"]?.object ?? [:]
        let others = schema["additionalProperties"]
        for name in schema["required"]?.array.compactMap(\.text) ?? [] where value.object[name] == nil {
            if !value.object.isEmpty || Self.isOfType(value, "object") { faults.append("\(path).\(name) is missing") }
        }
        for (name, member) in value.object {
            if let schema = known[name] {
                faults += self.faults(member, schema, at: "\(path).\(name)")
            } else if others?.bool == false {
                faults.append("\(path).\(name) is not described")
            } else if let others, others.bool == nil {
                faults += self.faults(member, others, at: "\(path).\(name)")
            }
        }
        return faults
    }

    /// The description that a reference names.
    func resolved(_ schema: JSON) -> JSON {
        guard let reference = schema["$ref"]?.text else { return schema }
        let parts = reference.split(separator: "/").dropFirst().map(String.init)
        return parts.reduce(document) { found, part in found[part] ?? found }
    }

    private static func isOfType(_ value: JSON, _ type: String) -> Bool {
        switch type {
        case "null": value.isNull
        case "boolean": value.bool != nil
        case "string": value.text != nil
        case "integer": value.int != nil
        case "number": value.isNumber
        case "array": value.isArray
        case "object": value.isObject
        default: false
        }
    }
}
