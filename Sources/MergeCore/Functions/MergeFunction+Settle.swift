extension MergeFunction {
    /// Resolves a conflict from the values.
    ///
    /// If the function cannot run within the budget or at all, the group's `on-conflict` decides.
    func settle(_ meeting: Meeting, spending budget: inout WorkBudget) -> Settlement {
        if case .latest(let field) = self { return Self.latest(meeting, field) }
        guard let type = meeting.types.first, let edited = meeting.edited.first, let current = meeting.current.first
        else { return .undecided("the group has no field") }
        if let obstacle = meeting.obstacle(at: 0) { return .undecided(obstacle) }
        let base: Value?
        switch meeting.base {
        case .values(let values)?: base = values.first
        case nil: base = nil
        case .digest?:
            guard !needsBase else { return .undecided("it needs the base, of which only the digest was sent") }
            base = nil
        }
        if base == nil, needsBase, self != .set { return .undecided("the row was created without a base") }
        let settlement: Settlement
        switch self {
        case .add: settlement = Self.add(base: base, edited: edited, current: current, type: type)
        case .max: settlement = Self.extreme(edited: edited, current: current, type: type, wantsGreater: true)
        case .min: settlement = Self.extreme(edited: edited, current: current, type: type, wantsGreater: false)
        case .set: settlement = Self.set(base: base, edited: edited, current: current, type: type)
        case .text:
            settlement = Self.text(
                base: base, edited: edited, current: current, favouring: meeting.favouring, spending: &budget)
        case .json(let key):
            settlement = Self.json(
                base: base, edited: edited, current: current, itemKey: key, favouring: meeting.favouring,
                spending: &budget)
        case .latest: return .undecided("the group has no field")
        }
        if case .combined(let values, _) = settlement, let value = values.first, value != current, !type.holds(value) {
            return .undecided("the column cannot store the combined value")
        }
        return settlement
    }

    private var needsBase: Bool {
        switch self {
        case .add, .set, .text, .json: true
        case .max, .min, .latest: false
        }
    }

    private static func add(base: Value?, edited: Value, current: Value, type: ColumnType) -> Settlement {
        guard let base, let sum = AddMerge.merge(base: base, edited: edited, current: current, type: type) else {
            return .undecided("the column cannot store the sum")
        }
        return .combined([sum], [])
    }

    private static func extreme(
        edited: Value, current: Value, type: ColumnType, wantsGreater: Bool
    ) -> Settlement {
        guard let editedIsLess = edited.precedes(current, in: type) else {
            return .undecided("the values have no order")
        }
        return .combined([editedIsLess == wantsGreater ? current : edited], [])
    }

    private static func set(base: Value?, edited: Value, current: Value, type: ColumnType) -> Settlement {
        switch (base, edited, current) {
        case (nil, .members(let edited), .members(let current)):
            return .combined([.members(type.arranged(SetMerge.merge(base: nil, edited: edited, current: current)))], [])
        case (.members(let base)?, .members(let edited), .members(let current)):
            return .combined(
                [.members(type.arranged(SetMerge.merge(base: base, edited: edited, current: current)))], [])
        case (_, .json(let edited), .json(let current)):
            var held: [JSONTree]?
            if case .json(let base)? = base {
                held = base.scalars
                if held == nil { return .undecided("the base is not an array of scalars") }
            }
            guard let edited = edited.scalars, let current = current.scalars else {
                return .undecided("a value is not an array of scalars")
            }
            return .combined([.json(.array(SetMerge.merge(base: held, edited: edited, current: current)))], [])
        default: return .undecided("the values are not sets")
        }
    }

    private static func text(
        base: Value?, edited: Value, current: Value, favouring: MergeSide, spending budget: inout WorkBudget
    ) -> Settlement {
        guard case .text(let base)? = base, case .text(let edited) = edited, case .text(let current) = current else {
            return .undecided("the values are not texts")
        }
        let result: TextMergeResult
        do throws(WorkSpent) {
            result = try TextMerge.merge(
                base: base.string, edited: edited.string, current: current.string, favouring: favouring,
                spending: &budget)
        } catch {
            return .undecided(tooMuchWork)
        }
        guard result.parts.count <= PartLimits.count else { return .undecided(tooManyParts) }
        let parts = result.parts.map { part in
            MergedPart(
                place: .line(part.line), winner: favouring, base: .text(ExactText(part.base)),
                current: .text(ExactText(part.current)), edited: .text(ExactText(part.edited)),
                written: .text(ExactText(part.written)))
        }
        return .combined([.text(ExactText(result.text))], parts)
    }

    private static let tooMuchWork = "it takes more work than one push may ask for"
    private static let tooManyParts = "both sides changed too many of the same parts to name each"

    private static func json(
        base: Value?, edited: Value, current: Value, itemKey: ExactText?, favouring: MergeSide,
        spending budget: inout WorkBudget
    ) -> Settlement {
        guard case .json(let base)? = base, case .json(let edited) = edited, case .json(let current) = current else {
            return .undecided("the values are not JSON")
        }
        let result: JSONMergeResult
        do throws(JSONMergeFault) {
            guard
                let merged = try JSONMerge.merge(
                    base: base, edited: edited, current: current, itemKey: itemKey, favouring: favouring,
                    spending: &budget)
            else { return .undecided("not all three are objects") }
            result = merged
        } catch {
            return .undecided(error == .workSpent ? tooMuchWork : tooManyParts)
        }
        let parts = result.parts.map { part in
            MergedPart(
                place: .member(part.path), winner: favouring, base: part.base, current: part.current,
                edited: part.edited, written: part.written)
        }
        return .combined([.json(result.tree)], parts)
    }

    private static func latest(_ meeting: Meeting, _ field: Int) -> Settlement {
        guard meeting.types.indices.contains(field) else { return .undecided("the group has no such field") }
        let (edited, current) = (meeting.edited[field], meeting.current[field])
        if edited == current { return .undecided("both sides have the same time") }
        for (name, side) in [("edited", edited), ("current", current)] where meeting.types[field].isForeign(side) {
            return .undecided("the \(name) value does not have the column's type")
        }
        // A missing time is the earlier time.
        if edited.isNull { return .side(.server) }
        if current.isNull { return .side(.client) }
        guard let editedIsEarlier = edited.precedes(current, in: meeting.types[field]) else {
            return .undecided("the times cannot be compared")
        }
        return .side(editedIsEarlier ? .server : .client)
    }
}

extension JSONTree {
    /// The elements of an array of scalars, or nil for any other value.
    fileprivate var scalars: [JSONTree]? {
        guard case .array(let elements) = self else { return nil }
        let isPlain = elements.allSatisfy { element in
            switch element {
            case .array, .object: false
            case .null, .boolean, .integer, .double, .text: true
            }
        }
        return isPlain ? elements : nil
    }
}
