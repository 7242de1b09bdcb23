/// A record as read: the root row and the rows of its other sections.
package struct Record: Sendable, Hashable {
    package let key: RecordKey
    /// Parallel to the resource's `sections`.
    package var sections: [SectionRows]

    package init(key: RecordKey, sections: [SectionRows]) {
        self.key = key
        self.sections = sections
    }
}

/// The rows of one section of a record, each parallel to the section's `columns`.
package enum SectionRows: Sendable, Hashable {
    /// The root, or a singleton, which may be without a row.
    case one([Value]?)
    case many([[Value]])
}
