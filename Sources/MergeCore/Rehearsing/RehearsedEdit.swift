/// One outcome of the journal in the types of some rules: the wanted change, and the row before it.
///
/// A journal entry does not contain everything. If it allows several readings, the edit has several actions or states.
package struct RehearsedEdit: Sendable, Hashable {
    /// The position in the resource's `sections`.
    package let section: Int
    /// The positions of the fields that the outcome is about; empty for a whole row.
    package let fields: [Int]
    /// The possible changes of the row.
    package let actions: [Reading: RowAction]
    /// The possible states of the row before the change.
    package let states: [RowState]

    /// A meaning of an entry whose base is NULL.
    package enum Reading: Sendable, Hashable, CaseIterable {
        /// The client had a base, or the entry does not leave it open.
        case withBase
        /// The client created the row.
        case withoutBase
    }

    /// The row before the change.
    package enum RowState: Sendable, Hashable {
        case present([Value])
        case gone
        /// The record of the row does not exist.
        case unreachable

        var found: FoundRow.State {
            switch self {
            case .present(let values): .present(values)
            case .gone: .gone(lastKnown: [:])
            case .unreachable: .unreachable
            }
        }
    }

    /// Returns the edit of a row whose record is missing before the push.
    ///
    /// The row can be changed only if the rules restore the record.
    ///
    /// - Parameter wasRestored: True if the recorded decision restored the record. Otherwise the entry does not contain
    ///   the state of the row.
    package func inMissingRecord(
        wasRestored: Bool, of resource: Resource
    ) throws(UnjudgedReason) -> RehearsedEdit {
        if resource.root.onMissing.value == .restore {
            if wasRestored { return self }
            throw .recordPresence
        }
        return RehearsedEdit(
            section: section, fields: fields, actions: actions, states: states.map { _ in .unreachable })
    }

    /// Creates an edit.
    ///
    /// Two rules read the same outcome with parallel fields and states.
    package init(section: Int, fields: [Int], actions: [Reading: RowAction], states: [RowState]) {
        self.section = section
        self.fields = fields
        self.actions = actions
        self.states = states
    }
}

/// The decision that the journal contains.
package struct RecordedOutcome: Sendable, Hashable {
    /// The name of the outcome.
    package let kind: OutcomeKind
    /// The rule that decided, as text.
    package let rule: String
    /// True if the active rules made the decision.
    package let isOfActiveRules: Bool

    /// Creates the decision of an entry.
    package init(kind: OutcomeKind, rule: String, isOfActiveRules: Bool) {
        self.kind = kind
        self.rule = rule
        self.isOfActiveRules = isOfActiveRules
    }
}
