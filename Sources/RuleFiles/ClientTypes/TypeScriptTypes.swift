/// Writes interfaces, which leave nothing in the program that is compiled.
struct TypeScriptTypes {
    let module: String

    func text(of resources: [TypedResource]) -> String {
        let types = resources.map { resource in
            ([record(resource)] + resource.sections.flatMap(rows)).joined(separator: "\n\n")
        }
        let body = types.joined(separator: "\n\n")
        let imports = [
            "Base64", "CalendarDate", "Decimal", "EditableList", "JSONValue", "LocalDateTime", "NewRow", "Timestamp",
            "TimeSpan",
            "TypedRecord",
        ].filter { body.containsWord($0) }
        let head = "import type { \(imports.joined(separator: ", ")) } from \(quoted(module));"
        return """
            // Written by “fieldmerge types --language typescript”. Do not edit.
            \(head)

            \(body)

            """
    }

    private func record(_ resource: TypedResource) -> String {
        var lines = ["/** \(comment(resource.description ?? "A record of “\(resource.name)”")) */"]
        lines.append("export interface \(resource.record) extends TypedRecord<\(quoted(resource.name))> {")
        if let root = resource.root { lines.append("  readonly id: \(id(root.described.key));") }
        for section in resource.sections {
            let name = member(section.name)
            switch section.described.kind {
            case .root: lines.append("  \(name): \(section.type);")
            case .singleton: lines.append("  \(name): \(section.type) | null;")
            case .list:
                let new = section.described.isGenerated ? "" : " & Pick<\(section.type), \"id\">"
                lines.append("  get \(name)(): EditableList<\(section.type), NewRow<\(section.type)>\(new)>;")
                lines.append("  set \(name)(items: readonly (\(section.type) | NewRow<\(section.type)>\(new))[]);")
            }
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private func rows(_ section: TypedSection) -> [String] {
        let types = section.fields.compactMap { field -> String? in
            switch field.type {
            case .member(let type, let members), .members(let type, let members):
                "export type \(type) = \(members.map(quoted).joined(separator: " | "));"
            case .plain, .reference: nil
            }
        }
        var lines = ["export interface \(section.type) {"]
        if section.isList { lines.append("  readonly id: \(id(section.described.key));") }
        lines += section.fields.map { field in
            let isRead = !field.isSettable
            let type = name(of: field.type) + (field.described.isNullable ? " | null" : "")
            return "  \(isRead ? "readonly " : "")\(member(field.name))\(isRead ? "?" : ""): \(type);"
        }
        return types + [(lines + ["}"]).joined(separator: "\n")]
    }

    private func name(of type: TypedType) -> String {
        switch type {
        case .member(let type, _): type
        case .members(let type, _): "\(type)[]"
        case .reference: "number | string"
        case .plain(let kind): name(of: kind)
        }
    }

    private func name(of kind: FieldKind) -> String {
        switch kind {
        case .boolean: "boolean"
        case .integer(.exact), .number: "number"
        case .integer, .reference: "number | string"
        case .decimal: "Decimal"
        case .text, .member: "string"
        case .members: "string[]"
        case .date: "CalendarDate"
        case .dateTime: "LocalDateTime"
        case .timestamp: "Timestamp"
        case .time: "TimeSpan"
        case .binary: "Base64"
        case .json: "JSONValue"
        }
    }

    /// A temporary id is a text, whatever the type of the key.
    private func id(_ key: [FieldKind]) -> String {
        guard key.count < 2 else { return "(number | string)[] | string" }
        return if case .integer? = key.first { "number | string" } else { "string" }
    }

    private func member(_ name: String) -> String {
        let isPlain = name.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case 0x24, 0x41...0x5A, 0x5F, 0x61...0x7A: true
            case 0x30...0x39: index > 0
            default: false
            }
        }
        return isPlain && !name.isEmpty ? name : quoted(name)
    }

    private func quoted(_ text: String) -> String { text.quotedAsJSON }

    private func comment(_ text: String) -> String { text.inOneLine.split(separator: "*/").joined(separator: "* /") }
}
