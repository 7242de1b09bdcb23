import MergeCore
import RecordStore

/// Advice to an operator on a valid section.
///
/// It reports constraints of the database over several groups, which a merge by group may violate, and omitted columns.
struct SectionAdvice {
    let section: Section
    let table: TableSchema
    let place: Place
    let schema: DatabaseSchema
    /// The tables that a rule file names.
    let known: Set<TableName>

    func add(to findings: inout Findings) {
        for index in table.uniqueIndexes where index.columns != table.primaryKey {
            warnIfSpanning(index.columns, as: "the unique index “\(index.name)”", to: &findings)
        }
        for key in table.foreignKeys { warnIfSpanning(key.columns, as: "the foreign key “\(key.name)”", to: &findings) }
        for (name, clause) in table.checks.sorted(by: { $0.key < $1.key }) {
            warnIfSpanning(columns(in: clause), as: "the CHECK “\(name)”", to: &findings)
        }
        adviseOnTypes(&findings)
        for dependent in schema.dependents(ofDeletionFrom: table.name) where !known.contains(dependent.table) {
            let what = dependent.onDelete == .delete ? "deletes" : "changes"
            findings.warning(
                place,
                "deleting a row of table “\(table.name)” \(what) rows of table “\(dependent.table)”, which no client sees "
                    + "(foreign key “\(dependent.constraint)”); the answer names them under “cascades”")
        }
        if !table.triggers.isEmpty {
            findings.note(
                place,
                "table “\(table.name)” has triggers (\(table.triggers.joined(separator: ", "))); what they change shows in "
                    + "the answers and is no conflict")
        }
        let unseen = table.columns.map(\.name).filter { name in !section.columns.contains { $0.name == name } }
        if !unseen.isEmpty {
            let noun = unseen.count == 1 ? "column" : "columns"
            findings.note(place, "clients do not see \(noun) \(list(unseen)) of table “\(table.name)”")
        }
    }

    private func list(_ names: [String]) -> String { names.map { "“\($0)”" }.joined(separator: ", ") }

    private func groups(of columns: [String]) -> [String] {
        section.groups.filter { group in
            section.fields[group.fields].contains { columns.contains(section.columns[$0.column].name) }
        }.map(\.name)
    }

    /// Warns of a constraint over several groups, which two valid edits of different groups can violate together.
    private func warnIfSpanning(_ columns: [String], as what: String, to findings: inout Findings) {
        let spanned = groups(of: columns)
        guard spanned.count > 1 else { return }
        findings.warning(
            place,
            "\(what) of table “\(table.name)” looks at the groups \(list(spanned)); a merge of two edits can break it, so "
                + "make them one group")
    }

    /// Returns the columns of the table that occur as words in a clause.
    private func columns(in clause: String) -> [String] {
        let words = Set(clause.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }.map(String.init))
        return table.columns.map(\.name).filter { words.contains($0) || clause.contains("`\($0)`") }
    }

    private func adviseOnTypes(_ findings: inout Findings) {
        for field in section.fields {
            if case .float = section.columns[field.column].type {
                findings.note(
                    place, "field “\(field.name)” is a FLOAT, which stores seven digits. A number with more is refused")
            }
        }
        for field in section.readOnly where section.columns[field.column].type == .wellKnownText {
            findings.note(place, "field “\(field.name)” is spatial and shown as well-known text")
        }
    }
}
