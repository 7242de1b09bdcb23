package import MergeCore
package import RecordStore

/// Collects the digests of rows while their records are read.
package final class RecordDigests {
    /// The digests of one record.
    package struct Sections: Sendable, Hashable {
        /// The rows of one section.
        package struct Rows: Sendable, Hashable {
            /// The hash of the columns that link them to the record.
            package let link: UInt64
            /// The sum of the rows' digests.
            package var digest: UInt64

            /// Creates the digest of a section's rows.
            package init(link: UInt64, digest: UInt64) {
                self.link = link
                self.digest = digest
            }
        }

        /// Parallel to the resource's sections; nil if the rows cannot be hashed, or nothing links rows to it.
        package var sections: [Rows?]
        /// The bytes of the record's `ConditionTuple`; nil if the record does not exist or no conditions test it.
        package let conditions: [UInt8]?

        /// Creates the digests of a record.
        package init(sections: [Rows?], conditions: [UInt8]? = nil) {
            self.sections = sections
            self.conditions = conditions
        }
    }

    /// The key of the hashes of rows and links.
    package let key: SipHash.Key
    /// The records whose root rows were read, in that order.
    private var found: [(name: Name, sections: Sections)] = []
    /// The position of the record that is probably requested next.
    private var next = 0
    /// The position of the first record since the last request.
    private var first = 0
    private var isNoting = false
    /// Positions by name of the first `placed` records, filled at the first request out of order.
    private var places: [Name: Int] = [:]
    private var placed = 0
    private var packed: [UInt8] = []

    private struct Name: Hashable {
        let resource: ObjectIdentifier
        let key: RecordKey
    }

    /// Creates an empty collection.
    package init(key: SipHash.Key) {
        self.key = key
    }

    var count: Int { found.count }

    /// Removes the last records, because they are read again.
    ///
    /// - Parameter count: the number of records that stay; nil removes none.
    func forget(from count: Int?) {
        guard let count, count < found.count else { return }
        found.removeLast(found.count - count)
        (next, first, isNoting) = (0, 0, false)
        (places, placed) = ([:], 0)
    }

    /// Adds a record of which only the root rows can be hashed.
    ///
    /// - Parameter rootDigest: the sum of the digests of all root rows with this key. It changes if one of two rows with the
    ///   same key is deleted.
    func noteUnknown(_ key: RecordKey, in resource: Resource, rootDigest: UInt64) {
        let name = Name(resource: ObjectIdentifier(resource), key: key)
        if found.last?.name == name { found.removeLast() }
        isNoting = false
        found.append((name, sections(of: key, in: resource, rootDigest: rootDigest)))
    }

    /// Returns the digests of a record; those of a missing record have no rows.
    package func sections(of key: RecordKey, in resource: Resource) -> Sections {
        if let place = place(of: Name(resource: ObjectIdentifier(resource), key: key)) { return found[place].sections }
        return sections(of: key, in: resource, rootDigest: 0)
    }

    private func sections(of key: RecordKey, in resource: Resource, rootDigest: UInt64) -> Sections {
        var sections = [Sections.Rows?](repeating: nil, count: resource.sections.count)
        if let link = link(0..<resource.root.keyCount, of: key.parts, resource.root) {
            sections[0] = Sections.Rows(link: link, digest: rootDigest)
        }
        return Sections(sections: sections)
    }

    /// Requests usually come in the order of the reads.
    private func place(of name: Name) -> Int? {
        isNoting = false
        for place in [next, next + 1, first] where place < found.count && found[place].name == name {
            next = place
            return place
        }
        while placed < found.count {
            // The last read of a record counts.
            places[found[placed].name] = placed
            placed += 1
        }
        guard let place = places[name] else { return nil }
        next = place
        return place
    }

    /// Removes and returns the digest at the end of a row.
    static func take(from row: inout [Value]) -> UInt64 {
        guard case .integer(let digest)? = row.popLast() else { return 0 }
        return UInt64(truncatingIfNeeded: digest)
    }

    func note(root row: [Value], digest: UInt64, in resource: Resource) {
        let root = resource.root
        var sections: [Sections.Rows?] = []
        sections.reserveCapacity(resource.sections.count)
        for section in resource.sections {
            let isRoot = section.kind == .root
            let link =
                isRoot
                ? link(0..<root.keyCount, of: row, root)
                : link(of: section, to: row)
            sections.append(link.map { Sections.Rows(link: $0, digest: isRoot ? digest : 0) })
        }
        let name = name(row, of: resource)
        // The last record of a piece is read again as the first of the next piece.
        if found.last?.name == name { found.removeLast() }
        if !isNoting { first = found.count }
        isNoting = true
        let conditions = ConditionTuple(row, of: resource)?.bytes
        found.append((name, Sections(sections: sections, conditions: conditions)))
    }

    /// Hashes some columns of a row; nil if one is NULL or cannot be part of a key.
    private func link(_ positions: some Sequence<Int>, of row: [Value], _ section: Section) -> UInt64? {
        packed.removeAll(keepingCapacity: true)
        for position in positions {
            guard row[position] != .null,
                PackedValues.append(row[position], of: section.columns[position], to: &packed)
            else {
                return nil
            }
        }
        return SipHash.hash(packed, key: key)
    }

    /// Hashes the columns that link rows of a section to a root row.
    private func link(of section: Section, to root: [Value]) -> UInt64? {
        var row = [Value](repeating: .null, count: section.columns.count)
        for link in section.parent { row[link.column] = root[link.rootColumn] }
        return link(section.parent.lazy.map(\.column), of: row, section)
    }

    /// Adds a row of another section to its record, whose root row was added before.
    func note(_ row: [Value], digest: UInt64, of section: Int, root: [Value], in resource: Resource) {
        guard let place = place(of: name(root, of: resource)), let rows = found[place].sections.sections[section],
            link(resource.sections[section].parent.lazy.map(\.column), of: row, resource.sections[section])
                == rows.link
        else { return }
        found[place].sections.sections[section]?.digest = rows.digest &+ digest
    }

    private func name(_ root: [Value], of resource: Resource) -> Name {
        Name(resource: ObjectIdentifier(resource), key: resource.root.key(of: root))
    }
}
