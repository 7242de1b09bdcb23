import MergeCore

/// A push that may share a transaction: it only edits rows that exist.
final class QueuedPush: BatchItem {
    let push: PushItem
    /// The rows that it edits, and the roots of their records.
    let rows: Set<RowName>
    /// The only table that pushes of the same transaction may write; nil if no write reaches other rows.
    private let table: TableName?

    /// A push with more edits deserves its own transaction.
    private static let maximumEdits = 16

    /// Returns nil for a push that needs its own transaction.
    init?(_ push: PushItem) {
        let request = push.request
        guard !request.isPreview, request.effects.isEmpty, request.push.atomicity == .push,
            push.refusals.isEmpty,
            (1...Self.maximumEdits).contains(request.push.edits.count),
            // Long texts or documents take time to merge and would delay the batch.
            request.sent.body.count <= PushItem.longBody
        else { return nil }
        var rows = QueuedRows(push.active.footprints)
        for edit in request.push.edits where !rows.take(edit) { return nil }
        guard rows.goTogether else { return nil }
        self.push = push
        self.rows = rows.references
        table = rows.reachesOthers ? rows.tables.first : nil
    }

    /// Returns true if both have the same rules and, if writes may reach other tables, the same table.
    func goes(with first: QueuedPush) -> Bool {
        table == first.table && push.active === first.push.active
    }

    var deadline: ContinuousClock.Instant { push.deadline }
    var isUnwanted: Bool { push.request.caller.hasLeft }
}

private struct QueuedRows {
    private let footprints: Footprints
    private(set) var references: Set<RowName> = []
    private(set) var tables: Set<TableName> = []
    private(set) var reachesOthers = false

    init(_ footprints: Footprints) {
        self.footprints = footprints
    }

    /// False if a write may change rows of another table that were read before.
    var goTogether: Bool { tables.count <= 1 || !reachesOthers }

    /// Adds the rows of an edit; returns false if the push must run alone.
    mutating func take(_ edit: Edit) -> Bool {
        let root = footprints[edit.resource.root]
        guard edit.resource.isAtomic, edit.reversals.isEmpty, !root.dependsOnOtherRows, let record = edit.id.key,
            references.insert(root.reference(to: record)).inserted
        else { return false }
        for row in edit.rows {
            guard case .edit = row.action else { return false }
            let section = edit.resource.sections[row.section]
            let footprint = footprints[section]
            if footprint.dependsOnOtherRows { return false }
            switch footprint.reach {
            case .row: break
            case .otherTables: reachesOthers = true
            case .everything: return false
            }
            tables.insert(footprint.table)
            if row.section == 0 { continue }
            if section.kind == .singleton {
                // Another section may name the row by its own key, which is not read yet.
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
