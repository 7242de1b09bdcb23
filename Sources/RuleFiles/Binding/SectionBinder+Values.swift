import MergeCore
import RecordStore

/// Binds `values`, the stored values of a boolean.
extension SectionBinder {
    mutating func refuse(_ values: RuleBooleanCode, of column: String) {
        findings.error(
            values.place, "column “\(column)” identifies or links rows, so it cannot have “values”; leave out “values”")
    }

    mutating func code(_ values: RuleBooleanCode, of column: ColumnSchema) -> ColumnType? {
        if keyed.contains(column.name) {
            refuse(values, of: column.name)
            return nil
        }
        let types = (column.types + column.explicitTypes).filter(\.storesCodes)
        guard let first = types.first else {
            findings.error(
                values.place,
                "column “\(column.name)” of type \(column.declaredType) cannot have “values”; they need a text, ENUM, "
                    + "integer, decimal or BIT column")
            return nil
        }
        // A column of an unknown type offers several types.
        let type = types.first { values.yes.value.code(in: $0) != nil && values.no.value.code(in: $0) != nil } ?? first
        guard let yes = code(values.yes, in: type, of: column), let no = code(values.no, in: type, of: column) else {
            return nil
        }
        if yes == no {
            findings.error(values.no.place, "“true” and “false” of “values” are the same value; write two values")
            return nil
        }
        let coded = ColumnType.coded(BooleanCode(type: type, yes: yes, no: no))
        if let position = positions[column.name], columns[position].type != coded {
            findings.error(
                values.place, "another field reads column “\(column.name)” in another way; give both the same “values”")
            return nil
        }
        return coded
    }

    private mutating func code(_ constant: Placed<RuleConstant>, in type: ColumnType, of column: ColumnSchema) -> Value?
    {
        if let value = constant.value.code(in: type) { return value }
        findings.error(
            constant.place,
            "column “\(column.name)” of type \(column.declaredType) cannot store “\(constant.value.text)”")
        return nil
    }
}

extension RuleConstant {
    fileprivate func code(in type: ColumnType) -> Value? {
        value(in: type).flatMap { type.forbidsWriting($0) == nil ? $0 : nil }
    }
}

extension ColumnType {
    var isCoded: Bool {
        if case .coded = self { true } else { false }
    }

    fileprivate var storesCodes: Bool {
        switch self {
        case .integer, .bit, .decimal, .numeric, .text, .enumeration: true
        default: false
        }
    }
}
