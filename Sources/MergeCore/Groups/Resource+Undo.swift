extension Resource {
    /// The resource as an undo sees it: what others wrote since stays, and what is gone stays gone, but for a row that comes
    /// back under its own key.
    ///
    /// Merge functions still run, so an undone addition is subtracted from what others made of the number since.
    package var undoing: Resource {
        Resource(name: name, description: description, sections: sections.map(\.undoing)) ?? self
    }
}

extension Section {
    fileprivate var undoing: Section {
        Section(
            name: name, kind: kind, table: table, columns: columns, keyCount: keyCount,
            generatedKeyColumn: generatedKeyColumn, fields: fields,
            groups: groups.map { group in
                let isTimed = if case .latest? = group.merge?.value { true } else { false }
                // The time of an edit that is taken back is always the earlier one.
                return Group(
                    name: group.name, fields: group.fields, onConflict: Ruled(.serverWins, rule: .undo),
                    merge: isTimed ? nil : group.merge)
            }, readOnly: readOnly, parent: parent, order: order, onMissing: Ruled(.drop, rule: .undo),
            onDeleteConflict: Ruled(.keep, rule: .undo), identity: nil, visibility: visibility,
            softDelete: softDelete, checks: checks, isTransactional: isTransactional, allowsClientKeys: true)
    }
}
