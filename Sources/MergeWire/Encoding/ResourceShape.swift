internal import Crypto
import MergeCore

/// The shape of a resource: a digest that shows a client if its stored records still have the right fields.
enum ResourceShape {
    /// Returns the digest of the names and types of sections, groups and fields.
    ///
    /// Policies, limits and lengths do not change it. Two clients that may read the same fields get the same digest.
    static func digest(_ sections: [SectionSight]) -> String {
        var hash = SHA256()
        for sight in sections {
            let section = sight.section
            add(["section", section.name, section.kind.rawValue], to: &hash)
            for column in section.columns.prefix(section.keyCount) { add(["key", column.type.name], to: &hash) }
            for group in section.groups where sight.shows(group) {
                add(["group", group.name], to: &hash)
                for position in group.fields { add(section.fields[position], of: section, to: &hash) }
            }
            for (position, field) in section.readOnly.enumerated() where sight.showsReadOnly(position) {
                add(["read-only"], to: &hash)
                add(field, of: section, to: &hash)
            }
        }
        return Hex.encode(Array(hash.finalize().prefix(8)))
    }

    private static func add(_ field: Field, of section: Section, to hash: inout SHA256) {
        add(["field", field.name, section.columns[field.column].type.name], to: &hash)
    }

    /// The length before each word makes different lists have different bytes.
    private static func add(_ words: [String], to hash: inout SHA256) {
        for word in words { hash.update(data: Array("\(word.utf8.count):\(word)".utf8)) }
    }
}
