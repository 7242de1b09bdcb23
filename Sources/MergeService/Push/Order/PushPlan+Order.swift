import MergeCore

extension PushPlan {
    /// Returns the positions of edits in the order in which they run.
    ///
    /// An edit that names a row which a later edit creates waits for that edit. Edits of one row keep their order,
    /// unless their needs contradict it.
    ///
    /// - Parameter needs: for each edit, the edits that create rows which it names; without circles.
    static func order(of edits: [Edit], needs: [Set<Int>]) -> [Int] {
        let earlier = earlierEdits(of: edits)
        let together = waiting(for: zip(needs, earlier).map { $0.union($1) })
        return together.count == edits.count ? together : waiting(for: needs)
    }

    /// Returns, for each edit, the last earlier edits of the same rows.
    private static func earlierEdits(of edits: [Edit]) -> [Set<Int>] {
        var last: [RowReference: Int] = [:]
        return edits.enumerated().map { index, edit in
            var found: Set<Int> = []
            var rows = edit.rows.map { (edit.resource.sections[$0.section], $0.id?.key) }
            rows.append((edit.resource.root, edit.id.key))
            for (section, key) in rows {
                guard let key else { continue }
                let row = RowReference(table: section.table.name.lowercased(), key: key)
                if let earlier = last.updateValue(index, forKey: row), earlier != index { found.insert(earlier) }
            }
            return found
        }
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
