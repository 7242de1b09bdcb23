/// Writes `Codable` structs for the client library for Swift.
struct SwiftTypes {
    func text(of resources: [TypedResource]) -> String {
        let types = resources.flatMap { resource in
            [constant(resource), record(resource)]
                + resource.sections.flatMap { section in
                    section.fields.compactMap { members($0.type) } + [row(section, of: resource)]
                }
        }
        let body = types.joined(separator: "\n\n")
        let needsFoundation = ["Data", "Decimal"].contains { body.containsWord($0) }
        let imports = (["FieldMergeClient"] + (needsFoundation ? ["Foundation"] : [])).map { "public import \($0)" }
        return """
            // Written by “fieldmerge types --language swift”. Do not edit.
            // swift-format-ignore-file
            \(imports.joined(separator: "\n"))

            \(body)

            """
    }

    private func constant(_ resource: TypedResource) -> String {
        """
        /// The resource “\(resource.name)”, for `store.of(\(resource.constant))`.
        public let \(resource.constant) = ResourceType<\(resource.record)>(\(literal(resource.name)))
        """
    }

    private func record(_ resource: TypedResource) -> String {
        let properties = resource.sections.map { section in
            "    public var \(identifier(section.property)): \(type(of: section))"
        }
        let parameters = resource.sections.map { section in
            switch section.described.kind {
            case .root: "\(section.property): \(section.type)"
            case .singleton: "\(section.property): \(section.type)? = nil"
            case .list: "\(section.property): [\(section.type)] = []"
            }
        }
        let isGenerated = resource.root?.described.isGenerated == true
        let identity = "id: TypedID<\(resource.record)>" + (isGenerated ? " = .temporary()" : "")
        let names = resource.sections.map(\.property)
        let writes = resource.sections.map { section in
            "        try edit.write(\(identifier(section.property)), to: \(literal(section.name)))"
        }
        return """
            /// \((resource.description ?? "A record of “\(resource.name)”.").inOneLine)
            public struct \(resource.record): TypedRecord {
                public let id: TypedID<\(resource.record)>
            \(properties.joined(separator: "\n"))

                public init(\(([identity] + parameters).joined(separator: ", "))) {
            \(assignments(["id"] + names))
                }

                public func write(to edit: inout RecordEdit) throws {
            \(writes.joined(separator: "\n"))
                }\(keys(resource.sections.map { ($0.property, $0.name) }))
            }
            """
    }

    private func row(_ section: TypedSection, of resource: TypedResource) -> String {
        var properties = section.fields.map { field in
            "    public \(field.isWritable ? "var" : "let") \(identifier(field.property)): \(type(of: field))"
        }
        var parameters = section.fields.filter(\.isSettable).map { field in
            "\(field.property): \(type(of: field))\(field.isOptional ? " = nil" : "")"
        }
        var names = section.fields.filter(\.isSettable).map(\.property)
        if section.isList {
            let isGiven = !section.described.isGenerated
            properties.insert("    public let id: TypedID<\(section.type)>?", at: 0)
            parameters.insert("id: TypedID<\(section.type)>" + (isGiven ? "" : "? = nil"), at: 0)
            names.insert("id", at: 0)
        }
        let unset = section.fields.filter { !$0.isSettable }.map { "        self.\($0.property) = nil" }
        let body = ([assignments(names)] + unset).filter { !$0.isEmpty }
        return """
            /// A row of “\(section.name.inOneLine)” of “\(resource.name)”.
            public struct \(section.type): TypedRow {
            \(properties.joined(separator: "\n"))

                public init(\(parameters.joined(separator: ", "))) {
            \(body.joined(separator: "\n"))
                }\(keys(section.fields.map { ($0.property, $0.name) }, hasID: section.isList))
            }
            """
    }

    /// A type that also reads members that the column gets later.
    private func members(_ type: TypedType) -> String? {
        switch type {
        case .member(let name, let members), .members(let name, let members):
            var names = PropertyNames(.swift)
            let constants = members.map { member in
                let property = names.property(for: member)
                return "    public static let \(identifier(property)) = Self(rawValue: \(literal(member)))"
            }
            return """
                public struct \(name): TypedMember {
                \(constants.joined(separator: "\n"))

                    public let rawValue: String
                    public init(rawValue: String) { self.rawValue = rawValue }
                }
                """
        case .plain, .reference: return nil
        }
    }

    private func keys(_ names: [(property: String, name: String)], hasID: Bool = true) -> String {
        guard names.contains(where: { $0.property != $0.name }) else { return "" }
        let cases = names.map { property, name in
            "        case \(identifier(property))" + (property == name ? "" : " = \(literal(name))")
        }
        return """


                enum CodingKeys: String, CodingKey {
            \(((hasID ? ["        case id"] : []) + cases).joined(separator: "\n"))
                }
            """
    }

    private func assignments(_ names: [String]) -> String {
        names.map { "        self.\($0) = \(identifier($0))" }.joined(separator: "\n")
    }

    private func type(of section: TypedSection) -> String {
        switch section.described.kind {
        case .root: section.type
        case .singleton: section.type + "?"
        case .list: "[\(section.type)]"
        }
    }

    private func type(of field: TypedField) -> String {
        let name =
            switch field.type {
            case .member(let type, _): type
            case .members(let type, _): "[\(type)]"
            case .reference(let record): "TypedID<\(record)>"
            case .plain(let kind): self.name(of: kind)
            }
        return name + (field.isOptional ? "?" : "")
    }

    private func name(of kind: FieldKind) -> String {
        switch kind {
        case .boolean: "Bool"
        case .integer(.unsigned): "UInt64"
        case .integer: "Int"
        case .number: "Double"
        // A `Decimal` has 38 digits.
        case .decimal(let digits): digits ?? 0 > 38 ? "String" : "Decimal"
        case .text, .member: "String"
        case .members: "[String]"
        case .date: "CalendarDate"
        case .dateTime: "LocalDateTime"
        case .timestamp: "Timestamp"
        case .time: "TimeSpan"
        case .binary: "Data"
        case .json, .reference: "JSONValue"
        }
    }

    private func identifier(_ name: String) -> String {
        ClientLanguage.swiftKeywords.contains(name) ? "`\(name)`" : name
    }

    private func literal(_ text: String) -> String { text.literal { "\\u{\(String($0.value, radix: 16))}" } }
}
