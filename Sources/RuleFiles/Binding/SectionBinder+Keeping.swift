import MergeCore
import RecordStore

extension SectionBinder {
    /// Returns the names of the columns of the rules, and those of `undo-columns`.
    mutating func keptColumns() -> [String] {
        let own = columns.filter { $0.lookup == nil }.map(\.name)
        var kept = own + (rules.softDelete?.assignments.map(\.column.value) ?? [])
        for (_, sql) in rules.operatorSQL {
            kept += table.columns.map(\.name).filter { SQLWords.mention($0, in: sql.value) }
        }
        switch rules.undoColumns {
        case .all: kept += table.restorableColumns.map(\.name)
        case .named(let names):
            for name in names where isRestorable(name) { kept.append(name.value) }
        case nil: break
        }
        var known: Set<String> = []
        return kept.filter { known.insert($0).inserted }
    }

    private mutating func isRestorable(_ name: Placed<String>) -> Bool {
        guard let column = table.column(name.value) else {
            missing(name)
            return false
        }
        if let owned = column.serverOwned {
            findings.error(name.place, "column “\(name.value)” cannot be written, because \(owned); leave it out")
            return false
        }
        if table.restorableColumns.contains(where: { $0.name == name.value }) { return true }
        findings.error(
            name.place, "column “\(name.value)” has the type \(column.declaredType), which is not supported yet")
        return false
    }
}
