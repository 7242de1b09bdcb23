package import MergeCore

/// Records as JSON.
package enum RecordEncoder {
    /// One record as `GET /v1/records/{resource}/{id}` answers it.
    package static func encode(_ record: Record, _ resource: Resource) -> [UInt8] {
        var writer = JSONWriter()
        write(record, of: resource, to: &writer)
        return writer.bytes
    }

    static func write(_ record: Record, of resource: Resource, to writer: inout JSONWriter) {
        writer.object { writer in
            if resource.root.keyCount > 0 {
                writer.member("id")
                writer.key(record.key, resource.root)
            }
            for (section, rows) in zip(resource.sections, record.sections) {
                writer.name(section.name)
                switch rows {
                case .one(nil): writer.null()
                case .one(.some(let row)): write(row, of: section, to: &writer)
                case .many(let rows):
                    writer.array { writer in
                        for row in rows { write(row, of: section, to: &writer, withID: true) }
                    }
                }
            }
        }
    }

    /// All fields of a row, those that are read-only last.
    static func write(_ row: [Value], of section: Section, to writer: inout JSONWriter, withID: Bool = false) {
        writer.object { writer in
            if withID, section.keyCount > 0 {
                writer.member("id")
                writer.key(section.key(of: row), section)
            }
            for field in section.shown {
                writer.field(field)
                writer.value(row[field.column], section.columns[field.column].style)
            }
        }
    }
}
