extension Resource {
    /// The resource with the rules of an undo.
    ///
    /// The undo keeps later changes of other clients, and missing rows stay missing, except a row that the undo
    /// restores. Access rules, frozen rows and transitions apply as to any edit. Merge functions still run. So the undo
    /// of an addition subtracts from the current number.
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
        rules.stamps = stamps
        rules.allowsClientKeys = true
        rules.keptColumns = keptColumns
        return Section(
            name: name, kind: kind,
            table: SectionTable(
                table, columns: columns, keyCount: keyCount, generatedKeyColumn: generatedKeyColumn,
                gatewayNumbersKey: gatewayNumbersKey, parent: parent, order: order, isTransactional: isTransactional),
            fields: SectionFields(fields, groups: groups.map(\.undoing), readOnly: readOnly), rules: rules,
            standingFor: self)
    }
}

extension Group {
    fileprivate var undoing: Group {
        let isTimed = if case .latest? = merge?.value { true } else { false }
        // The timestamp of an undone edit is always the earlier one.
        return Group(
            name: name, fields: fields, onConflict: Ruled(.serverWins, rule: .undo), merge: isTimed ? nil : merge,
            transitions: transitions, formerly: formerly)
    }
}
