import GRDB
import Synchronization

/// Unsent pushes that the app takes out.
extension Ledger {
    /// Returns whether a push was sent while the store could not be written.
    func isUnstored(_ push: Int64) -> Bool { context.unstored.withLock { $0[push] != nil } }

    /// Removes an unsent push, with the pushes that use a row which it creates; returns false if there is none.
    ///
    /// - Throws: `FieldMergeError.sending` if it was sent.
    func discardUnsent(_ push: Int64) throws -> Bool {
        guard let state = try state(of: push), state == .unsent || state == .sent else { return false }
        guard state == .unsent else { throw FieldMergeError.sending }
        let edits = try edits(of: push)
        let made = try creations(push)
        effects.touched.formUnion(edits.map(\.record))
        try discardTickets("push = ? AND outcome IS NULL", [push])
        try write("DELETE FROM edit WHERE push = ?", [push])
        try write("DELETE FROM creation WHERE push = ?", [push])
        try write("DELETE FROM push WHERE seq = ?", [push])
        for temporary in made {
            for user in try pushes(using: temporary) { _ = try discardUnsent(user) }
        }
        for edit in edits { try undo(edit) }
        try discardReferences(to: edits, behind: push)
        return true
    }

    /// Takes out the pushes that refer to a record which edits would have created under a key of the app's own.
    private func discardReferences(to edits: [StoredEdit], behind push: Int64) throws {
        let rules = try rules()
        let created = Set(
            edits.filter { edit in
                rules?.resources[edit.resource].map(edit.changes.isCreation) ?? false && edit.id.temporaryID == nil
            }.map(\.record))
        guard !created.isEmpty else { return }
        for row in try rows("SELECT seq FROM push WHERE state IN (0, 1) AND seq > ? ORDER BY seq", [push]) {
            let user: Int64 = row[0]
            guard PushFootprint(try self.edits(of: user), rules).names(created) else { continue }
            _ = try discardUnsent(user)
        }
    }

    /// Gives later edits of the same record the `old` of an edit that was taken out.
    private func undo(_ edit: StoredEdit) throws {
        guard let known = try known(edit.resource) else { return }
        var open = edit.changes
        for later in try pending(edit.record) where later.push > edit.push && later.state == .unsent {
            guard let changes = later.changes.undoing(&open, of: known) else {
                _ = try discardUnsent(later.push)
                continue
            }
            guard changes != later.changes else { continue }
            try replaceChanges(later.push, later.place, with: changes)
            try settleCancelled(later.push)
            try listOvertaken(later.push)
        }
    }
}

extension RecordChanges {
    /// Returns the changes without the effect of earlier changes; nil if they need a row that the earlier changes create.
    ///
    /// - Parameter earlier: the groups that no change has met yet remain.
    fileprivate func undoing(_ earlier: inout RecordChanges, of resource: ResourceRules) -> RecordChanges? {
        var result: [RowChange] = []
        let root = resource.root.name
        for change in rows {
            let isOfNewRecord = earlier.rows.contains { $0.section == root && $0.isCreation }
            guard !isOfNewRecord else { return nil }
            guard let index = earlier.rows.firstIndex(where: { $0.place == change.place }),
                let section = resource.section(named: change.section)
            else {
                result.append(change)
                continue
            }
            if earlier.rows[index].isCreation { return nil }
            if let undone = change.undoing(&earlier.rows[index], in: section) { result.append(undone) }
        }
        return RecordChanges(result)
    }
}

extension RowChange {
    fileprivate func undoing(_ earlier: inout RowChange, in section: SectionRules) -> RowChange? {
        guard case .edit(var held) = earlier.step else { return self }
        var undone = self
        switch step {
        case .create: return self
        case .delete(let old):
            let before = held.values.reduce(into: JSONObject()) { $0.merge($1.old) { first, _ in first } }
            undone.unknown.formUnion(earlier.unknown)
            undone.step = .delete(
                old.merging(before) { _, before in before }.filter { !undone.unknown.contains($0.key) })
            held = [:]
        case .edit(var groups):
            for (name, sides) in groups {
                guard let group = section.group(name), let first = held[name], group.agrees(first.new, sides.old) else {
                    continue
                }
                held[name] = nil
                let fields = Set(group.fields.map(\.name))
                undone.unknown.formUnion(earlier.unknown.intersection(fields))
                let new = group.without(first, in: sides.new)
                let isEqual = undone.unknown.isDisjoint(with: fields) && group.holdsSame(first.old, new)
                groups[name] = isEqual ? nil : GroupSides(old: first.old, new: new)
            }
            if groups.isEmpty { return nil }
            undone.step = .edit(groups)
            undone = undone.trimmed(in: section)
        }
        earlier.step = .edit(held)
        return undone
    }
}

extension GroupRules {
    /// Returns a value minus the difference that an earlier edit has added; the value itself if the group is no sum.
    fileprivate func without(_ earlier: RowChange.GroupSides, in value: JSONObject) -> JSONObject {
        guard merge == "add", let undone = decision(old: earlier.new, new: earlier.old, current: value),
            undone.outcome == "combined" || undone.outcome == "applied"
        else { return value }
        return undone.written
    }
}
