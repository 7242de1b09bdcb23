import MergeCore
import RecordStore

/// `number: next`: the gateway numbers the last key column of new rows.
extension SectionBinder {
    /// Returns true if the gateway numbers new rows.
    mutating func numbersKey(_ key: [String], parents: Set<String>) -> Bool {
        let fault = numberingFault(of: key, parents: parents)
        if let number = rules.number {
            if let fault { findings.error(number.place, "“number” is not possible here, because \(fault)") }
            return fault == nil
        }
        if fault == nil, !rules.groups.isEmpty, !references.schema.isGuessed, let last = key.last {
            findings.note(
                rules.name.place,
                "clients number “\(last)” themselves, so two devices that add a row at the same time choose the same "
                    + "number. With “number: next” the gateway numbers new rows")
        }
        return false
    }

    private func numberingFault(of key: [String], parents: Set<String>) -> String? {
        guard key.count > 1, let name = key.last, let column = table.column(name) else {
            // Without a database, a key that the rules do not name is a guess.
            return references.schema.isGuessed && rules.key.isEmpty ? nil : "it needs a key of several columns"
        }
        if parents.contains(name) { return "column “\(name)” ties the row to its record; put the number last in “key”" }
        if column.isAutoIncrement { return "the database numbers column “\(name)” itself" }
        if let owned = column.serverOwned { return "column “\(name)” cannot be written: \(owned)" }
        if table.foreignKeys.contains(where: { $0.columns.contains(name) }) {
            return "column “\(name)” refers to another table"
        }
        if rules.readOnly.contains(where: { $0.column.value == name && $0.references != nil }) {
            return "column “\(name)” refers to another resource"
        }
        if references.schema.isGuessed { return nil }
        guard case .integer = column.types.first else {
            return "column “\(name)” of type \(column.declaredType) is not an integer"
        }
        return nil
    }
}
