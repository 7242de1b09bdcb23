import TestSupport

/// The resources as a client reads them at `/v1/rules`.
struct ResourceShape: Sendable {
    let name: String
    let sections: [SectionShape]

    var root: SectionShape { sections[0] }

    init(_ json: JSON) {
        name = json["resource"]?.text ?? ""
        sections = (json["sections"]?.array ?? []).map { SectionShape($0) }
    }
}

struct SectionShape: Sendable {
    let name: String
    let kind: String
    let key: [FieldShape]
    let groups: [GroupShape]
    let readOnly: [String]

    init(_ json: JSON) {
        name = json["section"]?.text ?? ""
        kind = json["kind"]?.text ?? ""
        key = (json["key"]?.array ?? []).map { FieldShape($0, name: "column") }
        groups = (json["groups"]?.array ?? []).map { GroupShape($0) }
        readOnly = (json["readOnly"]?.array ?? []).compactMap { $0["field"]?.text }
    }

    var isNumbered: Bool { key.contains(where: \.isGenerated) }
}

struct GroupShape: Sendable {
    let name: String
    /// The name of the function; for one with a parameter, the name of its member.
    let merge: String?
    let fields: [FieldShape]

    init(_ json: JSON) {
        name = json["group"]?.text ?? ""
        merge = json["merge"]?.text ?? json["merge"]?.object.keys.first
        fields = (json["fields"]?.array ?? []).map { FieldShape($0, name: "field") }
    }
}

struct FieldShape: Sendable {
    let name: String
    let type: String
    let isNullable: Bool
    let isGenerated: Bool
    let references: String?
    let scale: Int
    let members: [String]

    init(_ json: JSON, name: String) {
        self.name = json[name]?.text ?? ""
        type = json["type"]?.text ?? ""
        isNullable = json["nullable"]?.bool ?? false
        isGenerated = json["generated"]?.bool ?? false
        references = json["references"]?.text
        scale = json["scale"]?.int ?? 0
        members = (json["members"]?.array ?? []).compactMap(\.text)
    }
}
