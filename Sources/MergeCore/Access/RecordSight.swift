/// The parts of a record that a client may read.
package final class RecordSight: Sendable, Hashable {
    /// Parallel to the resource's `sections`; a section of which nothing is given is left out.
    package let sections: [SectionRights]

    init(_ sections: [SectionRights]) {
        self.sections = sections
    }

    /// Everything may be read.
    package var isAll: Bool { sections.allSatisfy(\.isAll) }

    /// Returns what both may read.
    package func intersection(_ other: RecordSight) -> RecordSight {
        self === other ? self : RecordSight(zip(sections, other.sections).map { $0.intersection($1) })
    }

    /// Returns true where every field of a group may be read.
    ///
    /// - Parameter section: the position of the section in the resource.
    package func reads(group: Group, in section: Int) -> Bool {
        let rights = sections[section]
        // The fields that are written come first among those that are shown.
        return rights.isGiven && group.fields.allSatisfy { rights.fields[$0] }
    }

    package static func == (a: RecordSight, b: RecordSight) -> Bool { a === b || a.sections == b.sections }

    package func hash(into hasher: inout Hasher) { hasher.combine(sections.count) }
}
