/// A kind of record; its first section is its root.
package struct ResourceRules: Sendable {
    /// The name that clients use.
    package let name: String
    /// The sections in order; at least one.
    package let sections: [SectionRules]
    /// A digest of the names and types of its fields; empty if the gateway sends none.
    package let shape: String

    init?(_ described: JSONValue) {
        guard let name = described["resource"].stringValue, let told = described["sections"].arrayValue else {
            return nil
        }
        self.name = name
        shape = described["shape"].stringValue ?? ""
        sections = told.compactMap(SectionRules.init)
        guard sections.count == told.count, !sections.isEmpty else { return nil }
    }

    /// The section of the record's own row.
    package var root: SectionRules { sections[0] }

    /// The section with this name; nil if there is none.
    package func section(named name: String) -> SectionRules? { sections.first { $0.name == name } }

    /// Returns a record under the present names of its fields.
    func renamed(_ record: JSONObject) -> JSONObject {
        var renamed = record
        for section in sections {
            switch record[section.name] {
            case .object(let row): renamed[section.name] = .object(section.renamed(row))
            case .array(let items):
                renamed[section.name] = .array(items.map { $0.objectValue.map { .object(section.renamed($0)) } ?? $0 })
            default: break
            }
        }
        return renamed
    }

    /// Returns a section.
    ///
    /// - Throws: `InvalidEdit` with the nearest name if there is none.
    package func section(_ name: String) throws(InvalidEdit) -> SectionRules {
        guard let section = section(named: name) else {
            throw InvalidEdit(unknown: name, among: sections.map(\.name), path: name)
        }
        return section
    }
}
