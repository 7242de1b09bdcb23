package import MergeCore

/// The answer of `GET /v1/rules`.
package enum RulesEncoder {
    /// Returns the answer of `GET /v1/rules`.
    ///
    /// - Parameters:
    ///   - limits: bounds on what the body of a request may hold.
    ///   - page: records, or changes, on a page.
    package static func encode(_ catalog: Catalog, limits: WireLimits, page: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.object { writer in
            writer.member("version")
            writer.string(catalog.version)
            writer.member("limits")
            writer.object { writer in
                writer.member("body")
                writer.integer(limits.bodyBytes)
                writer.member("edits")
                writer.integer(limits.edits)
                writer.member("items")
                writer.integer(limits.items)
                writer.member("page")
                writer.integer(page)
            }
            writer.member("resources")
            writer.array { writer in
                for resource in catalog.resources { self.resource(resource, &writer) }
            }
        }
        return writer.bytes
    }

    private static func resource(_ resource: Resource, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("resource")
            writer.string(resource.name)
            if let description = resource.description {
                writer.member("description")
                writer.string(description)
            }
            writer.member("sections")
            writer.array { writer in
                for section in resource.sections { self.section(section, &writer) }
            }
        }
    }

    private static func section(_ section: Section, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("section")
            writer.string(section.name)
            writer.member("kind")
            writer.string(section.kind.rawValue)
            writer.member("key")
            writer.array { writer in
                for index in 0..<section.keyCount {
                    writer.object { writer in
                        writer.member("column")
                        writer.string(section.columns[index].name)
                        writer.member("type")
                        writer.string(section.columns[index].type.name)
                        writer.member("generated")
                        writer.flag(section.generatedKeyColumn == index)
                    }
                }
            }
            writer.member("onMissing")
            writer.string(section.onMissing.value.rawValue)
            writer.member("onDeleteConflict")
            writer.string(section.onDeleteConflict.value.rawValue)
            if let identity = section.identity?.value {
                writer.member("identity")
                writer.array { writer in
                    for column in identity { writer.string(clientName(of: column, section)) }
                }
            }
            if section.generatedKeyColumn != nil, section.allowsClientKeys {
                writer.member("clientKeys")
                writer.string("allow")
            }
            if section.softDelete != nil {
                writer.member("softDelete")
                writer.flag(true)
            }
            if !section.checks.isEmpty { checks(section, &writer) }
            writer.member("groups")
            writer.array { writer in
                for group in section.groups { self.group(group, in: section, to: &writer) }
            }
            writer.member("readOnly")
            writer.array { writer in
                for field in section.readOnly { self.field(field, in: section, to: &writer) }
            }
        }
    }

    /// The field that holds a column; a column that clients do not see keeps its name.
    private static func clientName(of column: Int, _ section: Section) -> String {
        section.fields.first { $0.column == column }?.name ?? section.columns[column].name
    }

    /// Names and fields; the SQL is the operator's own affair.
    private static func checks(_ section: Section, _ writer: inout JSONWriter) {
        writer.member("checks")
        writer.array { writer in
            for check in section.checks {
                writer.object { writer in
                    writer.member("check")
                    writer.string(check.name)
                    writer.member("fields")
                    writer.array { writer in
                        for field in check.fields { writer.string(section.fields[field].name) }
                    }
                    writer.member("onFailure")
                    writer.string(check.onFailure.rawValue)
                }
            }
        }
    }

    private static func merge(
        _ merge: MergeFunction, of group: Group, in section: Section, to writer: inout JSONWriter
    ) {
        writer.member("merge")
        switch merge {
        case .latest(let field):
            writer.object { writer in
                writer.member("latest")
                writer.string(section.fields[group.fields.lowerBound + field].name)
            }
        case .json(let key?):
            writer.object { writer in
                writer.member("json")
                writer.string(key.string)
            }
        default: writer.string(merge.name)
        }
    }

    private static func group(_ group: Group, in section: Section, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("group")
            writer.string(group.name)
            writer.member("onConflict")
            writer.string(group.onConflict.value.rawValue)
            if let merge = group.merge?.value { self.merge(merge, of: group, in: section, to: &writer) }
            writer.member("fields")
            writer.array { writer in
                for field in section.fields[group.fields] { self.field(field, in: section, to: &writer) }
            }
        }
    }

    private static func field(_ field: Field, in section: Section, to writer: inout JSONWriter) {
        let column = section.columns[field.column]
        writer.object { writer in
            writer.member("field")
            writer.string(field.name)
            writer.member("type")
            writer.string(column.type.name)
            writer.member("nullable")
            writer.flag(column.isNullable)
            limits(column.type, &writer)
            if let reference = field.reference {
                writer.member("references")
                writer.string(reference.resource)
            }
        }
    }

    /// Writes the limits by which a client checks a value before it sends it.
    private static func limits(_ type: ColumnType, _ writer: inout JSONWriter) {
        func number(_ name: String, _ value: Int?) {
            guard let value else { return }
            writer.name(name)
            writer.integer(value)
        }
        switch type {
        case .integer(let range):
            writer.member("minimum")
            writer.value(.integer(range.lowerBound), ValueStyle(type))
            writer.member("maximum")
            writer.value(.integer(range.upperBound), ValueStyle(type))
        case .decimal(let precision, let scale, _):
            number("precision", precision)
            number("scale", scale)
        case .numeric(let precision, let scale):
            number("precision", precision)
            number("scale", scale)
        case .text(let text), .delimitedSet(_, let text):
            number("maximumCharacters", text.maximumCharacters)
            number("maximumBytes", text.maximumBytes)
        case .enumeration(let members), .set(let members):
            writer.member("members")
            writer.array { writer in
                for member in members { writer.string(member.string) }
            }
        case .dateTime(let digits), .timestamp(let digits, _), .time(let digits): number("fraction", digits)
        case .binary(let length): number("maximumBytes", length)
        case .bytes(let maximum): number("maximumBytes", maximum)
        case .bit(let width): number("bits", width)
        case .json(let text): number("maximumBytes", text.maximumBytes)
        case .boolean, .year, .float, .double, .date, .uuid, .inet4, .inet6, .wellKnownText: break
        }
    }
}
