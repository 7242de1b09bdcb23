/// Converts the values of sample rows to the values that their columns would store.
struct SampleValues {
    let section: Section

    /// Returns a row of the database, with NULL for the columns that the sample omits.
    func current(_ row: SampleRow, _ label: RowLabel?) throws(RecordFault) -> [Value] {
        var values = [Value](repeating: .null, count: section.columns.count)
        for (column, part) in (label?.key?.parts ?? []).enumerated() { values[column] = part }
        for field in row.values.keys.sorted() {
            values[section.fields[field].column] = try value(of: field, in: row, .current)
        }
        return values
    }

    func created(_ edited: SampleRow) throws(RecordFault) -> FieldValues {
        if let field = edited.readOnly.keys.min() { throw readOnly(field, row: edited) }
        var out = FieldValues.none
        for field in edited.values.keys.sorted() {
            out.fields.append(field)
            out.values.append(try value(of: field, in: edited, .edited))
        }
        try checkWritable(out, base: nil, edited)
        return out
    }

    /// Returns the edits of the groups that both sides contain.
    func changed(base: SampleRow, edited: SampleRow) throws(RecordFault) -> [GroupEdit] {
        try checkReadOnly(base, edited: edited)
        var edits: [GroupEdit] = []
        for (index, group) in section.groups.enumerated() where base.mentions(group) && edited.mentions(group) {
            let before = try whole(group, of: base, on: .base)
            let after = try whole(group, of: edited, on: .edited)
            try checkWritable(after, base: before, edited)
            edits.append(
                GroupEdit(group: index, base: .values(before), edited: after, path: edited.path, isRowForm: true))
        }
        return edits
    }

    func deleted(_ base: SampleRow) throws(RecordFault) -> [GroupBase] {
        var bases: [GroupBase] = []
        for (index, group) in section.groups.enumerated() where base.mentions(group) {
            bases.append(GroupBase(group: index, base: try whole(group, of: base, on: .base)))
        }
        return bases
    }

    /// Returns every value of a group, because groups are merged as a whole.
    private func whole(_ group: Group, of row: SampleRow, on side: RecordSide) throws(RecordFault) -> FieldValues {
        try check(group, isWholeIn: row, side)
        var values: [Value] = []
        for field in group.fields { values.append(try value(of: field, in: row, side)) }
        return FieldValues(fields: Array(group.fields), values: values)
    }

    func check(_ group: Group, isWholeIn row: SampleRow, _ side: RecordSide) throws(RecordFault) {
        guard let missing = group.fields.first(where: { row.values[$0] == nil }) else { return }
        let path = row.path.member(section.fields[missing].name)
        throw RecordFault(
            side, at: path,
            reason: group.isBare ? "is missing" : "is missing. The group “\(group.name)” is merged as a whole")
    }

    private func value(of field: Int, in row: SampleRow, _ side: RecordSide) throws(RecordFault) -> Value {
        try value(row.values[field] ?? .null, of: section.fields[field], at: row.path, on: side)
    }

    private func value(
        _ scalar: Scalar, of field: Field, at path: WirePath, on side: RecordSide
    ) throws(RecordFault) -> Value {
        do throws(ValueProblem) {
            return try section.columns[field.column].accept(scalar)
        } catch {
            throw RecordFault(side, at: path.member(field.name), reason: error.reason)
        }
    }

    /// Refuses values that are never written, unless they repeat the base.
    private func checkWritable(
        _ edited: FieldValues, base: FieldValues?, _ row: SampleRow
    ) throws(RecordFault) {
        for (position, (field, value)) in zip(edited.fields, edited.values).enumerated() {
            let type = section.type(ofField: field)
            if base?.values[position] == value { continue }
            guard var problem = type.forbidsWriting(value) else { continue }
            do throws(ValueProblem) {
                // The column type has the better error message.
                _ = try type.accept(row.values[field] ?? .null)
            } catch {
                problem = error
            }
            throw RecordFault(.edited, at: row.path.member(section.fields[field].name), reason: problem.reason)
        }
    }

    /// Refuses changes to read-only fields; clients that send whole rows send these fields unchanged.
    private func checkReadOnly(_ base: SampleRow, edited: SampleRow) throws(RecordFault) {
        for field in edited.readOnly.keys.sorted() {
            guard let before = base.readOnly[field],
                try value(before, of: section.readOnly[field], at: base.path, on: .base)
                    == value(edited.readOnly[field] ?? .null, of: section.readOnly[field], at: edited.path, on: .edited)
            else { throw readOnly(field, row: edited) }
        }
    }

    private func readOnly(_ field: Int, row: SampleRow) -> RecordFault {
        RecordFault(
            .edited, at: row.path.member(section.readOnly[field].name), reason: "is read-only; the database sets it")
    }
}
