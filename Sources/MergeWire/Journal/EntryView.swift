import MergeCore

/// Journal entries in the form for readers.
///
/// The entry of a deletion contains whole rows, so that they can be restored. Columns that no rule names serve only
/// this purpose and are never shown.
package enum EntryView {
    /// Returns the JSON of an entry without the columns that no rule names.
    package static func shown(_ entry: [UInt8]) -> [UInt8] {
        // Most entries contain no deletion.
        guard has(entry, name: "\"row\":") || has(entry, name: "\"cascades\":") || has(entry, name: "\"conditions\":")
        else {
            return entry
        }
        let shown = JSONDocument.stored(entry) { root in
            var writer = JSONWriter(capacity: entry.count)
            self.entry(root, to: &writer)
            return writer.bytes
        }
        // An unreadable entry is not shown either.
        return shown ?? Array("{}".utf8)
    }

    private static func has(_ bytes: [UInt8], name: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return bytes.firstRange(of: wanted) != nil
    }

    private static func entry(_ root: JSONNode, to writer: inout JSONWriter) {
        members(of: root, leavingOut: "conditions", &writer) { name, value, writer in
            guard name == "outcomes", value.isArray else { return false }
            writer.array { writer in
                for outcome in value.elements { self.outcome(outcome, to: &writer) }
            }
            return true
        }
    }

    private static func outcome(_ node: JSONNode, to writer: inout JSONWriter) {
        members(of: node, leavingOut: "row", &writer) { name, value, writer in
            guard name == "cascades", value.isArray else { return false }
            writer.array { writer in
                for cascade in value.elements { self.cascade(cascade, to: &writer) }
            }
            return true
        }
    }

    /// Writes only the identifying columns of rows that the database changed along.
    private static func cascade(_ node: JSONNode, to writer: inout JSONWriter) {
        let named: Int = if case .integer(let count)? = node["named"]?.scalar { Int(clamping: count) } else { 0 }
        members(of: node, leavingOut: "links", &writer) { name, value, writer in
            switch name {
            case "columns": first(named, of: value, &writer)
            case "rows":
                writer.array { writer in
                    for row in value.elements { first(named, of: row, &writer) }
                }
            default: return false
            }
            return true
        }
    }

    private static func first(_ count: Int, of node: JSONNode, _ writer: inout JSONWriter) {
        writer.array { writer in
            for element in node.elements.prefix(count) { writer.raw(element.text) }
        }
    }

    /// Writes the members of an object, unchanged if `write` returns false.
    private static func members(
        of node: JSONNode, leavingOut hidden: String? = nil, _ writer: inout JSONWriter,
        write: (String, JSONNode, inout JSONWriter) -> Bool
    ) {
        writer.object { writer in
            for (name, value) in node.members where name.string != hidden {
                writer.name(name.string)
                if !write(name.string, value, &writer) { writer.raw(value.text) }
            }
        }
    }
}
