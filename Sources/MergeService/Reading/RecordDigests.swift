package import MergeCore
package import RecordStore

/// Collects the digests of the rows of records while these are read.
package final class RecordDigests {
    /// The digests of one record.
    package struct Sections: Sendable, Hashable {
        /// The rows of one section.
        package struct Rows: Sendable, Hashable {
            /// What ties them to the record, packed.
            package let link: [UInt8]
            /// The sum of the rows' digests.
            package var digest: UInt64
        }

        /// Parallel to the resource's sections; nil for one of which nothing can be said, because the record is gone or
        /// nothing ties rows to it.
        package var sections: [Rows?]
    }

    /// The key under which rows are hashed.
    package let key: SipHash.Key
    private var found: [Name: Sections] = [:]

    private struct Name: Hashable {
        let resource: ObjectIdentifier
        let key: RecordKey
    }

    /// Begins without records.
    package init(key: SipHash.Key) {
        self.key = key
    }

    /// Returns the digests of a record that was asked for; those of one that is gone say that it has no row.
    package func sections(of key: RecordKey, in resource: Resource) -> Sections {
        if let known = found[Name(resource: ObjectIdentifier(resource), key: key)] { return known }
        var sections = [Sections.Rows?](repeating: nil, count: resource.sections.count)
        if let link = PackedValues.bytes(key.parts, of: resource.root.columns) {
            sections[0] = Sections.Rows(link: link, digest: 0)
        }
        return Sections(sections: sections)
    }

    /// Takes the digest off a row that was read with it.
    static func take(from row: inout [Value]) -> UInt64 {
        guard case .integer(let digest)? = row.popLast() else { return 0 }
        return UInt64(truncatingIfNeeded: digest)
    }

    /// Notes a root row.
    func note(root row: [Value], digest: UInt64, in resource: Resource) {
        let root = resource.root
        var sections: [Sections.Rows?] = []
        sections.reserveCapacity(resource.sections.count)
        for section in resource.sections {
            let isRoot = section.kind == .root
            let packed =
                isRoot
                ? Self.packed(0..<root.keyCount, of: row, root)
                : Self.packed(section.parent.lazy.map(\.rootColumn), of: row, root)
            sections.append(packed.map { Sections.Rows(link: $0, digest: isRoot ? digest : 0) })
        }
        found[name(row, resource)] = Sections(sections: sections)
    }

    /// Writes some columns of a row down, straight from the row; nil where one is NULL, or of a kind that no key has.
    private static func packed(_ positions: some Sequence<Int>, of row: [Value], _ root: Section) -> [UInt8]? {
        var out: [UInt8] = []
        for position in positions {
            guard row[position] != .null, PackedValues.append(row[position], of: root.columns[position], to: &out)
            else {
                return nil
            }
        }
        return out
    }

    /// Notes a row of another section of a record whose root row was noted.
    func note(_ row: [Value], digest: UInt64, of section: Int, root: [Value], in resource: Resource) {
        let columns = resource.sections[section].parent.map(\.column)
        let name = name(root, resource)
        // Rows that only a collation ties to the record are not looked for by what ties them.
        guard let rows = found[name]?.sections[section],
            PackedValues.bytes(columns.map { row[$0] }, of: columns.map { resource.sections[section].columns[$0] })
                == rows.link
        else { return }
        found[name]?.sections[section]?.digest = rows.digest &+ digest
    }

    private func name(_ root: [Value], _ resource: Resource) -> Name {
        Name(resource: ObjectIdentifier(resource), key: resource.root.key(of: root))
    }
}
