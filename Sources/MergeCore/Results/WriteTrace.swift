/// A value as a journal entry stores it.
package enum KeptValue: Sendable, Hashable {
    case plain(Value)
    /// The keyed digest of a private value, spelled as in the entry.
    case digest(String)
}

/// The last write of a journal entry to a group or a row.
package enum WriteTrace: Sendable, Hashable {
    /// The written values, by column name.
    case columns([String: KeptValue])
    /// The entry does not contain all values of the write.
    case unknown
    case deleted
}

/// The writes of a journal entry to one row.
package struct RowWrites: Sendable {
    /// One write.
    package enum Write: Sendable, Hashable {
        case deleted
        /// The values of the created row by field, or nil if the entry does not contain them.
        case created([Int: KeptValue]?)
        /// The values of the written group in its order, or nil if the entry does not contain all of them.
        case group(Int, [KeptValue]?)
    }

    private let writes: [Write]

    /// Creates the writes of an entry to a row, in their order.
    package init(_ writes: [Write]) {
        self.writes = writes
    }

    /// Returns the last write to a group, or to the whole row if `group` is nil.
    package func last(to group: Int?, of section: Section) -> WriteTrace? {
        for write in writes.reversed() {
            switch write {
            case .deleted: return .deleted
            case .created(let values):
                guard let values else { return .unknown }
                guard let group else { return Self.trace(values, of: section) }
                let wanted = values.filter { section.groups[group].fields.contains($0.key) }
                return wanted.count == section.groups[group].fields.count ? Self.trace(wanted, of: section) : .unknown
            case .group(let written, let values):
                if let group, group != written { continue }
                guard let values else { return .unknown }
                let fields = zip(section.groups[written].fields, values)
                return Self.trace(Dictionary(fields) { first, _ in first }, of: section)
            }
        }
        return nil
    }

    private static func trace(_ values: [Int: KeptValue], of section: Section) -> WriteTrace {
        var columns: [String: KeptValue] = [:]
        for (field, value) in values { columns[section.columns[section.fields[field].column].name] = value }
        return .columns(columns)
    }
}
