import GRDB

/// A record in the result of a query, with the keys by which it is sorted.
struct QueryRow: Sendable {
    let record: Record
    let order: [OrderKey]
}

/// The rows of a query that were found so far.
struct QueryRun {
    let query: CompiledQuery
    /// The number of first rows that are needed; nil for all.
    let wanted: Int?
    /// The path of the index that was used; nil if all records were read.
    var index: String?
    private(set) var rows: [QueryRow] = []
    private(set) var read = 0

    init(_ query: CompiledQuery, wanted: Int?) {
        self.query = query
        self.wanted = wanted
    }

    /// Adds a record if it matches.
    mutating func consider(_ record: Record) {
        read += 1
        guard query.matches(record.members) else { return }
        let order = query.order(of: record.members)
        guard query.isBehindStart(order) else { return }
        rows.append(QueryRow(record: record, order: order))
        if let wanted, rows.count > 4 * wanted + 1_000 { sort() }
    }

    /// Sorts the rows, and drops the rows after the limit.
    mutating func sort() {
        rows.sort { query.precedes($0.order, $1.order) }
        if let wanted, rows.count > wanted { rows.removeLast(rows.count - wanted) }
    }
}

extension Ledger {
    /// Compiles a query by the active rules; nil before the first sync.
    ///
    /// - Throws: `InvalidQuery`.
    func compile(_ query: RecordQuery) throws -> CompiledQuery? {
        guard let rules = try rules() else { return nil }
        guard let known = rules.resources[query.resource] else {
            throw InvalidQuery(
                unknown: "resource", query.resource, among: rules.resources.keys, path: query.resource)
        }
        return try CompiledQuery(query, known, searched: context.indexes.search?[query.resource], resolve: resolve)
    }

    /// Runs a query; returns the first rows in its order.
    ///
    /// - Parameter wanted: the number of rows that are needed; nil for all.
    func run(_ query: CompiledQuery, wanted: Int?) throws -> QueryRun {
        let resource = query.query.resource
        let known = try known(resource)
        let edited = try editedRecords(resource)
        var run = QueryRun(query, wanted: wanted)
        func consider(_ key: IDText, _ text: String) {
            guard edited[key] == nil, let members = JSONValue(text: text)?.objectValue else { return }
            run.consider(Record(members, known))
        }
        let index = try scanIndex(query, wanted: wanted, without: Set(edited.keys)) { keys in
            for key in keys {
                let place: StatementArguments = [resource, key]
                if let text = try text("SELECT record FROM base WHERE resource = ? AND key = ?", place) {
                    consider(key, text)
                }
            }
            run.sort()
            return run.rows
        }
        if let index {
            run.index = index
        } else {
            run = QueryRun(query, wanted: wanted)
            let bases = try Row.fetchCursor(
                db.cachedStatement(sql: "SELECT key, record FROM base WHERE resource = ?"), arguments: [resource])
            while let row = try bases.next() { consider(row[0], row[1]) }
        }
        for case let record? in edited.values { run.consider(record) }
        run.sort()
        return run
    }

    /// Returns the app's version of records with unanswered edits; nil for a deleted record.
    func editedRecords(_ resource: String) throws -> [IDText: Record?] {
        guard let known = try known(resource) else { return [:] }
        let pending = try edits("e.resource = ? AND p.state IN (0, 1)", [resource])
        return try Dictionary(grouping: pending, by: \.key).reduce(into: [:]) { found, one in
            let (key, edits) = one
            let base = try base(RecordPlace(resource: resource, key: key))
            let unknown = UnknownFields(of: edits.map(\.changes), base: base, resource: known)
            let members = try view(of: base, in: resource, id: edits[0].id, under: edits)
            found.updateValue(members.map { Record($0, known, unknown: unknown) }, forKey: key)
        }
    }
}
