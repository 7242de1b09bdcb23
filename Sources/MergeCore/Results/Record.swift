/// A record as read: the root row and the rows of its other sections.
package struct Record: Sendable, Hashable {
    /// The key of the root row.
    package let key: RecordKey
    /// The rows, parallel to the resource's `sections`.
    package var sections: [SectionRows]
    /// The parts that a client may read, or nil if it may read everything.
    package var sight: RecordSight?

    /// Creates a record from its rows.
    package init(key: RecordKey, sections: [SectionRows]) {
        self.key = key
        self.sections = sections
    }
}
