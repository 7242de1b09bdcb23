/// Merges JSON objects member by member.
///
/// Laws, if the result is not nil (values are compared as `JSONTree`, so member order does not count):
/// - `merge(b, e, b)` is `e`, `merge(b, b, c)` is `c` and `merge(b, x, x)` is `x`, all without parts;
/// - if edited, current and the favoured side are swapped, only the order of items that both sides added or moved
///   changes;
/// - without parts, the favoured side does not matter;
/// - a member or item that only one side changed is as in that side;
/// - each part is as in the favoured side.
package enum JSONMerge {
    /// The depth to which members are merged.
    ///
    /// A deeper value is merged as a whole, so that no input exhausts the stack.
    package static let maximumDepth = 200

    /// Returns the three-way merge of objects or of arrays of items, or nil for one conflict of the whole value.
    ///
    /// Objects are merged by their members. So are two objects that both sides added under one name. Null is a value
    /// and differs from absence. The members keep current's order, and the client's new members follow in the client's
    /// order. A member that one side removed and the other changed is a conflict as a whole.
    ///
    /// An array is a single value, unless `itemKey` is given and all elements on all sides are items. An item is an
    /// object with a unique text, integer or boolean under that key. Items are matched by key and merged as objects.
    /// They keep current's order, or the client's if only the client moved items. An item that only the other side
    /// added follows its predecessor there. Without a predecessor it precedes its successor. Otherwise it comes last.
    ///
    /// - Throws: `tooManyParts` if the parts would exceed `PartLimits`, which is one conflict of the whole value.
    package static func merge(
        base: JSONTree, edited: JSONTree, current: JSONTree, itemKey: ExactText?, favouring: MergeSide,
        spending budget: inout WorkBudget
    ) throws(JSONMergeFault) -> JSONMergeResult? {
        var merger = JSONMerger(itemKey: itemKey, favouring: favouring, budget: budget)
        defer { budget = merger.budget }
        guard let tree = try merger.inside(base: base, edited: edited, current: current, depth: 0) else { return nil }
        return JSONMergeResult(tree: tree, parts: merger.parts)
    }
}

/// One merge during its descent into the trees.
private struct JSONMerger {
    let itemKey: ExactText?
    let favouring: MergeSide
    var parts: [JSONPart] = []
    private var path = JSONPointer()
    private var pathBytes = 0
    private(set) var budget: WorkBudget

    init(itemKey: ExactText?, favouring: MergeSide, budget: WorkBudget) {
        self.budget = budget
        self.itemKey = itemKey
        self.favouring = favouring
    }

    /// Returns the merged value, or nil if the values have to be compared as a whole.
    mutating func inside(
        base: JSONTree?, edited: JSONTree?, current: JSONTree?, depth: Int
    ) throws(JSONMergeFault) -> JSONTree? {
        guard depth < JSONMerge.maximumDepth else { return nil }
        try spend(base, edited, current)
        switch (base, edited, current) {
        case (.none, .object(let edited), .object(let current)):
            return .object(try members(base: JSONMembers([]), edited: edited, current: current, depth: depth))
        case (.object(let base), .object(let edited), .object(let current)):
            return .object(try members(base: base, edited: edited, current: current, depth: depth))
        case (.array(let base), .array(let edited), .array(let current)):
            guard let itemKey, let base = KeyedItems(base, key: itemKey),
                let edited = KeyedItems(edited, key: itemKey), let current = KeyedItems(current, key: itemKey)
            else { return nil }
            return .array(try items(base: base, edited: edited, current: current, depth: depth))
        default: return nil
        }
    }

    /// Spends a step for each element of this level.
    ///
    /// Deeper elements are counted on their own level, or with the whole value if nothing inside it is merged.
    private mutating func spend(_ sides: JSONTree?...) throws(JSONMergeFault) {
        try spend(steps: sides.reduce(1) { $0 + ($1?.width ?? 0) })
    }

    private mutating func spend(steps: Int) throws(JSONMergeFault) {
        do throws(WorkSpent) { try budget.spend(steps) } catch { throw .workSpent }
    }

    private mutating func value(
        base: JSONTree?, edited: JSONTree?, current: JSONTree?, depth: Int
    ) throws(JSONMergeFault) -> JSONTree? {
        if let merged = try inside(base: base, edited: edited, current: current, depth: depth) { return merged }
        // The comparison visits the complete values.
        try spend(steps: (edited?.size ?? 0) + (base?.size ?? 0) + (current?.size ?? 0))
        if edited == current || base == edited { return current }
        if base == current { return edited }
        let written = favouring == .client ? edited : current
        pathBytes += path.byteCount
        guard parts.count < PartLimits.count, pathBytes <= PartLimits.pathBytes else { throw .tooManyParts }
        parts.append(JSONPart(path: path.text, base: base, edited: edited, current: current, written: written))
        return written
    }

    private mutating func members(
        base: JSONMembers, edited: JSONMembers, current: JSONMembers, depth: Int
    ) throws(JSONMergeFault) -> JSONMembers {
        let bases = MemberLookup(base)
        let edits = MemberLookup(edited)
        let currents = MemberLookup(current)
        var merged: [JSONMember] = []
        merged.reserveCapacity(current.list.count)
        for (index, member) in current.list.enumerated() {
            path.append(member.name.string)
            let value = try value(
                base: bases.find(member.name, near: index), edited: edits.find(member.name, near: index),
                current: member.value, depth: depth + 1)
            if let value { merged.append(JSONMember(name: member.name, value: value)) }
            path.removeLast()
        }
        for (index, member) in edited.list.enumerated() where currents.find(member.name, near: index) == nil {
            path.append(member.name.string)
            let value = try value(
                base: bases.find(member.name, near: index), edited: member.value, current: nil, depth: depth + 1)
            if let value { merged.append(JSONMember(name: member.name, value: value)) }
            path.removeLast()
        }
        return JSONMembers(merged)
    }

    private mutating func items(
        base: KeyedItems, edited: KeyedItems, current: KeyedItems, depth: Int
    ) throws(JSONMergeFault) -> [JSONTree] {
        var merged: [JSONTree] = []
        for key in KeyedItems.order(base: base, edited: edited, current: current) {
            path.append(String(merged.count))
            if let item = try value(base: base[key], edited: edited[key], current: current[key], depth: depth + 1) {
                merged.append(item)
            }
            path.removeLast()
        }
        return merged
    }
}

extension JSONTree {
    /// The number of elements one level below.
    fileprivate var width: Int {
        switch self {
        case .array(let elements): elements.count
        case .object(let members): members.list.count
        case .null, .boolean, .integer, .double, .text: 0
        }
    }

    /// The number of values, including this one.
    fileprivate var size: Int {
        switch self {
        case .array(let elements): elements.reduce(1) { $0 + $1.size }
        case .object(let members): members.list.reduce(1) { $0 + $1.value.size }
        case .null, .boolean, .integer, .double, .text: 1
        }
    }
}
