/// A reference that a query follows.
struct FollowedReference: Sendable {
    /// The name in the result.
    let name: String
    let section: String
    let field: String
    /// The resource of the records that it refers to.
    let resource: String

    /// - Throws: `InvalidQuery` if the path is no reference.
    init(_ name: String, _ path: String, in rules: ResourceRules) throws(InvalidQuery) {
        let place = try FieldPath(path, in: rules)
        guard let section = place.section, let field = place.field, !place.isList,
            let resource = rules.section(named: section)?.fields[field]?.references
        else {
            throw InvalidQuery(
                "invalid-query", path: path,
                "it is no reference of the root or of a singleton; follow a field with “references”")
        }
        self.name = name
        self.section = section
        self.field = field
        self.resource = resource
    }

    /// Returns the id that a record refers to; nil if it refers to none.
    func id(in record: JSONObject) -> JSONValue? { record[section]?[field].nonNull }
}

/// The result of a query, with the places of the records that it refers to.
struct FollowedResult: Sendable {
    let value: QueryResult
    let places: Set<RecordPlace>
}

extension Ledger {
    /// Returns the result that consists of the first rows, with the records that they refer to.
    func result(_ query: CompiledQuery, of rows: [QueryRow]) throws -> FollowedResult {
        let plain = query.result(of: rows)
        guard !query.follow.isEmpty else { return FollowedResult(value: plain, places: []) }
        var known: [RecordPlace: Record?] = [:]
        let followed = try plain.map { record in
            var found: [String: Record] = [:]
            for reference in query.follow {
                guard let id = try reference.id(in: record.members).map(resolve) else { continue }
                let place = RecordPlace(resource: reference.resource, key: id.key)
                if known[place] == nil { known[place] = .some(try self.record(reference.resource, id)) }
                found[reference.name] = known[place] ?? nil
            }
            return found
        }
        let value = QueryResult(plain.records, next: plain.next, followed: followed)
        return FollowedResult(value: value, places: Set(known.keys))
    }
}
