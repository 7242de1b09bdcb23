import MergeCore
import RecordStore

/// Explains a violated constraint to the client: its name, its fields and, for a collision, the other row.
struct ConstraintExplainer {
    let row: EditedRow
    let run: RunEnvironment

    private var shape: Section { row.section }
    private var table: TableSchema? { run.active.schema.tables[shape.table] }

    /// Explains a violated constraint.
    ///
    /// - Parameters:
    ///   - assignments: the columns of the refused write.
    ///   - current: the current row; nil for an insertion.
    /// - Returns: the refusal of the row's edit.
    /// - Throws: `RunAgain` if the colliding row is new and the push can be merged with it; `StoreError`.
    func refusal(
        _ violation: ConstraintViolation, assignments: [Assignment], current: [Value]?
    ) throws(PushStop) -> PushStop {
        var problem = Problem(
            violation.kind.problem, detail: "", path: row.edit.path, retry: .never, constraint: violation.name)
        problem.cause = violation.words
        switch violation.kind {
        case .unique:
            return .refused(
                row.index, try collision(problem, violation: violation, assignments: assignments, current: current))
        case .foreignKey:
            let columns = foreignColumns(violation, assignments: assignments)
            problem.fields = names(columns)
            problem.detail = "A row that these fields refer to does not exist\(constraint(violation))."
        case .referenced:
            problem.detail = "Other rows still refer to this one\(constraint(violation))."
        case .check:
            problem.fields = names(checkColumns(violation))
            problem.detail = "A check of the database fails\(constraint(violation))."
        case .notNull:
            problem.fields = names(violation.columns)
            problem.detail = "The database needs a value\(needed(violation.columns)), and none was given."
        case .value:
            problem.fields = names(violation.columns)
            problem.detail = "The database cannot store a value."
        case .trigger:
            problem.detail = violation.sentence ?? "A trigger of the database refused the write."
        case .exhausted:
            problem.fields = ["id"]
            problem.detail =
                "The database numbers these rows and has no number left. An operator must enlarge the column."
        }
        return .refused(row.index, problem)
    }

    private func constraint(_ violation: ConstraintViolation) -> String {
        violation.name.map { " (constraint “\($0)”)" } ?? ""
    }

    /// Columns without a field are left out.
    private func names(_ columns: [String]) -> [String] {
        columns.compactMap { column in
            (shape.fields + shape.readOnly).first { shape.columns[$0.column].name == column }?.name
                ?? (shape.columns.prefix(shape.keyCount).contains { $0.name == column } ? "id" : nil)
        }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Columns without a field are named too, because only their names explain the failed insertion.
    private func needed(_ columns: [String]) -> String {
        let known = names(columns)
        if !known.isEmpty { return " in " + known.map { "“\($0)”" }.joined(separator: " and ") }
        guard !columns.isEmpty else { return " here" }
        return " in the column " + columns.map { "“\($0)”" }.joined(separator: " and ")
            + ", which the rules do not name"
    }

    private func foreignColumns(_ violation: ConstraintViolation, assignments: [Assignment]) -> [String] {
        if !violation.columns.isEmpty { return violation.columns }
        let written = Set(assignments.map { shape.columns[$0.column].name })
        let keys = table?.foreignKeys.filter { key in
            violation.name.map { $0 == key.name } ?? !written.isDisjoint(with: key.columns)
        }
        return keys?.flatMap(\.columns) ?? []
    }

    private func checkColumns(_ violation: ConstraintViolation) -> [String] {
        guard let name = violation.name else { return [] }
        // If the schema contains no text of the check, its name may be the text (SQLite).
        let clause = table?.checks[name] ?? name
        let words = Set(
            clause.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }.map(String.init))
        return shape.columns.map(\.name).filter { words.contains($0) || clause.contains("`\($0)`") }
    }

    // MARK: Two rows under one unique index

    private func collision(
        _ start: Problem, violation: ConstraintViolation, assignments: [Assignment], current: [Value]?
    ) throws(PushStop) -> Problem {
        var problem = start
        let index = table?.uniqueIndexes.first { index in
            violation.name.map { $0 == index.name } ?? (index.columns == violation.columns)
        }
        let columns = index?.columns ?? violation.columns
        problem.index = index?.name ?? violation.name
        problem.constraint = nil
        problem.fields = names(columns)
        problem.topic = .otherRow
        problem.detail = "A unique index (“\(problem.index ?? "?")”) allows these values only once."
        let other = try run.reading { () throws(StoreError) in
            try rowInTheWay(of: columns, assignments: assignments, current: current).map { row throws(StoreError) in
                (row: row, place: try place(of: row))
            }
        }
        guard let (found, place) = other else { return problem }
        let isKey = !columns.isEmpty && Set(columns) == Set(shape.columns.prefix(shape.keyCount).map(\.name))
        let identity = Set((shape.identity?.value ?? []).map { shape.columns[$0].name })
        let isNatural = !columns.isEmpty && !identity.isEmpty && Set(columns).isSubset(of: identity)
        // A creation finds a row whose key the collation equates; other edits find only the exact key.
        let isFindable =
            row.edit.isCreation
            || assignments.allSatisfy { part in
                part.column >= shape.keyCount || found[part.column] == part.value
            }
        if current == nil, isFindable, isKey || isNatural, place != nil, isSameRecord(found, assignments: assignments),
            run.mode.mayLookAgain
        {
            // The row was created after the search for it, so the next run can merge with it.
            throw .again(.lookAgain)
        }
        problem.rowInTheWay = place
        return problem
    }

    private func isSameRecord(_ found: [Value], assignments: [Assignment]) -> Bool {
        shape.parent.allSatisfy { link in
            assignments.contains { $0.column == link.column && $0.value == found[link.column] }
        }
    }

    private func rowInTheWay(
        of columns: [String], assignments: [Assignment], current: [Value]?
    ) throws(StoreError) -> [Value]? {
        var positions: [Int] = []
        var values: [Value] = []
        for name in columns {
            guard let position = shape.columns.firstIndex(where: { $0.name == name }) else { return nil }
            guard let value = assignments.first(where: { $0.column == position })?.value ?? current?[position],
                !value.isNull
            else { return nil }
            positions.append(position)
            values.append(value)
        }
        guard !positions.isEmpty else { return nil }
        let rows = try run.session.query(
            run.sql(shape).select(where: positions, in: [values], locking: true))
        return rows.first { found in current.map { shape.key(of: $0) != shape.key(of: found) } ?? true }
    }

    /// Returns the client's name for the row; nil if its record is missing or hidden from the client.
    private func place(of found: [Value]) throws(StoreError) -> RowPlace? {
        let resource = row.resource
        if row.edit.section == 0 {
            if let view = run.view(of: row.index), !view.shows(found) { return nil }
            return RowPlace(resource: resource, record: shape.key(of: found))
        }
        let root = resource.root
        let reader = RecordReader(resource: resource, session: run.session, dialect: run.dialect, rowsPerRecord: 1)
        let owners = try reader.rows(
            of: root, where: shape.parent.map(\.rootColumn), in: [shape.parent.map { found[$0.column] }], locking: false
        )
        guard let owner = owners.first else { return nil }
        if let view = run.view(of: row.index), !view.sight(view.grants(on: owner)).sections[row.edit.section].isGiven {
            return nil
        }
        return RowPlace(
            resource: resource, record: root.key(of: owner), section: row.edit.section,
            item: shape.kind == .list ? shape.key(of: found) : nil)
    }
}
