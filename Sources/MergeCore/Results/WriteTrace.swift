/// A value as an entry of the journal keeps it.
package enum KeptValue: Sendable, Hashable {
    case plain(Value)
    /// The keyed digest of a private value, as the entry spells it.
    case digest(String)
}

/// The last write of an entry of the journal to a group or a row.
package enum WriteTrace: Sendable, Hashable {
    /// These values were written, by the names of their columns.
    case columns([String: KeptValue])
    /// Something was written, but the entry does not tell which values.
    case unknown
    /// The row was deleted.
    case deleted
}

/// The writes of an entry of the journal to one row.
package struct RowWrites: Sendable {
    /// One write.
    package enum Write: Sendable, Hashable {
        /// The row was deleted.
        case deleted
        /// The row was created with these values, by field; nil if the entry does not tell them.
        case created([Int: KeptValue]?)
        /// A group was written with these values, in its order; nil if the entry does not tell all of them.
        case group(Int, [KeptValue]?)
    }

    private let writes: [Write]

    /// Bundles the writes of an entry to a row, in the order in which they happened.
    package init(_ writes: [Write]) {
        self.writes = writes
    }

    /// Returns the last write to a group, or to the row as a whole if no group is given; nil if there is none.
    package func last(to group: Int?, of section: Section) -> WriteTrace? {
        for write in writes.reversed() {
            switch write {
            case .deleted: return .deleted
            case .created(let values):
                guard let values else { return .unknown }
                guard let group else { return Self.trace(values, section) }
                let wanted = values.filter { section.groups[group].fields.contains($0.key) }
                return wanted.count == section.groups[group].fields.count ? Self.trace(wanted, section) : .unknown
            case .group(let written, let values):
                if let group, group != written { continue }
                guard let values else { return .unknown }
                let fields = zip(section.groups[written].fields, values)
                return Self.trace(Dictionary(fields) { first, _ in first }, section)
            }
        }
        return nil
    }

    private static func trace(_ values: [Int: KeptValue], _ section: Section) -> WriteTrace {
        var columns: [String: KeptValue] = [:]
        for (field, value) in values { columns[section.columns[section.fields[field].column].name] = value }
        return .columns(columns)
    }
}
