package import MergeCore

/// The lines of a snapshot (NDJSON), each with its line end.
package enum SnapshotText {
    /// Returns the first line, with the approximate number of records, if known.
    package static func head(
        feed: String, revision: Int, rules: String, resources: [String], records: Int?
    ) -> [UInt8] {
        line("snapshot") { writer in
            writer.object { writer in
                writer.member("feed")
                writer.string(feed)
                writer.member("revision")
                writer.integer(revision)
                writer.member("rules")
                writer.string(rules)
                writer.member("resources")
                writer.array { writer in
                    for name in resources { writer.string(name) }
                }
                writer.member("records")
                if let records { writer.integer(records) } else { writer.null() }
            }
        }
    }

    /// Returns the lines of some records of one resource.
    package static func records(_ records: [ReadRecord], of resource: Resource) -> [UInt8] {
        var writer = JSONWriter(capacity: 512 * records.count)
        for record in records {
            writer.object { ChangesEncoder.write(record, under: record.key, of: resource, to: &$0) }
            writer.endLine()
        }
        return writer.bytes
    }

    /// Returns the line of a record that the client no longer has to keep.
    package static func gone(_ key: RecordKey, of resource: Resource) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { ChangesEncoder.write(nil, under: key, of: resource, to: &$0) }
        writer.endLine()
        return writer.bytes
    }

    /// Returns the line of a cursor.
    package static func cursor(_ cursor: String) -> [UInt8] { line("cursor") { $0.string(cursor) } }

    /// Returns the last line.
    package static func end(records: Int) -> [UInt8] {
        line("end") { writer in
            writer.object { writer in
                writer.member("records")
                writer.integer(records)
            }
        }
    }

    private static func line(_ name: StaticString, _ value: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(name)
            value(&writer)
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
