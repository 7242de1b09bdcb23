/// A condition on a field of a record, such as `.equals("order.status", "open")`.
///
/// A path is `section.field`, `list.field`, `list.id` or `id`. A condition on a list holds if any item matches, a condition
/// on a set if any member matches. Values compare as their types do: numbers by value, dates by time, texts by code points.
public struct QueryCondition: Sendable, Hashable {
    /// The path of the field.
    public let path: String
    let test: Test

    indirect enum Test: Sendable, Hashable {
        case equals(JSONValue)
        case oneOf([JSONValue])
        case range(from: JSONValue?, before: JSONValue?)
        case startsWith(String)
        case not(Test)
    }

    /// The field has a value, or is null.
    public static func equals(_ path: String, _ value: JSONValue) -> Self { Self(path: path, test: .equals(value)) }

    /// The field has one of some values, which may include null.
    public static func oneOf(_ path: String, _ values: [JSONValue]) -> Self { Self(path: path, test: .oneOf(values)) }

    /// The field is at least `from` and less than `before`; null is in no range.
    public static func range(_ path: String, from: JSONValue? = nil, before: JSONValue? = nil) -> Self {
        Self(path: path, test: .range(from: from, before: before))
    }

    /// The text of the field has this beginning; case counts.
    public static func startsWith(_ path: String, _ beginning: String) -> Self {
        Self(path: path, test: .startsWith(beginning))
    }

    /// A condition does not hold, or for a list holds for no item.
    ///
    /// Unlike in SQL, this matches null. A field that a record does not contain matches neither a condition nor its negation.
    public static func not(_ condition: Self) -> Self { Self(path: condition.path, test: .not(condition.test)) }
}

/// A query of the records of a resource, with the edits that were not sent yet.
public struct RecordQuery: Sendable, Hashable {
    /// The name of the resource.
    public var resource: String
    /// Conditions joined by AND.
    public var conditions: [QueryCondition]
    /// Words: each must be the beginning of a word in a field that `search` at `open` names.
    ///
    /// Case and accents do not count.
    public var search: String?
    /// Paths of fields; `-` before a path reverses it.
    ///
    /// Null is first, and the id decides ties.
    public var sort: [String]
    /// The maximum number of records of the result; nil for all.
    public var limit: Int?
    /// The `next` of an earlier result: only records after its last record.
    public var after: String?
    /// Paths of references by name: the result has the records that they refer to.
    public var follow: [String: String]

    /// Describes a query: `RecordQuery("orders", where: [.equals("order.status", "open")], sort: ["-order.due"], limit: 50)`.
    public init(
        _ resource: String, where conditions: [QueryCondition] = [], search: String? = nil, sort: [String] = [],
        limit: Int? = nil, after: String? = nil, follow: [String: String] = [:]
    ) {
        self.resource = resource
        self.conditions = conditions
        self.search = search
        self.sort = sort
        self.limit = limit
        self.after = after
        self.follow = follow
    }
}

/// The records that match a query, in its order.
public struct QueryResult: Sendable, Hashable, RandomAccessCollection {
    /// The records.
    public let records: [Record]
    /// The `after` of the next page; nil if nothing follows.
    ///
    /// It is the position of the last record in the order, so the next page begins there also if records have changed.
    public let next: String?
    /// For each record, by the names of `follow`, the record that it refers to: `orders.followed[0]["customer"]`.
    ///
    /// A name is missing if the reference is null, or if the store has no such record. Empty without `follow`.
    public let followed: [[String: Record]]

    init(_ records: [Record] = [], next: String? = nil, followed: [[String: Record]] = []) {
        self.records = records
        self.next = next
        self.followed = followed
    }

    /// The index of the first record.
    public var startIndex: Int { 0 }
    /// The number of records.
    public var endIndex: Int { records.count }
    /// The record at an index.
    public subscript(index: Int) -> Record { records[index] }
}

/// An error in a query.
public struct InvalidQuery: Error, Sendable, Hashable, CustomStringConvertible {
    /// `unknown-resource`, `unknown-section`, `unknown-field`, `invalid-query` or `invalid-value`.
    public let code: String
    /// The place of the fault: a path as the query has it, or the name of a member.
    public let path: String
    /// The fault, as the end of a sentence.
    public let detail: String
    /// The probable name; nil if no name was unknown.
    public let nearest: String?

    init(_ code: String, path: String, _ detail: String) {
        self.code = code
        self.path = path
        self.detail = detail
        nearest = nil
    }

    init(unknown kind: String, _ name: String, among names: some Sequence<String>, path: String) {
        let fault = InvalidEdit(unknown: name, among: names, path: path)
        code = "unknown-\(kind)"
        self.path = path
        detail = fault.detail
        nearest = fault.nearest
    }

    /// The place and the fault.
    public var description: String { "\(path): \(detail)" }
}
