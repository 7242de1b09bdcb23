package import MergeCore
package import RecordStore

/// Collects the digests of the rows of records while these are read.
package final class RecordDigests {
    /// The digests of one record.
    package struct Sections: Sendable, Hashable {
        /// The rows of one section.
        package struct Rows: Sendable, Hashable {
            /// The hash of what ties them to the record.
            package let link: UInt64
            /// The sum of the rows' digests.
            package var digest: UInt64

            /// Describes the rows of one section.
            package init(link: UInt64, digest: UInt64) {
                self.link = link
                self.digest = digest
            }
        }

        /// Parallel to the resource's sections; nil for one of which nothing can be said, because the record is gone or
        /// nothing ties rows to it.
        package var sections: [Rows?]
        /// What conditions of access look at in the record, as a `ConditionTuple` has it; nil where they look at nothing,
        /// or the record is gone.
        package let conditions: [UInt8]?

        /// Describes a record by its sections.
        package init(sections: [Rows?], conditions: [UInt8]? = nil) {
            self.sections = sections
            self.conditions = conditions
        }
    }

    /// The key under which rows are hashed, and what ties them to records.
    package let key: SipHash.Key
    /// The records whose root rows were noted, in that order.
    private var found: [(name: Name, sections: Sections)] = []
    /// The position of the one that is probably asked for next.
    private var next = 0
    /// The position of the first of those that were noted last, one after the other.
    private var first = 0
    private var isNoting = false
    /// The positions by name of the first of them, so many as it says, which are all looked up once one is asked for out
    /// of turn.
    private var places: [Name: Int] = [:]
    private var placed = 0
    private var packed: [UInt8] = []

    private struct Name: Hashable {
        let resource: ObjectIdentifier
        let key: RecordKey
    }

    /// Begins without records.
    package init(key: SipHash.Key) {
        self.key = key
    }

    /// The records that were noted.
    var count: Int { found.count }

    /// Forgets the records that were noted last, because they are read once more.
    ///
    /// - Parameter count: the number of records that stay; nil forgets none.
    func forget(from count: Int?) {
        guard let count, count < found.count else { return }
        found.removeLast(found.count - count)
        (next, first, isNoting) = (0, 0, false)
        (places, placed) = ([:], 0)
    }

    /// Notes a record of which nothing can be said.
    func noteUnknown(_ key: RecordKey, in resource: Resource) {
        let name = Name(resource: ObjectIdentifier(resource), key: key)
        if found.last?.name == name { found.removeLast() }
        isNoting = false
        found.append((name, Sections(sections: [Sections.Rows?](repeating: nil, count: resource.sections.count))))
    }

    /// Returns the digests of a record that was asked for; those of one that is gone say that it has no row.
    package func sections(of key: RecordKey, in resource: Resource) -> Sections {
        if let place = place(of: Name(resource: ObjectIdentifier(resource), key: key)) { return found[place].sections }
        var sections = [Sections.Rows?](repeating: nil, count: resource.sections.count)
        if let link = link(0..<resource.root.keyCount, of: key.parts, resource.root) {
            sections[0] = Sections.Rows(link: link, digest: 0)
        }
        return Sections(sections: sections)
    }

    /// The position of a record.
    ///
    /// Mostly they are asked for in the order in which they were noted, each once or more.
    private func place(of name: Name) -> Int? {
        isNoting = false
        for place in [next, next + 1, first] where place < found.count && found[place].name == name {
            next = place
            return place
        }
        while placed < found.count {
            // What was noted last counts.
            places[found[placed].name] = placed
            placed += 1
        }
        guard let place = places[name] else { return nil }
        next = place
        return place
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
            let link =
                isRoot
                ? link(0..<root.keyCount, of: row, root)
                : link(of: section, to: row)
            sections.append(link.map { Sections.Rows(link: $0, digest: isRoot ? digest : 0) })
        }
        let name = name(row, resource)
        // The last of a piece of a page is the first of the next, and is read once more.
        if found.last?.name == name { found.removeLast() }
        if !isNoting { first = found.count }
        isNoting = true
        let conditions = ConditionTuple(row, of: resource)?.bytes
        found.append((name, Sections(sections: sections, conditions: conditions)))
    }

    /// The hash of some columns of a row, straight from the row; nil where one is NULL, or of a kind that no key has.
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

    /// The hash of what ties rows of a section to a root row, as a row of the section contains it.
    private func link(of section: Section, to root: [Value]) -> UInt64? {
        var row = [Value](repeating: .null, count: section.columns.count)
        for link in section.parent { row[link.column] = root[link.rootColumn] }
        return link(section.parent.lazy.map(\.column), of: row, section)
    }

    /// Notes a row of another section of a record whose root row was noted.
    func note(_ row: [Value], digest: UInt64, of section: Int, root: [Value], in resource: Resource) {
        guard let place = place(of: name(root, resource)), let rows = found[place].sections.sections[section],
            link(resource.sections[section].parent.lazy.map(\.column), of: row, resource.sections[section])
                == rows.link
        else { return }
        found[place].sections.sections[section]?.digest = rows.digest &+ digest
    }

    private func name(_ root: [Value], _ resource: Resource) -> Name {
        Name(resource: ObjectIdentifier(resource), key: resource.root.key(of: root))
    }
}
