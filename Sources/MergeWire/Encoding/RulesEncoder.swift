package import MergeCore

/// The answer of `GET /v1/rules`.
package enum RulesEncoder {
    package static func encode(_ catalog: Catalog) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.object { writer in
            writer.name("version")
            writer.string(catalog.version)
            writer.name("resources")
            writer.array { writer in
                for resource in catalog.resources { self.resource(resource, &writer) }
            }
        }
        return writer.bytes
    }

    private static func resource(_ resource: Resource, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("resource")
            writer.string(resource.name)
            if let description = resource.description {
                writer.name("description")
                writer.string(description)
            }
            writer.name("sections")
            writer.array { writer in
                for section in resource.sections { self.section(section, &writer) }
            }
        }
    }

    private static func section(_ section: Section, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("section")
            writer.string(section.name)
            writer.name("kind")
            writer.string(section.kind.rawValue)
            writer.name("key")
            writer.array { writer in
                for index in 0..<section.keyCount {
                    writer.object { writer in
                        writer.name("column")
                        writer.string(section.columns[index].name)
                        writer.name("type")
                        writer.string(section.columns[index].type.name)
                        writer.name("generated")
                        writer.flag(section.generatedKeyColumn == index)
                    }
                }
            }
            writer.name("onMissing")
            writer.string(section.onMissing.value.rawValue)
            writer.name("onDeleteConflict")
            writer.string(section.onDeleteConflict.value.rawValue)
            if let identity = section.identity?.value {
                writer.name("identity")
                writer.array { writer in
                    for column in identity { writer.string(clientName(of: column, section)) }
                }
            }
            if section.softDelete != nil {
                writer.name("softDelete")
                writer.flag(true)
            }
            if !section.checks.isEmpty { checks(section, &writer) }
            writer.name("groups")
            writer.array { writer in
                for group in section.groups { self.group(group, section, &writer) }
            }
            writer.name("readOnly")
            writer.array { writer in
                for field in section.readOnly { self.field(field, section, &writer) }
            }
        }
    }

    /// The field that holds a column; a column that clients do not see keeps its name.
    private static func clientName(of column: Int, _ section: Section) -> String {
        section.fields.first { $0.column == column }?.name ?? section.columns[column].name
    }

    /// Names and fields; the SQL is the operator's own affair.
    private static func checks(_ section: Section, _ writer: inout JSONWriter) {
        writer.name("checks")
        writer.array { writer in
            for check in section.checks {
                writer.object { writer in
                    writer.name("check")
                    writer.string(check.name)
                    writer.name("fields")
                    writer.array { writer in
                        for field in check.fields { writer.string(section.fields[field].name) }
                    }
                    writer.name("onFailure")
                    writer.string(check.onFailure.rawValue)
                }
            }
        }
    }

    private static func merge(
        _ merge: MergeFunction, _ group: Group, _ section: Section, _ writer: inout JSONWriter
    ) {
        writer.name("merge")
        switch merge {
        case .latest(let field):
            writer.object { writer in
                writer.name("latest")
                writer.string(section.fields[group.fields.lowerBound + field].name)
            }
        case .json(let key?):
            writer.object { writer in
                writer.name("json")
                writer.string(key.string)
            }
        default: writer.string(merge.name)
        }
    }

    private static func group(_ group: Group, _ section: Section, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("group")
            writer.string(group.name)
            writer.name("onConflict")
            writer.string(group.onConflict.value.rawValue)
            if let merge = group.merge?.value { self.merge(merge, group, section, &writer) }
            writer.name("fields")
            writer.array { writer in
                for field in section.fields[group.fields] { self.field(field, section, &writer) }
            }
        }
    }

    private static func field(_ field: Field, _ section: Section, _ writer: inout JSONWriter) {
        let column = section.columns[field.column]
        writer.object { writer in
            writer.name("field")
            writer.string(field.name)
            writer.name("type")
            writer.string(column.type.name)
            writer.name("nullable")
            writer.flag(column.isNullable)
            limits(column.type, &writer)
            if let reference = field.reference {
                writer.name("references")
                writer.string(reference.resource)
            }
        }
    }

    /// What a client needs to check a value before it sends it.
    private static func limits(_ type: ColumnType, _ writer: inout JSONWriter) {
        func number(_ name: String, _ value: Int?) {
            guard let value else { return }
            writer.name(name)
            writer.integer(value)
        }
        switch type {
        case .integer(let range):
            writer.name("minimum")
            writer.value(.integer(range.lowerBound), type)
            writer.name("maximum")
            writer.value(.integer(range.upperBound), type)
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
            writer.name("members")
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
