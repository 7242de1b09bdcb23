/// The last write of an entry of the journal to a group or a row.
package enum WriteTrace: Sendable, Hashable {
    /// These values of the group were written, in its order.
    case group([Value])
    /// Something was written of which the journal keeps no values that could be compared.
    case something
    /// The row was deleted.
    case deleted
}

/// The writes of an entry of the journal to one row.
package struct RowWrites: Sendable {
    /// One write.
    package enum Write: Sendable, Hashable {
        /// The row was deleted.
        case deleted
        /// The row was created with these values, by field; nil where the journal keeps none.
        case created([Int: Value]?)
        /// A group was written with these values, in its order; nil where the journal keeps none that could be compared.
        case group(Int, [Value]?)
    }

    private let writes: [Write]

    /// Bundles the writes of an entry to a row, in the order in which they happened.
    package init(_ writes: [Write]) {
        self.writes = writes
    }

    /// Returns the last write to a group, or to the row as a whole where no group is given; nil where there is none.
    package func last(to group: Int?, of section: Section) -> WriteTrace? {
        for write in writes.reversed() {
            switch write {
            case .deleted: return .deleted
            case .created(let values):
                guard let group, let values else { return .something }
                let fields = section.groups[group].fields
                let known = fields.compactMap { values[$0] }
                return known.count == fields.count ? .group(known) : .something
            case .group(let written, let values):
                guard let group else { return .something }
                if written == group { return values.map { .group($0) } ?? .something }
            }
        }
        return nil
    }
}
