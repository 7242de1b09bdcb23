/// An array of objects that have a unique scalar under one key.
struct KeyedItems {
    let keys: [JSONTree]
    private let positions: [JSONTree: Int]
    private let elements: [JSONTree]

    /// Returns nil if an element is no object, lacks the key or repeats another element's key.
    init?(_ elements: [JSONTree], key name: ExactText) {
        var keys: [JSONTree] = []
        var positions: [JSONTree: Int] = [:]
        for (index, element) in elements.enumerated() {
            guard case .object(let members) = element,
                let key = members.list.first(where: { $0.name == name })?.value, Self.tellsApart(key),
                positions.updateValue(index, forKey: key) == nil
            else { return nil }
            keys.append(key)
        }
        self.keys = keys
        self.positions = positions
        self.elements = elements
    }

    private static func tellsApart(_ key: JSONTree) -> Bool {
        switch key {
        case .text, .integer, .boolean: true
        case .null, .double, .array, .object: false
        }
    }

    subscript(key: JSONTree) -> JSONTree? { positions[key].map { elements[$0] } }

    private func contains(_ key: JSONTree) -> Bool { positions[key] != nil }

    /// Returns the keys of both sides in the order of the merged items, including removed items.
    static func order(base: KeyedItems, edited: KeyedItems, current: KeyedItems) -> [JSONTree] {
        let isShared = { (key: JSONTree) in base.contains(key) && edited.contains(key) && current.contains(key) }
        let before = base.keys.filter(isShared)
        let hasClientMoved = edited.keys.filter(isShared) != before
        let hasServerMoved = current.keys.filter(isShared) != before
        return hasClientMoved && !hasServerMoved ? edited.joined(by: current) : current.joined(by: edited)
    }

    /// Inserts the keys that only the other side contains, each after its predecessor there.
    private func joined(by other: KeyedItems) -> [JSONTree] {
        var leading: [JSONTree: [JSONTree]] = [:]
        var following: [JSONTree: [JSONTree]] = [:]
        var waiting: [JSONTree] = []
        var last: JSONTree?
        for key in other.keys {
            if contains(key) {
                if !waiting.isEmpty { leading[key] = waiting }
                waiting = []
                last = key
            } else if let last {
                following[last, default: []].append(key)
            } else {
                waiting.append(key)
            }
        }
        return keys.flatMap { (leading[$0] ?? []) + [$0] + (following[$0] ?? []) } + waiting
    }
}
