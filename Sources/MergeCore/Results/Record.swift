/// A record as read: the root row and the rows of its other sections.
package struct Record: Sendable, Hashable {
    /// The key of the root row.
    package let key: RecordKey
    /// Parallel to the resource's `sections`.
    package var sections: [SectionRows]
    /// The parts that a client may read; nil where it may read all.
    package var sight: RecordSight?

    /// Makes a record of its rows.
    package init(key: RecordKey, sections: [SectionRows]) {
        self.key = key
        self.sections = sections
    }
}
