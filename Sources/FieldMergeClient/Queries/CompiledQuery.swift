import Foundation
import MergeCore

/// A query by the rules: a test of a record, and the keys by which records are sorted.
///
/// Scans, indexes and live queries use the same two.
struct CompiledQuery: Sendable {
    let query: RecordQuery
    let conditions: [(path: FieldPath, test: KeyTest)]
    let order: [(path: FieldPath, isDown: Bool)]
    /// The paths that `search` reads, and the words that it has to find.
    let searched: [FieldPath]
    let words: [[UInt8]]
    /// The position after which the result begins; nil for all.
    let start: [OrderKey]?
    /// The present ids of the temporary ids in conditions.
    let resolvedIDs: [JSONValue]
    let idPath: FieldPath
    let follow: [FollowedReference]

    /// Compiles a query.
    ///
    /// - Parameters:
    ///   - searched: the paths that `open` named; nil if it named none.
    ///   - resolve: returns the real id of a temporary id, if there is one.
    /// - Throws: `InvalidQuery`.
    init(
        _ query: RecordQuery, _ rules: ResourceRules, searched: [String]?, resolve: (JSONValue) throws -> JSONValue
    ) throws {
        self.query = query
        if let limit = query.limit, limit < 1 {
            throw InvalidQuery("invalid-query", path: "limit", "the limit must be above zero")
        }
        if query.search != nil, searched == nil {
            throw InvalidQuery(
                "invalid-query", path: "search", "no fields of \(query.resource) are named in “search” at “open”")
        }
        var resolvedIDs: [JSONValue] = []
        conditions = try query.conditions.map { condition in
            let path = try FieldPath(condition.path, in: rules)
            let test = try KeyTest(condition.test, path) { value in
                guard value.holdsTemporaryID else { return value }
                resolvedIDs.append(try resolve(value))
                return resolvedIDs[resolvedIDs.count - 1]
            }
            return (path, test)
        }
        self.resolvedIDs = resolvedIDs
        order = try query.sort.map { given in
            let isDown = given.hasPrefix("-")
            let path = try FieldPath(isDown ? String(given.dropFirst()) : given, in: rules)
            if path.hasSeveralValues {
                throw InvalidQuery("invalid-query", path: path.path, "it has several values; sort by another field")
            }
            return (path, isDown)
        }
        words = query.search.map(SearchWords.words) ?? []
        self.searched = try words.isEmpty ? [] : (searched ?? []).map { try FieldPath($0, in: rules) }
        idPath = try FieldPath("id", in: rules)
        follow = try query.follow.sorted { $0.key < $1.key }.map { name, path in
            try FollowedReference(name, path, in: rules)
        }
        start = try query.after.map { after in
            let parts = JSONValue(text: after)?.arrayValue?.compactMap(\.stringValue) ?? []
            let keys = parts.dropLast().compactMap { Data(base64Encoded: $0).map { OrderKey(bytes: Array($0)) } }
            guard keys.count == query.sort.count + 1, parts.count == keys.count + 1,
                parts.last == query.sort.joined(separator: ",")
            else { throw InvalidQuery("invalid-query", path: "after", "it is no “next” of a query with this sort") }
            return keys
        }
    }

    /// Returns whether a record matches.
    func matches(_ record: JSONObject) -> Bool {
        let holds = conditions.allSatisfy { path, test in
            let keys = path.keys(of: record)
            let known = keys.filter { $0 != .unknown }
            return (keys.isEmpty || !known.isEmpty) && test.holds(for: known)
        }
        guard holds, !words.isEmpty else { return holds }
        let found = searched.flatMap { $0.words(of: record) }
        return words.allSatisfy { word in found.contains { $0.starts(with: word) } }
    }

    /// Returns the keys by which a record is sorted; the last one is its id.
    func order(of record: JSONObject) -> [OrderKey] {
        (order.map(\.path) + [idPath]).map { $0.keys(of: record).first ?? .unknown }
    }

    /// Returns whether a position is before another.
    func precedes(_ one: [OrderKey], _ other: [OrderKey]) -> Bool {
        for index in one.indices where one[index] != other[index] {
            return (one[index] < other[index]) != (order.indices.contains(index) && order[index].isDown)
        }
        return false
    }

    /// Returns whether a position is after the previous page.
    func isBehindStart(_ keys: [OrderKey]) -> Bool { start.map { precedes($0, keys) } ?? true }

