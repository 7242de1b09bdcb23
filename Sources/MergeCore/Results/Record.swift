/// A record as read: the root row and the rows of its other sections.
package struct Record: Sendable, Hashable {
    /// The key of the root row.
    package let key: RecordKey
    /// Parallel to the resource's `sections`.
    package var sections: [SectionRows]

    /// Makes a record of its rows.
    package init(key: RecordKey, sections: [SectionRows]) {
        self.key = key
        self.sections = sections
    }
}
