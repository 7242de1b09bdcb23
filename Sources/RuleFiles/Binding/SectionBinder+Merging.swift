import MergeCore
import RecordStore

/// Binds the rules about merging groups and rows. `NameCheck` has checked their names.
extension SectionBinder {
    /// Returns the group's merge function, if it supports the type of the field.
    mutating func function(of group: RuleGroup, _ fields: ArraySlice<Field>) -> Ruled<MergeFunction>? {
        guard let merge = group.merge else { return nil }
        if case .latest(let field) = merge.value { return latest(field, at: merge.place, fields: fields) }
        let name = if case .plain(let plain) = merge.value { plain.rawValue } else { "json" }
        guard fields.count == 1, let field = fields.first else { return nil }
        let type = columns[field.column].type
        let function: MergeFunction
        switch merge.value {
        case .plain(.add): function = .add
        case .plain(.max): function = .max
        case .plain(.min): function = .min
        case .plain(.set): function = .set
        case .plain(.text): function = .text
        case .plain(.json): function = .json(itemKey: nil)
        case .json(let key): function = .json(itemKey: ExactText(key))
        case .latest: return nil
        }
        guard Self.serves(function, of: type) else {
            findings.error(
                merge.place,
                "“merge: \(name)” serves \(Self.served(by: function)), and column “\(columns[field.column].name)” is of "
                    + "type \(type.name)\(Self.advice(function, of: type))")
            return nil
        }
        if case .add = function, type.isApproximate {
            findings.warning(
                merge.place,
                "column “\(columns[field.column].name)” is a \(type.name), which stores few sums exactly. If it does not, "
                    + "on-conflict decides")
        }
        return Ruled(function, rule: merge.place.rule)
    }

    /// Returns the allowed next values for each value of a group of one field.
    mutating func transitions(of group: RuleGroup, _ fields: ArraySlice<Field>) -> Ruled<[Value: Set<Value>]>? {
        guard let named = group.transitions, fields.count == 1, let field = fields.first else { return nil }
        let column = columns[field.column]
        var steps: [Value: Set<Value>] = [:]
        for transition in named.value {
            guard let from = value(transition.from, of: column) else { continue }
            if steps[from] != nil {
                findings.error(transition.from.place, "“\(transition.from.value.text)” is in “transitions” already")
            }
            steps[from] = Set(transition.to.compactMap { written($0, of: column) })
        }
        return Ruled(steps, rule: named.place.rule)
    }

    /// Returns a constant as a value that can be written to a column.
    mutating func written(_ constant: Placed<RuleConstant>, of column: Column) -> Value? {
        guard let value = value(constant, of: column) else { return nil }
        guard let problem = column.type.forbidsWriting(value) else { return value }
        findings.error(
            constant.place,
            "“\(constant.value.text)” cannot be written to column “\(column.name)”: it \(problem.reason)")
        return nil
    }

    /// Returns a constant as a value that a column can contain.
    mutating func value(_ constant: Placed<RuleConstant>, of column: Column) -> Value? {
        if let value = constant.value.value(in: column.type) { return value }
        findings.error(
            constant.place,
            "column “\(column.name)” is of type \(column.type.name) and cannot store “\(constant.value.text)”")
        return nil
    }

    private mutating func latest(
        _ named: Placed<String>, at place: Place, fields: ArraySlice<Field>
    ) -> Ruled<MergeFunction>? {
        guard let position = fields.firstIndex(where: { $0.name == named.value }) else { return nil }
        let column = columns[fields[position].column]
        switch column.type {
        case .date, .dateTime, .timestamp:
            return Ruled(.latest(field: position - fields.startIndex), rule: place.rule)
        default:
            findings.error(
                named.place,
                "“latest” needs a timestamp, and column “\(column.name)” is of type \(column.type.name), none of date, "
                    + "datetime and timestamp")
            return nil
        }
    }

    private static func serves(_ function: MergeFunction, of type: ColumnType) -> Bool {
        switch (function, type) {
        case (.add, _): type.isNumber
        case (.max, _), (.min, _): type.isOrdered
        case (.set, .set), (.set, .delimitedSet), (.set, .json): true
        case (.text, .text): true
        case (.json, .json): true
        default: false
        }
    }

    private static func served(by function: MergeFunction) -> String {
        switch function {
        case .add: "numbers"
        case .max, .min: "types that have an order"
        case .set: "sets and JSON arrays"
        case .text: "text"
        case .json: "JSON"
        case .latest: "timestamps"
        }
    }

