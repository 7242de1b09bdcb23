/// Writes the types of all resources in a language, for apps.
package enum ClientTypes {
    /// Returns the text of a file.
    ///
    /// - Parameters:
    ///   - rules: an answer of `GET /v1/rules`.
    ///   - names: other names for resources, from which their types are named.
    ///   - module: the module of the client library, in TypeScript.
    package static func text(
        of rules: String, in language: ClientLanguage, names: [String: String] = [:], module: String = "fieldmerge"
    ) throws(ClientTypesFault) -> String {
        let rules = try DescribedRules(rules)
        var typeNames = try TypeNames(rules, in: language, chosen: names)
        let records = rules.resources.map { TypedResource($0, in: language, &typeNames) }
        return switch language {
        case .typescript: TypeScriptTypes(module: module).text(of: records)
        case .swift: SwiftTypes().text(of: records)
        case .python: PythonTypes().text(of: records)
        }
    }
}

/// A resource with the names of its types and properties in a language.
struct TypedResource {
    let name: String
    let description: String?
    let constant: String
    let record: String
    let sections: [TypedSection]

    init(_ resource: DescribedResource, in language: ClientLanguage, _ names: inout TypeNames) {
        name = resource.name
        description = resource.description
        constant = names.resources[resource.name]?.constant ?? ""
        record = names.resources[resource.name]?.record ?? ""
        var properties = PropertyNames(language)
        sections = resource.sections.map { section in
            TypedSection(
                section, property: properties.property(for: section.name), resource: resource.name, in: language, &names
            )
        }
    }

    /// The section whose row is the record itself.
    var root: TypedSection? { sections.first }
}

/// A section with the name of the type of its rows.
struct TypedSection {
    let described: DescribedSection
    let property: String
    let type: String
    let fields: [TypedField]

    init(
        _ section: DescribedSection, property: String, resource: String, in language: ClientLanguage,
        _ names: inout TypeNames
    ) {
        described = section
        self.property = property
        let type = names.row(of: section, in: resource)
        self.type = type
        var properties = PropertyNames(language)
        fields = section.fields.map { field in
            TypedField(
                field, property: properties.property(for: field.name),
                type: TypedType(field.kind) {
                    names.members(of: field.name, in: type, resource: resource)
                } record: {
                    names.resources[$0]?.record
                })
        }
    }

    var name: String { described.name }
    var isList: Bool { described.kind == .list }
}

/// A field with its name in a language.
struct TypedField {
    let described: DescribedField
    let property: String
    let type: TypedType

    init(_ field: DescribedField, property: String, type: TypedType) {
        described = field
        self.property = property
        self.type = type
    }

    var name: String { described.name }
    var isWritable: Bool { described.use == .write }
    /// True if a new row may have the field.
    var isSettable: Bool { described.use != .read }
    /// The database fills a read-only field, so it has no value before the gateway has answered the creation.
    var isOptional: Bool { described.isNullable || described.use == .read }
}

/// The type of a field's values, with the names of types of the file.
enum TypedType {
    case plain(FieldKind)
    /// A separate type with these members.
    case member(type: String, members: [String])
    /// Several members of a separate type.
    case members(type: String, members: [String])
    /// An id of a record of a type of the file.
    case reference(record: String)

    fileprivate init(_ kind: FieldKind, name: () -> String, record: (String) -> String?) {
        switch kind {
        case .member(let members) where !members.isEmpty: self = .member(type: name(), members: members)
        case .members(let members?) where !members.isEmpty: self = .members(type: name(), members: members)
        case .reference(let resource): self = record(resource).map { .reference(record: $0) } ?? .plain(kind)
        default: self = .plain(kind)
        }
    }
}
