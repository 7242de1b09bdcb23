import MergeCore

extension PushPlan {
    /// Returns the positions of edits in the order in which they run.
    ///
    /// An edit that names a row which a later edit creates waits for that edit. Edits of one row keep their order,
    /// unless their needs contradict it.
    ///
    /// - Parameter needs: for each edit, the edits that create rows which it names; without circles.
    static func order(of edits: [Edit], needs: [Set<Int>]) -> [Int] {
        let tables = tablesWithSeveralKeys(edits)
        for tables in tables.isEmpty ? [[]] : [tables, []] {
            let earlier = earlierEdits(of: edits, oneRowIn: tables)
            let together = waiting(for: zip(needs, earlier).map { $0.union($1) })
            if together.count == edits.count { return together }
        }
        return waiting(for: needs)
    }

    /// Returns, for each edit, the last earlier edits of the same rows.
    ///
    /// - Parameter tables: tables whose rows count as one row, because two keys may name the same row.
    private static func earlierEdits(of edits: [Edit], oneRowIn tables: Set<TableName>) -> [Set<Int>] {
        var last: [NamedRow: Int] = [:]
        return edits.enumerated().map { index, edit in
            var found: Set<Int> = []
            for row in edit.namedRows {
                let table = row.section.table
                guard let key = tables.contains(table) ? [] : row.key else { continue }
                let name = NamedRow(table: table, key: key)
                if let earlier = last.updateValue(index, forKey: name), earlier != index { found.insert(earlier) }
            }
            return found
        }
    }

    /// Returns the tables whose rows the edits find by different columns, or by one column in different types.
    private static func tablesWithSeveralKeys(_ edits: [Edit]) -> Set<TableName> {
        var keys: [TableName: Set<[Column]>] = [:]
        for row in edits.flatMap(\.namedRows) {
            keys[row.section.table, default: []].insert(row.section.addressColumns)
        }
        return Set(keys.filter { $0.value.count > 1 }.keys)
    }

    /// A topological order that prefers earlier edits; edits that depend on a circle are left out.
    private static func waiting(for needs: [Set<Int>]) -> [Int] {
        var open = needs.map(\.count)
        var dependents: [Int: [Int]] = [:]
        for (index, needed) in needs.enumerated() {
            for other in needed { dependents[other, default: []].append(index) }
        }
        var order: [Int] = []
        // Edits whose needs are met, in descending order, because the first is removed from the end.
        var ready: [Int] = []
        for start in needs.indices where open[start] == 0 {
            ready.append(start)
            while let next = ready.popLast() {
                order.append(next)
                for dependent in dependents[next] ?? [] {
                    open[dependent] -= 1
                    // The outer loop reaches later edits itself.
                    guard open[dependent] == 0, dependent < start else { continue }
                    ready.insert(dependent, at: ready.firstIndex { $0 < dependent } ?? ready.endIndex)
                }
            }
        }
        return order
    }
}

private struct NamedRow: Hashable {
    let table: TableName
    /// The parts of the key, which may be temporary ids; empty if all rows of the table count as one.
    let key: [KeyPart]
}

extension Edit {
    /// The rows that an edit names; a key is nil if only the record names the row.
    ///
    /// Rows are left out if the edit creates them with a number of the database.
    fileprivate var namedRows: [(section: Section, key: [KeyPart]?)] {
        var named: [(section: Section, key: [KeyPart]?)] = []
        if !createsRecord || id.key != nil { named.append((resource.root, id.parts)) }
        for row in rows {
            if case .create = row.action, row.id?.key == nil { continue }
            named.append((resource.sections[row.section], row.id?.parts))
        }
        return named
    }
}
