internal import Crypto
package import MergeCore

/// The canonical JSON of a group's values (RFC 8785) and its digest, for `oldHash`.
package enum CanonicalJSON {
    /// Returns the value of `old`: bare for a group of one field, else an object of all fields.
    package static func encode(_ section: Section, group: Int, values: [Value]) -> [UInt8] {
        let fields = section.groups[group].fields
        var writer = JSONWriter()
        if fields.count == 1, let first = fields.first, let value = values.first {
            write(value, in: section.style(ofField: first), to: &writer)
            return writer.bytes
        }
        // Members are sorted by the UTF-16 code units of their names.
        let order = zip(fields, values).sorted { a, b in
            section.fields[a.0].name.utf16.lexicographicallyPrecedes(section.fields[b.0].name.utf16)
        }
        writer.object { writer in
            for (field, value) in order {
                writer.name(section.fields[field].name)
                write(value, in: section.style(ofField: field), to: &writer)
            }
        }
        return writer.bytes
    }

    private static func write(_ value: Value, in style: ValueStyle, to writer: inout JSONWriter) {
        if case .json(let tree) = value { writer.raw(tree.canonicalText) } else { writer.value(value, style) }
    }

    /// Returns the SHA-256 of a group's canonical JSON.
    package static func digest(_ section: Section, group: Int, values: [Value]) -> [UInt8] {
        Array(SHA256.hash(data: encode(section, group: group, values: values)))
    }
}
