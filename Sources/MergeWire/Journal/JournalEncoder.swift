import MergeCore

/// Journal entries as JSON.
package enum JournalEncoder {
    /// Returns a page of entries, with the number after which the next page begins, if any.
    package static func page(_ entries: [ShownEntry], next: Int?) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
            writer.member("entries")
            writer.array { writer in
                for entry in entries { write(entry, &writer) }
            }
            writer.member("next")
            if let next { writer.string(String(next)) } else { writer.null() }
        }
        return writer.bytes
    }

    /// Returns the answer of `GET /v1/journal/{n}`.
    package static func one(_ entry: ShownEntry) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        write(entry, &writer, isWhole: true)
        return writer.bytes
    }

    private static func write(_ entry: ShownEntry, _ writer: inout JSONWriter, isWhole: Bool = false) {
        writer.object { writer in
            writer.member("number")
            writer.integer(entry.number)
            writer.member("at")
            writer.string(entry.at.text(separator: "T", fraction: 6) + "Z")
            text("who", entry.who, to: &writer)
            text("device", entry.device, to: &writer)
            text("key", entry.key, to: &writer)
            if let edit = entry.edit {
                text("resource", edit.resource, to: &writer)
                text("status", edit.status, to: &writer)
                text("rules", edit.rules, to: &writer)
                if edit.content.count > 2 { writer.members(edit.content) }
            }
            if let content = entry.bareEntry { writer.members(content) }
            if let refused = entry.refused {
                writer.member("refused")
                writer.object { writer in
                    text("address", refused.address, to: &writer)
                    text("reason", refused.reason, to: &writer)
                    text("replayed", refused.replayed, to: &writer)
                    if let dropped = refused.dropped {
                        writer.member("dropped")
                        writer.object { writer in
                            text("at", dropped.at, to: &writer)
                            text("by", dropped.by, to: &writer)
                        }
                    }
                    if isWhole {
                        writer.member("body")
                        writer.raw(String(decoding: refused.body, as: UTF8.self))
                    }
                }
            }
        }
    }

    private static func text(_ name: String, _ text: String?, to writer: inout JSONWriter) {
        writer.name(name)
        if let text { writer.string(text) } else { writer.null() }
    }
}
