/// A record as it was read from the database.
///
/// A row that cannot be decoded, a second row of a singleton or an overlong list makes one record unreadable and no
/// other. Callers have to handle both cases.
package enum ReadRecord: Sendable, Hashable {
    case readable(Record)
    /// The record exists, and some of its rows cannot be read.
    case unreadable(UnreadableRecord)

    /// The key of the root row.
    package var key: RecordKey {
        switch self {
        case .readable(let record): record.key
        case .unreadable(let record): record.key
        }
    }

    /// nil if the record cannot be read.
    package var readable: Record? {
        if case .readable(let record) = self { record } else { nil }
    }

    /// nil if the record can be read.
    package var problem: Problem? {
        if case .unreadable = self { UnreadableRecord.problem } else { nil }
    }

    /// Returns the record as a client sees it; nil if it does not exist for the client.
    ///
    /// - Parameters:
    ///   - view: nil for a client that sees everything.
    ///   - roles: the roles that count; a preview leaves out roles that hold only after the write.
    package func seen(by view: ResourceView?, under roles: GrantSet = .all) -> ReadRecord? {
        guard let view else { return self }
        switch self {
        case .readable(let record): return view.seen(record, under: roles).map { .readable($0) }
        case .unreadable(let record): return view.sees(record, under: roles) ? self : nil
        }
    }

    /// What conditions of access look at in the record; nil if they look at nothing, or it is not known.
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
    /// One of its lists has more rows than a record may have.
    package let isTooLong: Bool
    /// The values of the root row that conditions of access look at; nil if they look at nothing, or cannot be read.
    package let conditions: [Value]?

    /// Describes a record by its key and its known conditions.
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
        detail: "The database contains something in this record that the gateway cannot read. All other records can be "
            + "read. Tell an operator: /readyz and the gateway's log name the record and the reason.")
}

extension ResourceView {
    /// Returns true if the client sees some part of a record that cannot be read.
    fileprivate func sees(_ record: UnreadableRecord, under roles: GrantSet) -> Bool {
        guard let conditions = record.conditions else { return seesEveryRow }
        return !grants(onConditions: conditions).intersection(roles).isEmpty
    }
}
