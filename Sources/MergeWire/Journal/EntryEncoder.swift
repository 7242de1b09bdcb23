internal import Crypto
package import MergeCore

/// Writes the effects of an edit as a journal entry.
package struct EntryEncoder: Sendable {
    /// The key of the digests of private values, without which they reveal nothing.
    private let secret: [UInt8]

    /// Creates an encoder with the journal's own random key.
    package init(secret: [UInt8]) {
        self.secret = secret
    }

    /// Returns the entry of an edit.
    ///
    /// - Parameters:
    ///   - catalog: All resources. Another resource may declare private columns of the same table.
    ///   - request: The id of the request; nil if no HTTP request sent the push.
    package func encode(_ edit: EditResult, _ catalog: Catalog, request: String?) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.member("id")
            if let id = edit.id { writer.label(id, edit.resource.root) } else { writer.null() }
            if let ids = edit.ids, !ids.isEmpty { ResultEncoder.ids(ids, of: edit.resource, to: &writer) }
            if let request {
                writer.member("request")
                writer.string(request)
            }
            if !edit.access.conditions.isEmpty {
                // The conditions decide which clients may read the entry's values, and are never shown.
                writer.member("conditions")
                writer.array { writer in
                    for tuple in edit.access.conditions { writer.string(String(decoding: tuple.bytes, as: UTF8.self)) }
                }
            }
            // A merged edit has a problem if its record cannot be read afterwards.
            if edit.status != .merged, var problem = edit.problem {
                problem.rule = problem.rule ?? problem.check
                writer.member("problem")
                ProblemEncoder.write(problem, to: &writer)
            }
            writer.member("outcomes")
            writer.array { writer in
                for outcome in edit.outcomes where outcome.kind != .already && outcome.kind != .unchanged {
                    self.outcome(outcome, in: edit.resource.sections[outcome.section], catalog: catalog, to: &writer)
                }
            }
        }
        return writer.bytes
    }

    /// Returns the entry of a push without edited records.
    package static func bare(request: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            writer.member("request")
            writer.string(request)
        }
        return writer.bytes
    }

    private func outcome(
        _ outcome: Outcome, in section: Section, catalog: Catalog, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            ResultEncoder.heading(outcome, in: section, to: &writer)
            if outcome.isConflict {
                writer.member("conflict")
                writer.flag(true)
            }
            if let sides = outcome.sides {
                ResultEncoder.sides(sides, to: &writer) { side($0, in: section, group: outcome.group, to: &$1) }
            } else if let row = outcome.deletedRow {
                writer.member("current")
                self.side(.row(row), in: section, group: nil, to: &writer)
            }
            let secrets = outcome.wholeRow == nil ? [] : catalog.privateColumns(of: section.table)
            let hidden = privateFields(outcome, in: section, hiding: secrets)
            if !hidden.isEmpty {
                writer.member("private")
                writer.array { writer in
                    for name in hidden { writer.string(name) }
                }
            } else if !outcome.parts.isEmpty {
                ResultEncoder.parts(outcome.parts, &writer)
            }
            if let fallback = outcome.fallback {
                writer.member("fallback")
                writer.string(fallback)
            }
            if !outcome.unlogged.isEmpty {
                writer.member("unlogged")
                writer.array { writer in
                    for name in outcome.unlogged { writer.string(name) }
                }
            }
            if let row = outcome.wholeRow { whole(row, hiding: secrets, to: &writer) }
            if !outcome.cascades.isEmpty { cascades(outcome.cascades, in: catalog, to: &writer) }
        }
    }

    /// Returns the private fields of the outcome, and private columns that are no fields of the section.
    private func privateFields(_ outcome: Outcome, in section: Section, hiding secrets: Set<String>) -> [String] {
        if secrets.isEmpty, !section.hasPrivateFields { return [] }
        let fields = outcome.group.map { section.fields[section.groups[$0].fields] } ?? section.fields[...]
        let hidden = fields.filter(\.isPrivate)
        let others = secrets.subtracting(hidden.map { section.columns[$0.column].name })
        return hidden.map(\.name) + others.sorted()
    }

    private func side(_ side: Shown, in section: Section, group: Int?, to writer: inout JSONWriter) {
        switch side {
        case .null, .digest: writer.null()
        case .group(let values):
            guard let group else { return writer.null() }
            let fields = section.groups[group].fields
            if fields.count == 1, let field = fields.first, let value = values.first {
                self.value(value, of: section.fields[field], in: section, to: &writer)
            } else {
                self.fields(fields, values: values, in: section, to: &writer)
            }
        case .fields(let positions, let values): fields(positions, values: values, in: section, to: &writer)
        case .row(let row):
            writer.object { writer in
                for field in section.shown {
                    writer.field(field)
                    value(row[field.column], of: field, in: section, to: &writer)
                }
            }
        }
    }

    private func fields(
        _ positions: some Sequence<Int>, values: [Value], in section: Section, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            for (position, value) in zip(positions, values) {
                let field = section.fields[position]
                writer.field(field)
                self.value(value, of: field, in: section, to: &writer)
            }
        }
    }

    private func value(_ value: Value, of field: Field, in section: Section, to writer: inout JSONWriter) {
        let style = section.columns[field.column].style
        guard field.isPrivate, value != .null else { return writer.value(value, style) }
        writer.string(digest(value, section.columns[field.column]))
    }

    /// Returns the digest that replaces a private value.
    package func digest(_ value: Value, _ column: Column) -> String {
        var plain = JSONWriter(capacity: 64)
        plain.value(value, column.style)
        let code = HMAC<SHA256>.authenticationCode(for: plain.bytes, using: SymmetricKey(data: secret))
        return "hmac-sha256:" + ResultEncoder.hex(Array(code))
    }

    private func whole(_ row: RawRow, hiding secrets: Set<String>, to writer: inout JSONWriter) {
        writer.member("row")
        writer.object { writer in
            for part in row.values where !secrets.contains(part.column.name) {
                writer.name(part.column.name)
                writer.value(part.value, part.column.style)
            }
        }
    }

    private func cascades(_ cascades: [Cascade], in catalog: Catalog, to writer: inout JSONWriter) {
        writer.member("cascades")
        writer.array { writer in
            for cascade in cascades {
                let secrets = catalog.privateColumns(of: cascade.table)
                // The naming columns are needed to find the rows again. Only deleted rows need more columns for their
                // restoration.
                let others = cascade.columns.indices.filter { column in
                    column >= cascade.nameCount && !cascade.links.contains(column)
                }
                let hidden =
                    cascade.effect == .delete ? others.filter { secrets.contains(cascade.columns[$0].name) } : []
                let omitted = Set(cascade.effect == .delete ? hidden : others)
                let told = cascade.columns.indices.filter { !omitted.contains($0) }
                writer.object { writer in
                    if let schema = cascade.table.schema {
                        writer.member("schema")
                        writer.string(schema)
                    }
                    writer.member("table")
                    writer.string(cascade.table.name)
                    writer.member("effect")
                    writer.string(cascade.effect.rawValue)
                    writer.member("named")
                    writer.integer(cascade.nameCount)
                    writer.member("links")
                    writer.array { writer in
                        for link in cascade.links { writer.string(cascade.columns[link].name) }
                    }
                    writer.member("columns")
                    writer.array { writer in
                        for column in told { writer.string(cascade.columns[column].name) }
                    }
                    if !hidden.isEmpty {
                        writer.member("private")
                        writer.array { writer in
                            for column in hidden { writer.string(cascade.columns[column].name) }
                        }
                    }
                    writer.member("rows")
                    writer.array { writer in
                        for row in cascade.rows {
                            writer.array { writer in
                                for column in told { writer.value(row[column], cascade.columns[column].style) }
                            }
                        }
                    }
                }
            }
        }
    }
}

extension Catalog {
    /// Returns the columns of a table that any resource declares as private.
    fileprivate func privateColumns(of table: TableName) -> Set<String> {
        var names: Set<String> = []
        for section in resources.flatMap(\.sections) where section.table == table {
            // A lookup is no column of the table.
            for field in section.fields + section.readOnly where field.isPrivate {
                let column = section.columns[field.column]
                if column.lookup == nil { names.insert(column.name) }
            }
        }
        return names
    }
}
