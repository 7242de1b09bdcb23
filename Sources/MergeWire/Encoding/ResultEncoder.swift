package import MergeCore

/// Results of pushes as JSON.
package enum ResultEncoder {
    /// Returns the answer of `POST /v1/push`.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes after which no more results are written. A longer answer is incomplete.
    ///   - goesOn: Runs before each result. After it returns false, the answer is incomplete.
    package static func push(
        _ result: PushResult, limit: Int = .max, goesOn: () -> Bool = { true }
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024 * (result.results.count + 1))
        writer.object { writer in
            head(result, to: &writer)
            writer.member("results")
            writer.array { writer in
                for edit in result.results where writer.bytes.count <= limit && goesOn() {
                    writer.object { members(edit, to: &$0) }
                }
            }
            if let problem = result.problem {
                writer.member("problem")
                ProblemEncoder.write(problem, to: &writer)
            }
        }
        return writer.bytes
    }

    /// Returns the answer of `POST /v1/merge/{resource}`: the only result, with the members of the push.
    package static func merge(_ result: PushResult) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
            writer.member("key")
            key(result, to: &writer)
            writer.member("revision")
            writer.null()
            honesty(result, to: &writer)
            if let edit = result.results.first { members(edit, to: &writer) }
        }
        return writer.bytes
    }

    private static func head(_ result: PushResult, to writer: inout JSONWriter) {
        writer.member("key")
        key(result, to: &writer)
        writer.member("status")
        writer.string(result.status.rawValue)
        // Revisions are assigned after the commit, so the answer contains none.
        writer.member("revision")
        writer.null()
        honesty(result, to: &writer)
    }

    /// Writes `atomic` only if it is false: if a table without transactions took part.
    private static func honesty(_ result: PushResult, to writer: inout JSONWriter) {
        if result.isAtomic { return }
        writer.member("atomic")
        writer.flag(false)
    }

    private static func key(_ result: PushResult, to writer: inout JSONWriter) {
        if let key = result.key { writer.string(key) } else { writer.null() }
    }

    private static func members(_ edit: EditResult, to writer: inout JSONWriter) {
        let resource = edit.resource
        writer.member("resource")
        writer.string(resource.name)
        writer.member("id")
        if let id = edit.id { writer.label(id, resource.root) } else { writer.null() }
        writer.member("status")
        writer.string(edit.status.rawValue)
        writer.member("record")
        if let record = edit.record { RecordEncoder.write(record, of: resource, to: &writer) } else { writer.null() }
        if let ids = edit.ids { self.ids(ids, of: resource, to: &writer) }
        writer.member("outcomes")
        writer.array { writer in
            for outcome in edit.outcomes { self.outcome(outcome, of: resource, seenBy: edit.access.sight, to: &writer) }
        }
        if let problem = edit.problem {
            writer.member("problem")
            ProblemEncoder.write(problem, to: &writer)
        }
    }

    static func ids(_ ids: [IDMapping], of resource: Resource, to writer: inout JSONWriter) {
        writer.member("ids")
        writer.object { writer in
            for mapping in ids {
                writer.name(mapping.temporary.text)
                writer.key(mapping.key, resource.sections[mapping.section])
            }
        }
    }

    /// Writes the location of an outcome, its name and its rule.
    static func heading(_ outcome: Outcome, in section: Section, to writer: inout JSONWriter) {
        place(outcome, in: section, to: &writer)
        writer.member("outcome")
        writer.string(outcome.kind.rawValue)
        writer.member("rule")
        writer.string(outcome.rule.text)
    }

    /// Writes the location of an outcome.
    static func place(_ outcome: Outcome, in section: Section, to writer: inout JSONWriter) {
        writer.member("section")
        writer.string(section.name)
        if let item = outcome.item {
            writer.member("id")
            writer.label(item, section)
        }
        if let group = outcome.group {
            writer.member("group")
            writer.string(section.groups[group].name)
        }
    }

    private static func outcome(
        _ outcome: Outcome, of resource: Resource, seenBy sight: RecordSight?, to writer: inout JSONWriter
    ) {
        let section = resource.sections[outcome.section]
        let rights = sight?.sections[outcome.section]
        writer.object { writer in
            heading(outcome, in: section, to: &writer)
            if let conflict = outcome.conflict {
                writer.member("conflict")
                writer.flag(true)
                sides(conflict, to: &writer) { side($0, in: section, rights, group: outcome.group, to: &$1) }
                if !outcome.parts.isEmpty { parts(outcome.parts, &writer) }
                if let fallback = outcome.fallback {
                    writer.member("fallback")
                    writer.string(fallback)
                }
                if let told = outcome.authorship { author(told.author, to: &writer) }
            } else if let row = outcome.deletedRow {
                writer.member("current")
                RecordEncoder.write(row, of: section, rights, to: &writer)
            }
            if !outcome.cascades.isEmpty { cascades(outcome.cascades, to: &writer) }
        }
    }

    private static func author(_ author: Authorship.Author?, to writer: inout JSONWriter) {
        writer.member("by")
        guard let author else { return writer.null() }
        writer.object { writer in
            writer.member("who")
            if let who = author.who { writer.string(who) } else { writer.null() }
            writer.member("device")
            if let device = author.device { writer.string(device) } else { writer.null() }
            writer.member("at")
            writer.string(author.at.text(separator: "T", fraction: 6) + "Z")
            writer.member("entry")
            writer.integer(author.entry)
        }
    }

    /// Writes the sides under their names in the protocol.
    static func sides(_ sides: Sides, to writer: inout JSONWriter, write: (Shown, inout JSONWriter) -> Void) {
        if case .digest(let digest) = sides.base {
            writer.member("oldHash")
            writer.string("sha256:" + hex(digest))
        } else {
            writer.member("old")
            write(sides.base, &writer)
        }
        writer.member("current")
        write(sides.current, &writer)
        writer.member("new")
        write(sides.edited, &writer)
        writer.member("written")
        write(sides.written, &writer)
    }

    /// Writes the parts that both sides changed, without the sides that lack the part.
    static func parts(_ parts: [MergedPart], _ writer: inout JSONWriter) {
        writer.member("parts")
        writer.array { writer in
            for part in parts {
                writer.object { writer in
                    switch part.place {
                    case .line(let line):
                        writer.member("line")
                        writer.integer(line)
                    case .member(let pointer):
                        writer.member("path")
                        writer.string(pointer)
                    }
                    writer.member("outcome")
                    writer.string((part.winner == .client ? OutcomeKind.clientWon : .serverWon).rawValue)
                    let sides = [
                        ("old", part.base), ("current", part.current), ("new", part.edited), ("written", part.written),
                    ]
                    for (name, value) in sides {
                        guard let value else { continue }
                        writer.name(name)
                        writer.raw(value.text)
                    }
                }
            }
        }
    }

    private static func cascades(_ cascades: [Cascade], to writer: inout JSONWriter) {
        writer.member("cascades")
        writer.array { writer in
            for cascade in cascades {
                writer.object { writer in
                    writer.member("table")
                    writer.string(cascade.table.description)
                    writer.member("effect")
                    writer.string(cascade.effect.rawValue)
                    writer.member("rows")
                    writer.array { writer in
                        for row in cascade.rows {
                            writer.object { writer in
                                for (column, value) in zip(cascade.columns, row).prefix(cascade.nameCount) {
                                    writer.name(column.name)
                                    writer.value(value, column.style)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    static func side(
        _ side: Shown, in section: Section, _ rights: SectionRights? = nil, group: Int?, to writer: inout JSONWriter
    ) {
        switch side {
        case .null, .digest: writer.null()
        case .group(let values):
            guard let group else { return writer.null() }
            let fields = section.groups[group].fields
            if fields.count == 1, let field = fields.first, let value = values.first {
                writer.value(value, section.style(ofField: field))
            } else {
                self.fields(section.groups[group].positions, values: values, in: section, to: &writer)
            }
        case .fields(let positions, let values): fields(positions, values: values, in: section, to: &writer)
        case .row(let row): RecordEncoder.write(row, of: section, rights, to: &writer)
        }
    }

    private static func fields(
        _ positions: [Int], values: [Value], in section: Section, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            for (position, value) in zip(positions, values) {
                let field = section.fields[position]
                writer.field(field)
                writer.value(value, section.columns[field.column].style)
            }
        }
    }

    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
