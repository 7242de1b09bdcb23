package import MergeCore

/// The order in which the edits and rows of a push run.
///
/// They run as sent, except that an edit waits for the edits that create rows which it names.
package struct PushPlan: Sendable {
    final class Step: Sendable {
        let index: Int
        let edit: Edit
        let rows: [RowEdit]
        /// Positions of the edits that create rows which this edit names.
        let needs: Set<Int>

        init(index: Int, edit: Edit, rows: [RowEdit], needs: Set<Int>) {
            self.index = index
            self.edit = edit
            self.rows = rows
            self.needs = needs
        }
    }

    let push: Push
    let steps: [Step]
    /// Positions of the edits that depend on an earlier, refused push of the same request.
    let orphans: Set<Int>

    var resources: [Resource] {
        var resources: [Resource] = []
        for step in steps where !resources.contains(where: { $0 === step.edit.resource }) {
            resources.append(step.edit.resource)
        }
        return resources
    }

    /// Plans a push.
    ///
    /// - Throws: a 400 `Problem` if a temporary id is created twice, nowhere, or in a circle.
    package init(_ push: Push) throws(Problem) {
        self.push = push
        let creations = try Creations(push)
        if creations.edits.isEmpty, push.edits.count == 1, push.edits[0].rows.count == 1 {
            let edit = push.edits[0]
            if let id = edit.namedIDs.first(where: { !push.refused.contains($0) }) {
                throw Self.unknown(id, at: edit.path)
            }
            orphans = edit.namedIDs.isEmpty ? [] : [0]
            steps = [Step(index: 0, edit: edit, rows: edit.rows, needs: [])]
            return
        }
        var needs: [Set<Int>] = []
        var orphans: Set<Int> = []
        var rows: [[RowEdit]] = []
        for (index, edit) in push.edits.enumerated() {
            var needed: Set<Int> = []
            for id in edit.namedIDs {
                guard let creator = creations.edits[id] else {
                    guard push.refused.contains(id) else { throw Self.unknown(id, at: edit.path) }
                    orphans.insert(index)
                    continue
                }
                if creator != index { needed.insert(creator) }
            }
            needs.append(needed)
            rows.append(try Self.ordered(edit, creations: creations))
        }
        self.orphans = orphans
        var order = Array(push.edits.indices)
        if needs.enumerated().contains(where: { index, needed in needed.contains { $0 > index } }) {
            _ = try Self.order(push.edits.count) {
                Array(needs[$0])
            } circle: { index in
                Self.circle(push.edits[index].path)
            }
            order = Self.order(of: push.edits, needs: needs)
        }
        steps = order.map { Step(index: $0, edit: push.edits[$0], rows: rows[$0], needs: needs[$0]) }
    }

    /// Joins the plans of independent pushes; the edits of each push keep their order.
    init(joining plans: [PushPlan]) {
        var steps: [Step] = []
        var edits: [Edit] = []
        steps.reserveCapacity(plans.count)
        edits.reserveCapacity(plans.count)
        for plan in plans {
            for step in plan.steps {
                steps.append(Step(index: edits.count + step.index, edit: step.edit, rows: step.rows, needs: []))
            }
            edits += plan.push.edits
        }
        push = Push(key: nil, atomicity: .push, edits: edits)
        self.steps = steps
        orphans = []
    }

    /// Deletions of items run first, then the root, then the other items, each after the rows that it names.
    private static func ordered(_ edit: Edit, creations: Creations) throws(Problem) -> [RowEdit] {
        if edit.rows.count == 1, creations.edits.isEmpty { return edit.rows }
        let phased = edit.rows.enumerated().sorted { a, b in
            (a.element.phase, a.offset) < (b.element.phase, b.offset)
        }.map(\.element)
        var creators: [TemporaryID: Int] = [:]
        for (index, row) in phased.enumerated() {
            if let id = row.createdID { creators[id] = index }
        }
        // A creation without a key, or with an identity, may find an existing record. Its key is read after the root row.
        let mayFindRecord = edit.createsRecord && (edit.id.key == nil || edit.resource.root.identity != nil)
        if creators.isEmpty, !mayFindRecord { return phased }
        let root = phased.firstIndex { $0.section == 0 }
        let order = try order(phased.count) { index in
            // A row that needs its own key is the smallest circle; `order` below detects it.
            var needed = phased[index].namedIDs.compactMap { creators[$0] }
            // Items of a new record need its key. Deletions come first unless the creation may find an existing record.
            if let root, root != index, edit.createsRecord, phased[index].phase > 0 || mayFindRecord {
                needed.append(root)
            }
            return needed
        } circle: { index in
            circle(phased[index].path)
        }
        return order.map { phased[$0] }
    }

    /// Returns the stable order in which each element follows those that it needs (depth first, Tarjan 1976).
    private static func order(
        _ count: Int, needs: (Int) -> [Int], circle: (Int) -> Problem
    ) throws(Problem) -> [Int] {
        enum Mark { case new, open, done }
        var marks = [Mark](repeating: .new, count: count)
        var order: [Int] = []
        for start in 0..<count where marks[start] == .new {
            var stack: [(index: Int, rest: [Int])] = [(start, needs(start).sorted())]
            marks[start] = .open
            while let top = stack.last {
                guard let next = top.rest.first else {
                    marks[top.index] = .done
                    order.append(top.index)
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].rest.removeFirst()
                switch marks[next] {
                case .new:
                    marks[next] = .open
                    stack.append((next, needs(next).sorted()))
                case .open: throw circle(next)
                case .done: break
                }
            }
        }
        return order
    }

    private static func circle(_ path: WirePath) -> Problem {
        Problem(
            .temporaryID, about: .circle,
            detail: "Rows that this push creates refer to each other in a circle, so none can be written first.",
            path: path)
    }

    private static func unknown(_ id: TemporaryID, at path: WirePath) -> Problem {
        Problem(.unknownTemporary, detail: "This push does not create a row with the temporary id \(id).", path: path)
    }
}

