import MergeCore
import RecordStore

/// Rows that a client may not see, which the database would accept as targets of references.
extension FactStore {
    /// True if the row exists, the client's resources contain its table, and none shows it to the client.
    func isHidden(
        _ values: [Value], by key: ForeignKey, from viewer: Viewer, _ writer: inout ChangeWriter
    ) throws(PushStop) -> Bool {
        let shown = active.views[key.target]
        let views = shown.map { ($0, viewer.view(of: $0.resource)) }
        if shown.isEmpty || views.contains(where: { $0.1 == nil }) { return false }
        guard let table = active.schema.tables[key.target] else { return false }
        let columns = key.targetColumns.compactMap { name in
            table.restorableColumns.first { $0.name.lowercased() == name.lowercased() }
        }
        guard columns.count == values.count else { return false }
        try writer.flushUnlessShared()
        var isThere = false
        for (place, view) in views {
            guard let view else { return false }
            let condition = zip(columns, values).map { RawValue(column: $0, value: $1) }
            let found = try run.query(
                RawSQL(run.dialect).select(
                    place.section.columns, from: key.target, where: condition, locking: run.session.mustLockReads))
            guard let row = found.first else { continue }
            isThere = true
            if try shows(row, of: place.section, in: place.resource, view) { return false }
        }
        return isThere
    }

    private func shows(
        _ row: [Value], of section: Section, in resource: Resource, _ view: ResourceView
    ) throws(PushStop) -> Bool {
        if section.kind == .root { return view.shows(row) }
        guard let place = resource.sections.firstIndex(where: { $0 === section }) else { return false }
        let owners = try run.rows(
            of: resource.root, where: section.parent.map(\.rootColumn), in: [section.parent.map { row[$0.column] }],
            locking: false, includesHidden: true)
        return owners.contains { view.sight(view.grants(on: $0)).sections[place].isGiven }
    }

    /// Returns the root row of a record, even if the rules hide it.
    func root(
        _ key: RecordKey?, of resource: Resource, _ writer: inout ChangeWriter
    ) throws(PushStop) -> [Value]? {
        guard let key else { return nil }
        return try rows(of: resource.root, withKey: key, locking: false, includesHidden: true, &writer).first
    }
}
