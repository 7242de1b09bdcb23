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
        guard let type = column.type(storing: values) else {
            findings.error(
                values.place,
                "column “\(column.name)” of type \(column.declaredType) cannot have “values”; they need a text, ENUM, "
                    + "integer, decimal or BIT column")
            return nil
        }
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

extension ColumnSchema {
    /// Returns the type of the stored values of a boolean; nil if the column cannot have `values`.
    fileprivate func type(storing values: RuleBooleanCode) -> ColumnType? {
        // A column of an unknown type offers several types.
        let types = (types + explicitTypes).filter(\.storesCodes)
        return types.first { values.yes.value.code(in: $0) != nil && values.no.value.code(in: $0) != nil }
            ?? types.first
    }

    /// Returns the type that a field gives to the column; nil for none, and if the field's rules are wrong.
    func type(givenBy field: RuleField) -> ColumnType? {
        if let values = field.values {
            guard let type = type(storing: values), let yes = values.yes.value.code(in: type),
                let no = values.no.value.code(in: type), yes != no
            else { return nil }
            return .coded(BooleanCode(type: type, yes: yes, no: no))
        }
        guard let named = field.type?.value, let type = (types + explicitTypes).first(where: { $0.name == named })
        else { return nil }
        return type.separated(by: field.separator?.value)
    }
}

extension ColumnType {
    /// Returns the type with the separator of the rules, if it is a delimited set.
    func separated(by separator: String?) -> ColumnType {
        guard case .delimitedSet(_, let text) = self else { return self }
        return .delimitedSet(separator: separator ?? ",", text)
    }
}

extension RuleConstant {
    fileprivate func code(in type: ColumnType) -> Value? {
        value(in: type).flatMap { type.forbidsWriting($0) == nil ? $0 : nil }
    }
}

extension ColumnType {
    fileprivate var storesCodes: Bool {
        switch self {
        case .integer, .bit, .decimal, .numeric, .text, .enumeration: true
        default: false
        }
    }
}
