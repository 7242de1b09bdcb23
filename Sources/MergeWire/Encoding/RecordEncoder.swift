package import MergeCore

/// Records as JSON.
package enum RecordEncoder {
    /// Returns the answer of `GET /v1/records/{resource}/{id}`.
    package static func encode(_ record: Record, _ resource: Resource) -> [UInt8] {
        var writer = JSONWriter()
        write(record, of: resource, to: &writer)
        return writer.bytes
    }

    /// Writes a record of a page, or the id and problem of an unreadable record.
    static func writeItem(_ record: ReadRecord, of resource: Resource, to writer: inout JSONWriter) {
        switch record {
        case .readable(let record): write(record, of: resource, to: &writer)
        case .unreadable(let record):
            writer.object { writer in
                writer.member("id")
                writer.key(record.key, resource.root)
                writer.member("problem")
                ProblemEncoder.write(UnreadableRecord.problem, to: &writer)
            }
        }
    }

    static func write(_ record: Record, of resource: Resource, to writer: inout JSONWriter) {
        writer.object { writer in
            if resource.root.keyCount > 0 {
                writer.member("id")
                writer.key(record.key, resource.root)
            }
            for (position, (section, rows)) in zip(resource.sections, record.sections).enumerated() {
                let rights = record.sight?.sections[position]
                if rights?.isGiven == false { continue }
                writer.name(section.name)
                switch rows {
                case .one(nil): writer.null()
                case .one(.some(let row)): write(row, of: section, rights, to: &writer)
                case .many(let rows):
                    writer.array { writer in
                        for row in rows { write(row, of: section, rights, to: &writer, withID: true) }
                    }
                }
            }
        }
    }

    /// Writes the fields of a row that the client may read, with the read-only fields last.
    static func write(
        _ row: [Value], of section: Section, _ rights: SectionRights? = nil, to writer: inout JSONWriter,
        withID: Bool = false
    ) {
        writer.object { writer in
            if withID, section.keyCount > 0 {
                writer.member("id")
                writer.key(section.key(of: row), section)
            }
            for (position, field) in section.shown.enumerated() where rights?.fields[position] != false {
                writer.field(field)
                writer.value(row[field.column], section.columns[field.column].style)
            }
        }
    }
}
