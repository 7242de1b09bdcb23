package import MergeCore

/// Pages of changes and lines of snapshots as JSON.
package enum ChangesEncoder {
    /// Returns the answer of `GET /v1/changes`, or the data of an event.
    package static func encode(_ page: ChangesText) -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + page.changes.reduce(0) { $0 + $1.record.count + 128 })
        writer.object { members(page, &$0) }
        return writer.bytes
    }

    /// Returns the part of a change that is equal for all clients that may read the record: its id and the record.
    ///
    /// The record is null if it is gone, or if it cannot be read. In the second case a problem follows.
    package static func encode(_ record: ReadRecord?, under key: RecordKey, of resource: Resource) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { write(record, under: key, of: resource, to: &$0) }
        return writer.bytes
    }

    static func write(
        _ record: ReadRecord?, under key: RecordKey, of resource: Resource, to writer: inout JSONWriter
    ) {
        name(resource, key, to: &writer)
        writer.member("record")
        guard case .readable(let record)? = record else {
            writer.null()
            guard let problem = record?.problem else { return }
            writer.member("problem")
            return ProblemEncoder.write(problem, to: &writer)
        }
        RecordEncoder.write(record, of: resource, to: &writer)
    }

    static func members(_ page: ChangesText, _ writer: inout JSONWriter) {
        writer.member("feed")
        writer.string(page.feed)
        writer.member("revision")
        writer.integer(page.revision)
        if let hasMore = page.hasMore {
            writer.member("more")
            writer.flag(hasMore)
        }
        writer.member("rules")
        writer.string(page.rules)
        writer.member("changes")
        writer.array { writer in
            for change in page.changes { self.change(change, to: &writer) }
        }
    }

    private static func change(_ change: ChangeText, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("revision")
            writer.integer(change.revision)
            writer.members(change.record)
            writer.member("by")
            guard let author = change.author else { return writer.null() }
            writer.object { writer in
                writer.member("who")
                text(author.who, to: &writer)
                writer.member("device")
                text(author.device, to: &writer)
                writer.member("entry")
                writer.integer(author.entry)
            }
        }
    }

    static func name(_ resource: Resource, _ key: RecordKey, to writer: inout JSONWriter) {
        writer.member("resource")
        writer.string(resource.name)
        writer.member("id")
        if resource.root.keyCount > 0 { writer.key(key, resource.root) } else { writer.null() }
    }

    private static func text(_ text: String?, to writer: inout JSONWriter) {
        if let text { writer.string(text) } else { writer.null() }
    }
}