private struct Creations {
    var edits: [TemporaryID: Int] = [:]

    init(_ push: Push) throws(Problem) {
        for (index, edit) in push.edits.enumerated() {
            for row in edit.rows {
                guard let id = row.createdID else { continue }
                guard edits.updateValue(index, forKey: id) == nil else {
                    throw Problem(
                        .temporaryID, detail: "The temporary id \(id) is created more than once in this push.",
                        path: row.path)
                }
            }
        }
    }
}

extension RowEdit {
    /// Deletions of items have phase 0, the root 1, all other rows 2.
    fileprivate var phase: Int {
        if section == 0 { return 1 }
        if case .delete = action { return 0 }
        return 2
    }

    fileprivate var createdID: TemporaryID? {
        if case .create = action { id?.temporary } else { nil }
    }

    /// Temporary ids that need their key before the decision.
    fileprivate var namedIDs: [TemporaryID] {
        var ids = id?.temporaries ?? []
        switch action {
        case .create(let new): ids += new.pending.map(\.id)
        case .edit(let groups):
            for edit in groups {
                ids += edit.edited.pending.map(\.id)
                if case .values(let base) = edit.base { ids += base.pending.map(\.id) }
            }
        case .delete(let groups): for group in groups { ids += group.base.pending.map(\.id) }
        }
        return ids
    }
}

extension Edit {
    fileprivate var namedIDs: [TemporaryID] {
        var ids = id.temporaries
        for row in rows { ids += row.namedIDs }
        return ids
    }
}

extension RowID {
    fileprivate var temporaries: [TemporaryID] {
        key != nil
            ? []
            : parts.compactMap { part in
                switch part {
                case .temporary(let id), .created(let id, _): id
                case .value, .generated: nil
                }
            }
    }
}
