import MergeCore

/// The rights of an edit's client on rows as they are now and were before the push.
///
/// It is pure. Without a view, the client has all rights.
struct RowRights {
    private let view: ResourceView?
    private let before: RowsBefore

    init(of view: ResourceView?, before: RowsBefore) {
        self.view = view
        self.before = before
    }

    /// Returns the roles that apply to a root row now and applied to it before the push.
    ///
    /// A right that an earlier edit of the push brings does not count: a refused push or a preview would reveal values.
    func grants(on root: [Value]) -> GrantSet {
        guard let view else { return .all }
        let now = view.grants(on: root)
        return before.original(of: root, in: view.resource.root).map { now.intersection(view.grants(on: $0)) } ?? now
    }

    /// Returns the roles that apply to a row's record now, before the push and when the edit found it.
    ///
    /// - Parameter root: the record's own row; nil if it does not exist.
    func held(on root: [Value]?, report: EditReport) -> GrantSet {
        // The rights on a new record are checked after all its writes.
        guard let root, !report.createsRecord else { return .all }
        return grants(on: root).intersection(report.held ?? .all)
    }

    /// Checks that a role of the client allows the edit of a row in its current state.
    ///
    /// - Parameters:
    ///   - isThere: true if the row exists.
    ///   - root: the record's own row; nil if it does not exist.
    func check(_ edit: RowEdit, isThere: Bool, root: [Value]?, report: EditReport) throws(DecidingStop) {
        guard let view else { return }
        // The answer must not reveal anything about a missing row.
        guard root != nil || edit.isCreation else { return }
        do throws(Problem) {
            _ = try view.needs(of: edit, isThere: isThere, among: held(on: root, report: report))
        } catch {
            throw .refused(error)
        }
    }

    /// Returns the edit without groups that its client may not read, so that a deletion does not compare them.
    func readable(_ row: EditedRow, root: [Value]?) -> RowEdit {
        guard let view, case .delete(let groups) = row.edit.action, let root else { return row.edit }
        let sight = view.sight(grants(on: root))
        let known = groups.filter { sight.reads(group: row.section.groups[$0.group], in: row.edit.section) }
        if known.count == groups.count { return row.edit }
        return RowEdit(
            section: row.edit.section, id: row.edit.id, action: .delete(known), path: row.edit.path,
            extras: row.edit.extras)
    }

    /// Returns the sets of roles of which one must apply to the final record, each for one part of a change.
    ///
    /// - Parameter outcomes: the outcomes of the change.
    func needs(
        of change: RowChange, by row: EditedRow, outcomes: ArraySlice<Outcome>, among held: GrantSet
    ) -> [GrantSet] {
        guard let view else { return [] }
        let section = row.edit.section
        let needs: [GrantSet]
        switch change {
        case .none: needs = []
        case .delete: needs = section > 0 ? [view.deleters(ofSection: section)] : []
        case .update:
            needs = outcomes.filter(\.kind.writes).compactMap(\.group).map { view.writers(ofGroup: $0, in: section) }
        case .insert where section > 0: needs = [view.creators(ofSection: section)]
        case .insert: needs = Self.createdFields(by: row).map { [view.creators(with: $0)] } ?? []
        }
        return needs.map { $0.intersection(held) }
    }

    // MARK: New records

    /// Returns true if the client has the right to create the record that this edit would restore.
    func mayBringBack(_ row: EditedRow) -> Bool {
        guard let view, row.section.onMissing.value == .restore, case .edit = row.edit.action,
            let fields = Self.createdFields(by: row)
        else { return true }
        return !view.creators(with: fields).isEmpty
    }

    /// Returns true if a deleted row was not certainly visible to the client.
    func hid(_ known: LastKnown, of row: EditedRow) -> Bool {
        guard let view, row.section.kind == .root, !view.seesEveryRow else { return false }
        let root = row.section
        if known.row == nil, known.fields.isEmpty { return false }
        let values = (row.resource.access?.columns ?? []).map { column -> Value? in
            known.row?.value(of: root.columns[column])
                ?? known.fields.first { root.fields[$0.key].column == column }?.value
        }
        let sure = values.compactMap(\.self)
        return sure.count < values.count || view.grants(onConditions: sure).isEmpty
    }

    /// Returns the columns of a new record whose values come from claims of its client.
    ///
    /// - Returns: nil if a claim is missing or its column cannot store it.
    func claimed(by row: EditedRow) -> [Assignment]? {
        guard let view, row.section.kind == .root, let fields = Self.createdFields(by: row) else { return [] }
        guard let role = view.first(of: view.creators(with: fields)) else { return [] }
        return view.assignments(under: role)
    }

    /// Returns the fields that an edit sets if it creates its row; nil for a deletion.
    private static func createdFields(by row: EditedRow) -> [Int]? {
        switch row.edit.action {
        case .create(let new): new.fields
        case .edit(let groups): groups.flatMap { row.section.groups[$0.group].positions }
        case .delete: nil
        }
    }
}
