internal import Crypto
package import MergeCore

/// Writes down what an edit did, for the journal.
package struct EntryEncoder: Sendable {
    /// Makes the digests of private values useless to whoever has the journal alone.
    private let secret: [UInt8]

    /// - Parameter secret: the journal's own random key.
    package init(secret: [UInt8]) {
        self.secret = secret
    }

    /// - Parameter catalog: all the rules: a table that they serve may hold private columns that the edit's own resource
    ///   does not name.
    package func encode(_ edit: EditResult, _ catalog: Catalog) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.name("id")
            if let id = edit.id { writer.label(id, edit.resource.root) } else { writer.null() }
            if let ids = edit.ids, !ids.isEmpty { ResultEncoder.ids(ids, edit.resource, &writer) }
            writer.name("outcomes")
            writer.array { writer in
                for outcome in edit.outcomes where outcome.kind != .already && outcome.kind != .unchanged {
                    self.outcome(outcome, edit.resource.sections[outcome.section], catalog, &writer)
                }
            }
        }
        return writer.bytes
    }

    private func outcome(
        _ outcome: Outcome, _ section: Section, _ catalog: Catalog, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            ResultEncoder.heading(outcome, section, &writer)
            if outcome.isConflict {
                writer.name("conflict")
                writer.flag(true)
            }
            if let sides = outcome.sides {
                let all = [
                    ("old", sides.base), ("current", sides.current), ("new", sides.edited), ("written", sides.written),
                ]
                for (name, side) in all {
                    if case .digest(let digest) = side {
                        writer.name("oldHash")
                        writer.string("sha256:" + ResultEncoder.hex(digest))
                        continue
                    }
                    writer.name(name)
                    self.side(side, section, outcome.group, &writer)
                }
            } else if let row = outcome.deletedRow {
                writer.name("current")
                self.side(.row(row), section, nil, &writer)
            }
            let secrets = outcome.wholeRow == nil ? [] : catalog.privateColumns(of: section.table)
            let hidden = privateFields(outcome, section, secrets)
            if !hidden.isEmpty {
                writer.name("private")
                writer.array { writer in
                    for name in hidden { writer.string(name) }
                }
            } else if !outcome.parts.isEmpty {
                ResultEncoder.parts(outcome.parts, &writer)
            }
            if let fallback = outcome.fallback {
                writer.name("fallback")
                writer.string(fallback)
            }
            if let row = outcome.wholeRow { whole(row, secrets, &writer) }
            if !outcome.cascades.isEmpty { cascades(outcome.cascades, catalog, &writer) }
        }
    }

    /// Names of the private fields that the outcome speaks of, and of private columns that are no fields of the section.
    private func privateFields(_ outcome: Outcome, _ section: Section, _ secrets: Set<String>) -> [String] {
        let fields = outcome.group.map { section.fields[section.groups[$0].fields] } ?? section.fields[...]
        let hidden = fields.filter(\.isPrivate)
        let others = secrets.subtracting(hidden.map { section.columns[$0.column].name })
        return hidden.map(\.name) + others.sorted()
    }

    private func side(_ side: Shown, _ section: Section, _ group: Int?, _ writer: inout JSONWriter) {
        switch side {
        case .null, .digest: writer.null()
        case .group(let values):
            guard let group else { return writer.null() }
            let fields = section.groups[group].fields
            if fields.count == 1, let field = fields.first, let value = values.first {
                self.value(value, section.fields[field], section, &writer)
            } else {
                self.fields(zip(fields, values).map { (section.fields[$0], $1) }, section, &writer)
            }
        case .fields(let positions, let values):
            fields(zip(positions, values).map { (section.fields[$0], $1) }, section, &writer)
        case .row(let row):
            fields((section.fields + section.readOnly).map { ($0, row[$0.column]) }, section, &writer)
        }
    }

    private func fields(_ fields: [(Field, Value)], _ section: Section, _ writer: inout JSONWriter) {
        writer.object { writer in
            for (field, value) in fields {
                writer.name(field.name)
                self.value(value, field, section, &writer)
            }
        }
    }

    private func value(_ value: Value, _ field: Field, _ section: Section, _ writer: inout JSONWriter) {
        let type = section.columns[field.column].type
        guard field.isPrivate, value != .null else { return writer.value(value, type) }
        var plain = JSONWriter(capacity: 64)
        plain.value(value, type)
        writer.string(digest(plain.bytes))
    }

    private func digest(_ bytes: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: secret))
        return "hmac-sha256:" + ResultEncoder.hex(Array(code))
    }

    private func whole(_ row: RawRow, _ secrets: Set<String>, _ writer: inout JSONWriter) {
        writer.name("row")
        writer.object { writer in
            for part in row.values where !secrets.contains(part.column.name) {
                writer.name(part.column.name)
                writer.value(part.value, part.column.type)
            }
        }
    }

    private func cascades(_ cascades: [Cascade], _ catalog: Catalog, _ writer: inout JSONWriter) {
        writer.name("cascades")
        writer.array { writer in
            for cascade in cascades {
                let secrets = catalog.privateColumns(of: cascade.table)
                // What names the rows is needed to find them again.
                let hidden = cascade.columns.indices.filter { column in
                    column >= cascade.nameCount && !cascade.links.contains(column)
                        && secrets.contains(cascade.columns[column].name)
                }
                let told = cascade.columns.indices.filter { !hidden.contains($0) }
                writer.object { writer in
                    if let schema = cascade.table.schema {
                        writer.name("schema")
                        writer.string(schema)
                    }
                    writer.name("table")
                    writer.string(cascade.table.name)
                    writer.name("effect")
                    writer.string(cascade.effect.rawValue)
                    writer.name("named")
                    writer.integer(cascade.nameCount)
                    writer.name("links")
                    writer.array { writer in
                        for link in cascade.links { writer.string(cascade.columns[link].name) }
                    }
                    writer.name("columns")
                    writer.array { writer in
                        for column in told { writer.string(cascade.columns[column].name) }
                    }
                    if !hidden.isEmpty {
                        writer.name("private")
                        writer.array { writer in
                            for column in hidden { writer.string(cascade.columns[column].name) }
                        }
                    }
                    writer.name("rows")
                    writer.array { writer in
                        for row in cascade.rows {
                            writer.array { writer in
                                for column in told { writer.value(row[column], cascade.columns[column].type) }
                            }
                        }
                    }
                }
            }
        }
    }
}

extension Catalog {
    /// Columns of a table that any of the rules calls private.
    fileprivate func privateColumns(of table: TableName) -> Set<String> {
        var names: Set<String> = []
        for section in resources.flatMap(\.sections) where section.table == table {
            for field in section.fields + section.readOnly where field.isPrivate {
                names.insert(section.columns[field.column].name)
            }
        }
        return names
    }
}
