/// The records of one resource, which `store.of(Orders)` returns.
///
/// Each function is that of the store.
public struct TypedRecords<Value: TypedRecord>: Sendable {
    let store: FieldMergeStore
    let name: String

    /// Returns a record, with unsent edits; nil if there is none.
    public func record(_ id: Value.ID) async throws -> Value? { try await store.record(name, id).map(Value.init) }

    /// Returns every record, in the order of keys.
    public func records() async throws -> [Value] { try await store.records(name).map(Value.init) }

    /// Returns the records that match, in order.
    public func query(
        where conditions: [QueryCondition] = [], search: String? = nil, sort: [String] = [], limit: Int? = nil,
        after: String? = nil, follow: [String: String] = [:]
    ) async throws -> TypedResult<Value> {
        let query = RecordQuery(
            name, where: conditions, search: search, sort: sort, limit: limit, after: after, follow: follow)
        return try await TypedResult(store.query(query))
    }

    /// Returns how many records match.
    public func count(where conditions: [QueryCondition] = [], search: String? = nil) async throws -> Int {
        try await store.count(name, where: conditions, search: search)
    }

    /// The result of a query now and whenever it changes.
    public func live(
        where conditions: [QueryCondition] = [], search: String? = nil, sort: [String] = [], limit: Int? = nil,
        after: String? = nil, follow: [String: String] = [:]
    ) throws -> AsyncThrowingMapSequence<LiveQuery, TypedResult<Value>> {
        let query = RecordQuery(
            name, where: conditions, search: search, sort: sort, limit: limit, after: after, follow: follow)
        return try store.live(query).map { try TypedResult($0) }
    }

    /// A record now and whenever it changes.
    public func observe(_ id: Value.ID) throws -> AsyncThrowingMapSequence<LiveValues<Record?>, Value?> {
        try store.observe(name, id).map { try $0.map(Value.init) }
    }

    /// Edits a record: `try await orders.edit(7) { $0.order.title = "Stools" }`.
    @discardableResult
    public func edit(
        _ id: Value.ID, isolation: isolated (any Actor)? = #isolation, _ change: (inout Value) throws -> Void
    ) async throws -> Ticket {
        try await store.edit(name, id, isolation: isolation) { try $0.change(change) }
    }

    /// Creates a record.
    ///
    /// The database fills properties that are nil.
    @discardableResult
    public func create(_ record: Value, isolation: isolated (any Actor)? = #isolation) async throws -> Ticket {
        try await store.create(name, id: record.givenID, isolation: isolation) { try record.write(to: &$0) }
    }

    /// Deletes a record.
    @discardableResult
    public func delete(_ id: Value.ID) async throws -> Ticket { try await store.delete(name, id) }
}

/// The records that match a query, in its order.
public struct TypedResult<Value: TypedRecord>: Sendable, Hashable, RandomAccessCollection {
    /// The records.
    public let records: [Value]
    /// The `after` of the next page; nil if nothing follows.
    public let next: String?
    /// For each record, by the names of `follow`, the record that it refers to; empty without `follow`.
    public let followed: [[String: Record]]

    init(_ result: QueryResult) throws {
        records = try result.records.map(Value.init)
        next = result.next
        followed = result.followed
    }

    /// The records of one name of `follow`, typed: one for each record of the result, or nil.
    public func followed<Other: TypedRecord>(_ name: String, as type: ResourceType<Other>) throws -> [Other?] {
        try followed.map { try $0[name].map(Other.init) }
    }

    /// The index of the first record.
    public var startIndex: Int { 0 }
    /// The number of records.
    public var endIndex: Int { records.count }
    /// The record at an index.
    public subscript(index: Int) -> Value { records[index] }
}

extension FieldMergeStore {
    /// Returns the records of a resource in a type that `fieldmerge types` has written.
    public nonisolated func of<Value: TypedRecord>(_ type: ResourceType<Value>) -> TypedRecords<Value> {
        TypedRecords(store: self, name: type.name)
    }
}

extension FieldMergeTransaction {
    /// Edits a record.
    public func edit<Value: TypedRecord>(
        _ type: ResourceType<Value>, _ id: Value.ID, _ change: (inout Value) throws -> Void
    ) throws {
        try edit(type.name, id) { try $0.change(change) }
    }

    /// Creates a record.
    ///
    /// The database fills properties that are nil.
    /// - Returns: the record's id, temporary if the database numbers it.
    @discardableResult
    public func create<Value: TypedRecord>(_ type: ResourceType<Value>, _ record: Value) throws -> Value.ID {
        TypedID(try create(type.name, id: record.givenID) { try record.write(to: &$0) })
    }

    /// Deletes a record.
    public func delete<Value: TypedRecord>(_ type: ResourceType<Value>, _ id: Value.ID) throws {
        try delete(type.name, id)
    }
}

extension TypedRecord {
    /// The id of a new record; nil if the database numbers it.
    fileprivate var givenID: JSONValue? { id.isTemporary ? nil : id.jsonValue }
}

extension RecordEdit {
    fileprivate mutating func change<Value: TypedRecord>(_ change: (inout Value) throws -> Void) throws {
        var value = try Value(record)
        try change(&value)
        try value.write(to: &self)
    }
}
