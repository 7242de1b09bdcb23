package import MergeCore

extension Record {
    /// The bytes of a short value.
    private static let short = 16

    /// Returns the approximate bytes of the record; 0 if its columns allow only short records.
    package func length(in resource: Resource) -> Int {
        guard resource.hasLength else { return 0 }
        var length = 0
        for (section, rows) in zip(resource.sections, sections) {
            let long = section.columns.indices.filter { section.columns[$0].type.mayBeLong }
            func add(_ row: [Value]) {
                length += row.count * Self.short
                for column in long where column < row.count { length += row[column].length }
            }
            switch rows {
            case .one(let row): row.map(add)
            case .many(let rows): rows.forEach(add)
            }
        }
        return length
    }
}

extension Resource {
    var hasLength: Bool { mayBeLong || hasLists }
}

extension Value {
    /// The bytes of a value that may be long.
    fileprivate var length: Int {
        switch self {
        case .text(let text): text.string.utf8.count
        case .bytes(let bytes): bytes.count
        case .members(let members): members.reduce(0) { $0 + $1.string.utf8.count }
        case .json(let tree): tree.length
        default: 0
        }
    }
}

extension JSONTree {
    /// The approximate bytes of the value as JSON.
    fileprivate var length: Int {
        switch self {
        case .null, .boolean, .integer, .double: 8
        case .text(let text): text.string.utf8.count + 2
        case .array(let elements): elements.reduce(2) { $0 + $1.length + 1 }
        case .object(let members): members.list.reduce(2) { $0 + $1.name.string.utf8.count + $1.value.length + 4 }
        }
    }
}
