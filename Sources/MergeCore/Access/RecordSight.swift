/// The parts of a record that a client may read.
package final class RecordSight: Sendable, Hashable {
    /// The rights, parallel to the resource's `sections`.
    ///
    /// A record omits a section whose right is not given.
    package let sections: [SectionRights]

    init(_ sections: [SectionRights]) {
        self.sections = sections
    }

    /// True if the client may read everything.
    package var isAll: Bool { sections.allSatisfy(\.isAll) }

    /// Returns the parts that both values allow.
    package func intersection(_ other: RecordSight) -> RecordSight {
        self === other ? self : RecordSight(zip(sections, other.sections).map { $0.intersection($1) })
    }

    /// Returns true if the client may read every field of a group in the section at this position.
    package func reads(group: Group, in section: Int) -> Bool {
        let rights = sections[section]
        // Written fields come first in `shown`, so their positions are the same.
        return rights.isGiven && group.fields.allSatisfy { rights.fields[$0] }
    }

    package static func == (a: RecordSight, b: RecordSight) -> Bool { a === b || a.sections == b.sections }

    package func hash(into hasher: inout Hasher) { hasher.combine(sections.count) }
}
