extension Resource {
    /// The resource as an undo sees it: what others wrote since stays, and what is gone stays gone, but for a row that comes
    /// back under its own key.
    ///
    /// Rules of access, rows that are written no more and steps from value to value hold for an undo as for any edit.
    /// Merge functions still run, so an undone addition is subtracted from what others made of the number since.
    package var undoing: Resource {
        Resource(
            name: name, description: description, sections: sections.map(\.undoing), access: access, standingFor: self)
            ?? self
    }
}

extension Section {
    fileprivate var undoing: Section {
        var rules = SectionRules()
        rules.onMissing = Ruled(.drop, rule: .undo)
        rules.onDeleteConflict = Ruled(.keep, rule: .undo)
        rules.visibility = visibility
        rules.softDelete = softDelete
        rules.checks = checks
        rules.frozenWhen = frozenWhen
        rules.allowsClientKeys = true
        rules.keptColumns = keptColumns
        return Section(
            name: name, kind: kind,
            table: SectionTable(
                table, columns: columns, keyCount: keyCount, generatedKeyColumn: generatedKeyColumn, parent: parent,
                order: order, isTransactional: isTransactional),
            fields: SectionFields(fields, groups: groups.map(\.undoing), readOnly: readOnly), rules: rules,
            standingFor: self)
    }
}

extension Group {
    fileprivate var undoing: Group {
        let isTimed = if case .latest? = merge?.value { true } else { false }
        // The time of an edit that is taken back is always the earlier one.
        return Group(
            name: name, fields: fields, onConflict: Ruled(.serverWins, rule: .undo), merge: isTimed ? nil : merge,
            transitions: transitions, formerly: formerly)
    }
}
