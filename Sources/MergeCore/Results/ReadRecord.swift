/// A record that was read from the database.
///
/// A record is unreadable if a row cannot be decoded, a singleton has a second row, or a list is too long. Other
/// records stay readable.
package enum ReadRecord: Sendable, Hashable {
    case readable(Record)
    /// The record exists, but some of its rows cannot be read.
    case unreadable(UnreadableRecord)

    /// The key of the root row.
    package var key: RecordKey {
        switch self {
        case .readable(let record): record.key
        case .unreadable(let record): record.key
        }
    }

    /// The record, or nil if it cannot be read.
    package var readable: Record? {
        if case .readable(let record) = self { record } else { nil }
    }

    /// The problem, or nil if the record can be read.
    package var problem: Problem? {
        if case .unreadable = self { UnreadableRecord.problem } else { nil }
    }

    /// Returns the record as a client sees it, or nil if it does not exist for the client.
    ///
    /// Without a view the client sees everything. Only the given roles count, because a preview leaves out roles that
    /// hold only after the write.
    package func seen(by view: ResourceView?, under roles: GrantSet = .all) -> ReadRecord? {
        guard let view else { return self }
        switch self {
        case .readable(let record): return view.seen(record, under: roles).map { .readable($0) }
        case .unreadable(let record): return view.sees(record, under: roles) ? self : nil
        }
    }

    /// Returns the values that access conditions read in the record, or nil if there are none or they are unknown.
    package func conditions(of resource: Resource) -> ConditionTuple? {
        switch self {
        case .readable(let record):
            if case .one(let root?)? = record.sections.first { ConditionTuple(root, of: resource) } else { nil }
        case .unreadable(let record): record.conditions.flatMap { ConditionTuple(values: $0, of: resource) }
        }
    }
}

/// A record that exists and cannot be read.
package struct UnreadableRecord: Sendable, Hashable {
    /// The key of the root row.
    package let key: RecordKey
    /// A sentence for operators that names tables, sections and columns, and no values.
    package let reason: String
    /// True if one of the record's lists has more rows than allowed.
    package let isTooLong: Bool
    /// The root row's values that access conditions read, or nil if there are none or they cannot be read.
    package let conditions: [Value]?

    /// Creates an unreadable record.
    package init(key: RecordKey, reason: String, isTooLong: Bool = false, conditions: [Value]?) {
        self.isTooLong = isTooLong
        self.key = key
        self.reason = reason
        self.conditions = conditions
    }

    /// The problem that clients get.
    ///
    /// It names no section and no column, because the client may not be allowed to read them.
    package static let problem = Problem(
        .unreadableRecord,
        detail: "A value of this record cannot be decoded. All other records can be "
            + "read. Tell an operator: /readyz and the gateway's log name the record and the reason.")
}

extension ResourceView {
    fileprivate func sees(_ record: UnreadableRecord, under roles: GrantSet) -> Bool {
        // Whether the record matches a filter is unknown, so it does not hide the record.
        guard let conditions = record.conditions else { return mayReadEveryRow }
        return !grants(onConditions: conditions).intersection(roles).isEmpty
    }
}
