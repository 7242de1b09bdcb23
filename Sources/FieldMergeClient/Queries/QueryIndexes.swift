/// The indexes that `open` declares.
package struct QueryIndexes: Sendable {
    /// The paths of indexed fields, by resource; nil keeps the indexes of the store.
    let fields: [String: [String]]?
    /// The paths of fields that `search` reads, by resource.
    let search: [String: [String]]?

    /// Declares indexes.
    package init(fields: [String: [String]]? = nil, search: [String: [String]]? = nil) {
        self.fields = fields
        self.search = search
    }

    /// False to keep the indexes of the store.
    var isDeclared: Bool { fields != nil || search != nil }

    /// Returns the index of a resource, without paths that the rules lack; nil if none is declared.
    func shape(of resource: ResourceRules) -> IndexShape? {
        func paths(_ names: [String: [String]]?) -> [FieldPath] {
            Set(names?[resource.name] ?? []).sorted().compactMap { try? FieldPath($0, in: resource) }
        }
        guard let id = try? FieldPath("id", in: resource) else { return nil }
        let shape = IndexShape(fields: paths(fields), searched: paths(search), id: id)
        return shape.fields.isEmpty && shape.searched.isEmpty ? nil : shape
    }
}

/// The index of a resource: an entry for each value of a field, and for each word of the searched fields.
struct IndexShape: Sendable {
    let fields: [FieldPath]
    let searched: [FieldPath]
    let id: FieldPath

    /// A description that changes with everything that the entries depend on.
    var text: String {
        let paths = [fields, searched, [id]].map { paths in
            JSONValue.array(paths.map { .array(([$0.path] + $0.types).map(JSONValue.string)) })
        }
        // A change of the keys or the words needs another number.
        return JSONValue.array([1] + paths).text
    }

    /// The place of the words in the index.
    static let wordPlace = -1

    /// Returns the position of a field in the index; nil if it has no index.
    func place(of path: FieldPath) -> Int? { fields.firstIndex { $0.path == path.path } }

    /// Returns the entries of a record: a place, and a value with the id that decides ties.
    func entries(of record: JSONObject) -> Set<IndexEntry> {
        let id = id.keys(of: record).first ?? .unknown
        var entries: Set<IndexEntry> = []
        for (place, path) in fields.enumerated() {
            for key in path.keys(of: record) { entries.insert(IndexEntry(place: place, value: key.entry(of: id))) }
        }
        for word in searched.flatMap({ $0.words(of: record) }) {
            entries.insert(IndexEntry(place: Self.wordPlace, value: OrderKey(bytes: word)))
        }
        return entries
    }
}

/// A value in an index.
struct IndexEntry: Sendable, Hashable {
    let place: Int
    let value: OrderKey
}

extension OrderKey {
    /// Ends a value in an entry.
    ///
    /// It sorts before all that a longer value continues with.
    private static let terminator: [UInt8] = [0, 0]

    /// Returns the key, followed by an id.
    func entry(of id: OrderKey) -> OrderKey { OrderKey(bytes: bytes + Self.terminator + id.bytes) }

    /// The key in an entry.
    var valueOfEntry: OrderKey {
        let end = bytes.indices.dropLast().first { bytes[$0] == 0 && bytes[$0 + 1] == 0 }
        return OrderKey(bytes: Array(bytes[..<(end ?? bytes.endIndex)]))
    }
}
