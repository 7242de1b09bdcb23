import MergeCore
import RecordStore

/// The checks of keys that clients choose for new rows.
extension PushTransaction {
    /// Checks the key of a new row.
    ///
    /// - Throws: a 400 problem if a client must not choose this key.
    func checkNewKey(of row: EditedRow) throws(PushStop) {
        try checkIsNotGenerated(row)
        // An undo inserts a row under the key that it had.
        guard row.edit.isCreation, row.section.onMissing.rule != .undo, let parts = row.edit.id?.parts else { return }
        for (column, part) in parts.enumerated() {
            guard case .value(let value) = part, !isReference(column, in: row.section) else { continue }
            guard let problem = problem(of: value, inKeyOf: row.section, column: column) else { continue }
            throw .fault(
                Problem(.malformedID, detail: "“\(row.keyPath)” \(problem).", path: row.keyPath, retry: .never))
        }
    }

    /// Returns the fault of a part of a new row's key; nil if it has none.
    private func problem(of value: Value, inKeyOf section: Section, column: Int) -> String? {
        if section.kind == .root, section.keyCount == 1, value == .text(ExactText("")) || value == .bytes([]) {
            return "is empty, and no address names a record with an empty key. Choose another key"
        }
        guard case .text(let text) = value,
            let type = run.active.schema.tables[section.table]?.column(section.columns[column].name)?.types.first,
            type.isDateOrTime, !type.stores(text)
        else { return nil }
        return "is not spelled as the database stores a \(type.name). Spell it like \(type.exampleOfKey)"
    }

    /// Refuses a new row whose client chose a key that the database generates.
    ///
    /// A client could choose the last number, after which no row can be created. Keys of rows that the push
    /// deleted and keys that refer to another row are allowed. A hidden row with the key is a collision, which the
    /// database refuses later.
    ///
    /// - Throws: a 400 problem if the client chose the key.
    private func checkIsNotGenerated(_ row: EditedRow) throws(PushStop) {
        let (section, id) = (row.section, row.edit.id)
        guard row.edit.isCreation, !section.allowsClientKeys, let column = section.generatedKeyColumn,
            let id, let key = writer.keys.settled(id), id.parts.indices.contains(column),
            case .value = id.parts[column],
            !isReference(column, in: section),
            !writer.hasDeleted(run.footprint(section).name(of: key))
        else { return }
        guard try facts.rows(of: section, withKey: key, includesHidden: true, &writer).isEmpty else { return }
        let path = row.keyPath
        throw .fault(
            Problem(
                .generatedKey,
                detail:
                    "“\(path)” names a row that does not exist, and the \(section.gatewayNumbersKey ? "gateway" : "database") "
                    + "generates this key. Leave the id out, or send a temporary id.", path: path, retry: .never))
    }

    /// True if the record or a foreign key determines the value of a key column.
    private func isReference(_ column: Int, in section: Section) -> Bool {
        if section.parent.contains(where: { $0.column == column }) { return true }
        let name = section.columns[column].name
        return run.active.schema.tables[section.table]?.foreignKeys.contains { $0.columns.contains(name) } ?? false
    }
}

extension EditedRow {
    /// The location of the row's key in the body.
    fileprivate var keyPath: WirePath { (section.kind == .root ? step.edit.path : edit.path).member("id") }
}

extension ColumnType {
    /// Returns true if the column stores a date or time with exactly this text.
    fileprivate func stores(_ text: ExactText) -> Bool {
        guard let value = storedTime(text.string), forbidsWriting(value) == nil, let stored = storedText(of: value)
        else {
            return false
        }
        return text == ExactText(stored)
    }

    /// A key as the column stores it.
    fileprivate var exampleOfKey: String {
        if case .time = self { return storedText(of: storedTime("10:00:00") ?? .null) ?? "" }
        let moment = storedTime("2026-11-20 10:00:00") ?? storedTime("2026-11-20")
        return storedText(of: moment ?? .null) ?? ""
    }
}
