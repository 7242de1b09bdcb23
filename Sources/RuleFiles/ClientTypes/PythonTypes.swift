/// Writes dataclasses for the client library for Python.
struct PythonTypes {
    func text(of resources: [TypedResource]) -> String {
        let types = resources.flatMap { resource in
            resource.sections.flatMap { section in
                section.fields.compactMap { members($0.type) } + [row(section, of: resource)]
            }
                + [record(resource)]
        }
        let body = types.joined(separator: "\n\n\n")
        func used(_ names: [String]) -> String { names.filter { body.containsWord($0) }.joined(separator: ", ") }
        let typing = used(["Any", "ClassVar", "Final", "Literal", "TypeAlias"])
        let own = used([
            "CalendarDate", "JSONValue", "LocalDateTime", "ResourceType", "TimeSpan", "Timestamp", "TypedRecord",
            "TypedRow",
            "from_base64",
        ])
        return """
            \"\"\"Written by “fieldmerge types --language python”. Do not edit.\"\"\"

            from __future__ import annotations

            from dataclasses import dataclass, field
            \(body.containsWord("Decimal") ? "from decimal import Decimal\n" : "")from typing import \(typing)

            from fieldmerge.typed import \(own)

            \(body)

            """
    }

    private func record(_ resource: TypedResource) -> String {
        let key = resource.root?.described
        let identity = "    id: Final[\(id(key?.key ?? []))]" + (key?.isGenerated == true ? " = None" : "")
        let properties = resource.sections.map { section in
            switch section.described.kind {
            case .root: "    \(section.property): \(section.type)"
            case .singleton: "    \(section.property): \(section.type) | None = None"
            case .list: "    \(section.property): list[\(section.type)] = field(default_factory=list)"
            }
        }
        let sections = resource.sections.map { section in
            "        \(literal(section.property)): (\(literal(section.name)), \(section.type), \(section.isList ? "True" : "False")),"
        }
        return """
            @dataclass(eq=False, repr=False, kw_only=True)
            class \(resource.record)(TypedRecord):
                \(documentation(resource.description ?? "A record of “\(resource.name)”."))

            \(identity)\(key?.isGenerated == true ? "" : "  # the database does not number these records")
            \(properties.joined(separator: "\n"))

                _sections: ClassVar[dict[str, tuple[str, type[TypedRow], bool]]] = {
            \(sections.joined(separator: "\n"))
                }


            \(resource.constant) = ResourceType(\(literal(resource.name)), \(resource.record))
            """
    }

    private func row(_ section: TypedSection, of resource: TypedResource) -> String {
        var properties = section.fields.map { field in
            let type = type(of: field)
            switch field.described.use {
            case .write: return "    \(field.property): \(type)\(field.isOptional ? " = None" : "")"
            case .create: return "    \(field.property): Final[\(type)]\(field.isOptional ? " = None" : "")"
            case .read: return "    \(field.property): Final[\(type)] = field(init=False, default=None)"
            }
        }
        if section.isList {
            let isGenerated = section.described.isGenerated
            properties.insert("    id: Final[\(id(section.described.key))]" + (isGenerated ? " = None" : ""), at: 0)
        }
        let fields = section.fields.map { field in
            "        \(literal(field.property)): (\(literal(field.name)), \(conversion(of: field.type)), \(use(of: field))),"
        }
        return """
            @dataclass(eq=False, repr=False, kw_only=True)
            class \(section.type)(TypedRow):
                \(documentation("A row of “\(section.name)” of “\(resource.name)”."))

            \(properties.joined(separator: "\n"))

                _fields: ClassVar[dict[str, tuple[str, Any, str]]] = {
            \(fields.joined(separator: "\n"))
                }
            """
    }

    private func members(_ type: TypedType) -> String? {
        switch type {
        case .member(let name, let members), .members(let name, let members):
            "\(name): TypeAlias = Literal[\(members.map(literal).joined(separator: ", "))]"
        case .plain, .reference: nil
        }
    }

    private func type(of field: TypedField) -> String {
        let name =
            switch field.type {
            case .member(let type, _): type
            case .members(let type, _): "list[\(type)]"
            case .reference: "int | str"
            case .plain(let kind): self.name(of: kind)
            }
        return name + (field.isOptional ? " | None" : "")
    }

    private func name(of kind: FieldKind) -> String {
        switch kind {
        case .boolean: "bool"
        case .integer: "int"
        case .number: "float"
        case .decimal: "Decimal"
        case .text, .member: "str"
        case .members: "list[str]"
        case .date: "CalendarDate"
        case .dateTime: "LocalDateTime"
        case .timestamp: "Timestamp"
        case .time: "TimeSpan"
        case .binary: "bytes"
        case .json: "JSONValue"
        case .reference: "int | str"
        }
    }

    /// The function from the JSON of a value that is not null to its type.
    private func conversion(of type: TypedType) -> String {
        guard case .plain(let kind) = type else { return "None" }
        return switch kind {
        case .integer, .decimal, .date, .dateTime, .timestamp, .time: name(of: kind)
        case .number: "float"
        case .binary: "from_base64"
        default: "None"
        }
    }

    private func use(of field: TypedField) -> String {
        switch field.described.use {
        case .write: "\"write\""
        case .create: "\"create\""
        case .read: "\"read\""
        }
    }

    /// A temporary id is a text, whatever the type of the key; a row without an id is new.
    private func id(_ key: [FieldKind]) -> String {
        guard key.count < 2 else { return "list[int | str] | str | None" }
        return if case .integer? = key.first { "int | str | None" } else { "str | None" }
    }

    private func documentation(_ text: String) -> String {
        let plain = text.inOneLine.replacing("\\", with: "\\\\").replacing("\"", with: "'")
        return "\"\"\"\(plain)\"\"\""
    }

    private func literal(_ text: String) -> String {
        text.literal { scalar in
            let digits = String(scalar.value, radix: 16)
            let zeros = String(repeating: "0", count: 8 - digits.count)
            return "\\U" + zeros + digits
        }
    }
}
