import MergeCore

/// A push that may share a transaction with others: edits of rows that exist, and nothing else.
final class QueuedPush: BatchItem {
    let push: PushItem
    /// The rows that it edits, and the roots of their records.
    let rows: Set<RowReference>
    /// The only table that pushes which share a transaction with this one may write; nil where none of them reaches
    /// beyond its own rows.
    private let table: String?

    /// A push of many edits is a transaction worth of its own.
    private static let maximumEdits = 16

    /// nil for a push that needs a transaction of its own.
    init?(_ push: PushItem) {
        let request = push.request
        guard !request.isPreview, request.effects.isEmpty, request.push.atomicity == .push,
            push.refusals.isEmpty,
            (1...Self.maximumEdits).contains(request.push.edits.count),
            // One with long texts or documents takes its time to merge, for which others do not wait.
            request.sent.body.count <= PushItem.longBody
        else { return nil }
        var rows = QueuedRows(push.active.footprints)
        for edit in request.push.edits where !rows.take(edit) { return nil }
        guard rows.goTogether else { return nil }
        self.push = push
        self.rows = rows.references
        table = rows.reachesOthers ? rows.tables.first : nil
    }

    /// Returns true if both run under one `ActiveRules` object and, if a write may change rows of other tables, write one table.
    func goes(with first: QueuedPush) -> Bool {
        table == first.table && push.active === first.push.active
    }

    var deadline: ContinuousClock.Instant { push.deadline }
    var isUnwanted: Bool { push.request.caller.hasLeft }
}

/// The rows of a push that may share a transaction.
private struct QueuedRows {
    private let footprints: Footprints
    private(set) var references: Set<RowReference> = []
    private(set) var tables: Set<String> = []
    private(set) var reachesOthers = false

    init(_ footprints: Footprints) {
        self.footprints = footprints
    }

    /// Rows that were read before a write to another table could not be decided on.
    var goTogether: Bool { tables.count <= 1 || !reachesOthers }

    /// - Returns: false where the push has to run alone.
    mutating func take(_ edit: Edit) -> Bool {
        guard edit.resource.isAtomic, edit.reversals.isEmpty, let record = edit.id.key,
            references.insert(footprints[edit.resource.root].reference(to: record)).inserted
        else { return false }
        for row in edit.rows {
            guard case .edit = row.action else { return false }
            let section = edit.resource.sections[row.section]
            let footprint = footprints[section]
            switch footprint.reach {
            case .row: break
            case .otherTables: reachesOthers = true
            case .everything: return false
            }
            tables.insert(footprint.table)
            if row.section == 0 { continue }
            if section.kind == .singleton {
                // Its own key is not known yet, by which another section over the table may name it.
                guard !footprint.isShared, references.insert(footprint.reference(to: record)).inserted else {
                    return false
                }
                continue
            }
            guard let id = row.id, let key = id.key, !id.isSuspect,
                references.insert(footprint.reference(to: key)).inserted
            else { return false }
        }
        return true
    }
}
