package import MergeCore

/// The answer of `GET /v1/rules`.
package enum RulesEncoder {
    /// Returns the rules that a viewer may read, or all rules without a viewer.
    package static func encode(_ catalog: Catalog, for viewer: Viewer? = nil, limits: WireLimits, page: Int) -> [UInt8]
    {
        var writer = JSONWriter(capacity: 4_096)
        let closed = Set(catalog.resources.filter { viewer?.view(of: $0)?.isClosed == true }.map(\.name))
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
                for resource in catalog.resources {
                    let view = viewer?.view(of: resource)
                    if !closed.contains(resource.name) {
                        self.resource(resource, view: view, closed: closed, to: &writer)
                    }
                }
            }
        }
        return writer.bytes
    }

    /// Writes a resource, without references to the resources in `closed`, which the client cannot read.
    private static func resource(
        _ resource: Resource, view: ResourceView?, closed: Set<String>, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("resource")
            writer.string(resource.name)
            if let description = resource.description {
                writer.member("description")
                writer.string(description)
            }
            if let view {
                writer.member("create")
                writer.flag(!view.creators(with: []).isEmpty)
                writer.member("delete")
                writer.flag(!view.deleters.isEmpty)
            }
            let sections = resource.sections.indices.filter { view?.widestSight.sections[$0].isGiven != false }
                .map { SectionSight(of: resource, at: $0, for: view, closed: closed) }
            writer.member("shape")
            writer.string(ResourceShape.digest(sections))
            writer.member("sections")
            writer.array { writer in
                for section in sections { self.section(section, to: &writer) }
            }
        }
    }

    private static func section(_ sight: SectionSight, to writer: inout JSONWriter) {
        let section = sight.section
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
                    for column in identity where !isHidden(column, sight: sight) {
                        writer.string(clientName(of: column, section))
                    }
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
            if section.frozenWhen != nil {
                writer.member("frozenWhen")
                writer.flag(true)
            }
            if !section.checks.isEmpty { checks(sight, to: &writer) }
            writer.member("groups")
            writer.array { writer in
                for (position, group) in section.groups.enumerated() where sight.shows(group) {
                    self.group(group, in: sight, at: position, to: &writer)
                }
            }
            writer.member("readOnly")
            writer.array { writer in
                for (position, field) in section.readOnly.enumerated() where sight.showsReadOnly(position) {
                    self.field(field, in: sight, to: &writer)
                }
            }
        }
    }

    /// Returns the field of a column, or the column's name if it has no field.
    private static func clientName(of column: Int, _ section: Section) -> String {
        section.fields.first { $0.column == column }?.name ?? section.columns[column].name
    }

    private static func isHidden(_ column: Int, sight: SectionSight) -> Bool {
        sight.section.fields.firstIndex { $0.column == column }.map { !sight.shows($0) } ?? false
    }

    /// Writes names and fields, without the operator's SQL.
    private static func checks(_ sight: SectionSight, to writer: inout JSONWriter) {
        let section = sight.section
        writer.member("checks")
        writer.array { writer in
            for check in section.checks where check.fields.allSatisfy(sight.shows) {
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
        value(of: merge, of: group, in: section, to: &writer)
    }

    /// Writes a merge function as rule files do.
    static func value(
        of merge: MergeFunction, of group: Group, in section: Section, to writer: inout JSONWriter
    ) {
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

    private static func group(
        _ group: Group, in sight: SectionSight, at position: Int, to writer: inout JSONWriter
    ) {
        let section = sight.section
        writer.object { writer in
            writer.member("group")
            writer.string(group.name)
            formerly(group.formerly, to: &writer)
            writer.member("onConflict")
            writer.string(group.onConflict.value.rawValue)
            if let merge = group.merge?.value { self.merge(merge, of: group, in: section, to: &writer) }
            if let steps = group.transitions?.value, let field = group.positions.first {
                transitions(steps, in: section.style(ofField: field), to: &writer)
            }
            if let writes = sight.writes(position) {
                writer.member("write")
                writer.flag(writes)
            }
            if sight.isInitial(position) {
                writer.member("create")
                writer.flag(true)
            }
            writer.member("fields")
            writer.array { writer in
                for field in section.fields[group.fields] { self.field(field, in: sight, to: &writer) }
            }
        }
    }

    /// Writes earlier names, so that a client can translate its edits and copies.
    private static func formerly(_ names: [String], to writer: inout JSONWriter) {
        guard !names.isEmpty else { return }
        writer.member("formerly")
        writer.array { writer in
            for name in names { writer.string(name) }
        }
    }

    /// Writes the allowed next values by value, which is a text or the JSON of another value.
    private static func transitions(
        _ steps: [Value: Set<Value>], in style: ValueStyle, to writer: inout JSONWriter
    ) {
        func text(_ value: Value) -> String {
            if case .text(let text) = value { return text.string }
            var writer = JSONWriter()
            writer.value(value, style)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        writer.member("transitions")
        writer.object { writer in
            for (from, followers) in steps.map({ (text($0), $1) }).sorted(by: { $0.0 < $1.0 }) {
                writer.name(from)
                writer.array { writer in
                    for value in followers.sorted(by: { text($0) < text($1) }) { writer.value(value, style) }
                }
            }
        }
    }

    private static func field(_ field: Field, in sight: SectionSight, to writer: inout JSONWriter) {
        let section = sight.section
        let column = section.columns[field.column]
        writer.object { writer in
            writer.member("field")
            writer.string(field.name)
            formerly(field.formerly, to: &writer)
            writer.member("type")
            writer.string(column.type.name)
            writer.member("nullable")
            writer.flag(column.isNullable)
            limits(column.type, &writer)
            if let reference = field.reference, !sight.closed.contains(reference.resource) {
                writer.member("references")
                writer.string(reference.resource)
            }
        }
    }

    /// Writes the limits with which a client checks a value before it sends it.
    static func limits(_ type: ColumnType, _ writer: inout JSONWriter) {
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
        case .numeric(let scale): number("scale", scale)
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
        case .boolean, .coded, .year, .float, .double, .date, .uuid, .inet4, .inet6, .wellKnownText: break
        }
    }
}