    /// Returns the `next` of a page that ends at a place.
    func next(after keys: [OrderKey]) -> String {
        JSONValue.array(
            keys.map { .string(Data($0.bytes).base64EncodedString()) } + [.string(query.sort.joined(separator: ","))]
        ).text
    }
}

/// A range of keys: from a bound, and before another.
struct KeyRange: Sendable, Hashable {
    let from: OrderKey
    let before: OrderKey
}

/// A test of the known keys of a record at a path.
indirect enum KeyTest: Sendable {
    case oneOf(Set<OrderKey>)
    case within(KeyRange)
    case not(KeyTest)

    init(
        _ test: QueryCondition.Test, _ path: FieldPath, resolve: (JSONValue) throws -> JSONValue
    ) throws {
        func key(_ value: JSONValue) throws -> OrderKey { try path.key(of: resolve(value)) }
        func bound(_ value: JSONValue) throws -> OrderKey {
            if value.isNull { throw InvalidQuery("invalid-value", path: path.path, "null is no bound") }
            return try key(value)
        }
        switch test {
        case .equals(let value): self = .oneOf([try key(value)])
        case .oneOf(let values): self = .oneOf(Set(try values.map(key)))
        case .range(let from, let before):
            if path.type == "json" { throw InvalidQuery("invalid-query", path: path.path, "JSON has no ranges") }
            if from == nil, before == nil {
                throw InvalidQuery("invalid-query", path: path.path, "the range needs “from” or “before”")
            }
            self = .within(KeyRange(from: try from.map(bound) ?? .start, before: try before.map(bound) ?? .end))
        case .startsWith(let text):
            guard path.field != nil, path.type != "json", !OrderKey.numbers.contains(path.type),
                !OrderKey.times.contains(path.type)
            else { throw InvalidQuery("invalid-query", path: path.path, "it is no text") }
            let low = OrderKey(.string(text), type: "text")
            self = .within(KeyRange(from: low, before: low.behindPrefixed))
        case .not(let test): self = .not(try KeyTest(test, path, resolve: resolve))
        }
    }

    func holds(for keys: [OrderKey]) -> Bool {
        switch self {
        case .oneOf(let wanted): keys.contains { wanted.contains($0) }
        case .within(let range): keys.contains { $0 >= range.from && $0 < range.before }
        case .not(let test): !test.holds(for: keys)
        }
    }

    /// Ranges that contain a key of each record that matches; nil if there are none for this test.
    var ranges: [KeyRange]? {
        switch self {
        case .oneOf(let wanted): wanted.map { KeyRange(from: $0, before: $0.behind) }
        case .within(let range): [range]
        case .not: nil
        }
    }
}

extension FieldPath {
    /// Returns the key of a value in a condition.
    ///
    /// - Throws: `InvalidQuery` if the type cannot hold it.
    fileprivate func key(of value: JSONValue) throws(InvalidQuery) -> OrderKey {
        guard holds(value) else {
            let kind = field == nil ? "id" : type
            throw InvalidQuery("invalid-value", path: path, "\(value) is no \(kind)")
        }
        guard field != nil else { return OrderKey(id: value, types: types) }
        return OrderKey(value, type: type == "set" ? "text" : type)
    }

    private func holds(_ value: JSONValue) -> Bool {
        if value.temporaryID != nil { return true }
        guard field != nil else {
            let parts = value.arrayValue ?? [value]
            return parts.count == max(types.count, 1)
                && parts.allSatisfy { $0.stringValue != nil || OrderKey.number($0) != nil }
        }
        if value.isNull { return true }
        switch type {
        case "json": return value.arrayValue == nil && value.objectValue == nil
        case "boolean": return (try? ColumnType.boolean.accept(value.scalar)) != nil
        case "date": return isTime(value, of: .date)
        case "datetime":
            return isTime(value, of: .dateTime(fraction: 9)) || isTime(value, of: .date)
        case "timestamp": return isTime(value, of: .timestamp(fraction: 9, nil))
        case "time": return isTime(value, of: .time(fraction: 9))
        case _ where OrderKey.numbers.contains(type): return OrderKey.number(value) != nil
        default: return value.stringValue != nil
        }
    }

    private func isTime(_ value: JSONValue, of type: ColumnType) -> Bool {
        value.stringValue != nil && (try? type.accept(value.scalar)) != nil
    }
}

extension JSONValue {
    fileprivate var holdsTemporaryID: Bool { (arrayValue ?? [self]).contains { $0.temporaryID != nil } }
}