    private static func advice(_ function: MergeFunction, of type: ColumnType) -> String {
        guard case .text = type else { return "" }
        switch function {
        case .set: return "; “type: set” makes a set of a delimited text"
        case .json: return "; “type: json” makes JSON of a text"
        default: return ""
        }
    }

    mutating func identity(key: [String], parents: Set<String>, covered: Set<String>) -> Ruled<[Int]>? {
        guard let first = rules.identity.first else { return nil }
        var positions: [Int] = []
        for column in rules.identity {
            guard let position = add(column.value, column.place) else { continue }
            positions.append(position)
            adviseOnIdentity(columns[position], place: column.place)
            if !covered.contains(column.value), !parents.contains(column.value), !key.contains(column.value),
                !supplied.contains(column.value)
            {
                findings.warning(
                    column.place,
                    "column “\(column.value)” is in no group and set for no role, so no client that creates a row can send "
                        + "it, and none is recognised")
            }
        }
        let named = Set(rules.identity.map(\.value)).union(parents)
        let isUnique = table.uniqueIndexes.contains { Set($0.columns).isSubset(of: named) }
        if positions.count == rules.identity.count, !isUnique {
            findings.warning(
                first.place,
                "no unique index of table “\(table.name)” has these columns, so two devices that create the row at the same "
                    + "time both insert it, and a later creation that finds both is refused")
        }
        return Ruled(positions, rule: first.place.rule)
    }

    /// Warns of private fields, whose values a restored row lacks.
    mutating func adviseOnRestoring(_ policy: Placed<MissingPolicy>, _ fields: [Field]) {
        let names = fields.filter(\.isPrivate).map { "“\($0.name)”" }
        guard policy.value == .restore, !names.isEmpty else { return }
        findings.warning(
            policy.place,
            "a restored row has the database's default in \(names.joined(separator: ", ")), because the journal contains no "
                + "values of private fields")
    }

    private mutating func adviseOnIdentity(_ column: Column, place: Place) {
        guard !references.schema.isGuessed, let declared = table.column(column.name) else { return }
        if column.type.comparison == nil {
            findings.error(
                place,
                "values of column “\(column.name)” (\(declared.declaredType)) cannot be found exactly, so they recognise no row"
            )
        } else if column.type.comparison == .text, declared.collation?.isExact == false {
            collations.note("“\(column.name)” of table “\(table.name)”", place)
        }
    }

    mutating func softDelete(key: [String]) -> Ruled<[SQLAssignment]>? {
        guard let delete = rules.softDelete else { return nil }
        for assignment in delete.assignments {
            let name = assignment.column.value
            guard let column = table.column(name) else {
                missing(assignment.column)
                continue
            }
            if let owned = column.serverOwned {
                findings.error(assignment.column.place, "column “\(name)” cannot be written, because \(owned)")
            } else if key.contains(name) {
                findings.error(assignment.column.place, "column “\(name)” is the key, which a deletion cannot change")
            } else if !references.schema.isGuessed, let fault = SQLLiteral(assignment.sql.value)?.fault(in: column) {
                findings.error(
                    assignment.sql.place,
                    "column “\(name)” of type \(column.declaredType) cannot store this value: \(fault)")
            }
        }
        let clause = rules.visibility?.value ?? ""
        if !delete.assignments.contains(where: { SQLWords.mention($0.column.value, in: clause) }) {
            findings.warning(
                delete.place,
                "no “where” tests the columns that “delete” sets, so clients still see deleted rows")
        }
        return Ruled(
            delete.assignments.map { SQLAssignment(column: $0.column.value, sql: $0.sql.value) },
            rule: delete.place.rule)
    }

    mutating func checks(_ fields: [Field]) -> [RowCheck] {
        rules.checks.map { check in
            var positions = check.fields.compactMap { name in fields.firstIndex { $0.name == name.value } }
            if check.fields.isEmpty {
                positions = fields.indices.filter { field in
                    SQLWords.mention(columns[fields[field].column].name, in: check.sql.value)
                }
                if positions.isEmpty, check.onFailure == .serverWins {
                    findings.error(
                        check.name.place,
                        "“on-failure: server-wins” takes the check's fields back, and this check names none")
                }
            }
            return RowCheck(
                name: check.name.value, sql: check.sql.value, fields: positions, onFailure: check.onFailure,
                rule: check.name.place.rule)
        }
    }
}

extension ColumnType {
    fileprivate var isApproximate: Bool {
        switch self {
        case .float, .double: true
        default: false
        }
    }
}
