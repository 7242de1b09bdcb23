import GRDB

/// The records and pushes of one store, inside one transaction.
///
/// `base` is the last record from the server, `sent` the edits with frozen bytes, `draft` all other edits. An app reads all
/// three layers together.
package final class Ledger {
    let db: Database
    let context: LedgerContext
    var effects = LedgerEffects()
    var incoming: [IncomingRecord] = []
    private var numbers: [String: Int] = [:]

    init(_ db: Database, _ context: LedgerContext) {
        self.db = db
        self.context = context
    }

    /// The state of a push.
    enum PushState: Int {
        case unsent, sent, kept, refused
    }

    /// One record's part of a push.
    struct StoredEdit: Sendable {
        let push: Int64
        let place: Int
        let state: PushState
        let resource: String
        let key: IDText
        let id: JSONValue
        let changes: RecordChanges

        var record: RecordPlace { RecordPlace(resource: resource, key: key) }
    }

    /// A record of the gateway, and the record that the app read before.
    struct IncomingRecord {
        let resource: String
        let id: JSONValue
        let before: JSONObject?
        let after: JSONObject?
    }

    // MARK: Statements

    /// Runs a statement that writes.
    func write(_ sql: String, _ arguments: StatementArguments = []) throws {
        try context.step(String(sql.prefix { $0 != "(" }))
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
    }

    func text(_ sql: String, _ arguments: StatementArguments = []) throws -> String? {
        try String.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }

    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try Int64.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }

    // MARK: Notes under a name

    /// Returns the note under a name, or null.
    func meta(_ name: String) throws -> JSONValue {
        try text("SELECT value FROM meta WHERE name = ?", [name]).flatMap { JSONValue(text: $0) } ?? .null
    }

    /// Stores a note under a name; null removes it.
    func setMeta(_ name: String, _ value: JSONValue) throws {
        numbers[name] = nil
        if value.isNull {
            try write("DELETE FROM meta WHERE name = ?", [name])
        } else {
            try write("INSERT OR REPLACE INTO meta VALUES (?, ?)", [name, value.text])
        }
    }

    /// Returns a count that is noted under a name; 0 if there is none.
    func count(_ name: String) throws -> Int {
        if let known = numbers[name] { return known }
        let found = try meta(name).intValue ?? 0
        numbers[name] = found
        return found
    }

    // MARK: Rules

    /// Returns the active rules; nil before the first sync.
    func rules() throws -> Rules? {
        guard let version = try meta("rulesVersion").stringValue else { return nil }
        return try context.rules(version: version) { try meta("rules").stringValue }
    }

    /// - Throws: `InvalidEdit` for a name that does not exist, `FieldMergeError.rulesUnknown` before the first sync.
    func resource(_ name: String) throws -> ResourceRules {
        guard let rules = try rules() else { throw FieldMergeError.rulesUnknown }
        return try rules.resource(name)
    }

    /// - Throws: `InvalidEdit` with the nearest name if the rules are known and lack one.
    func checkName(_ resource: String, _ path: EditPath? = nil) throws {
        guard let rules = try rules() else { return }
        let known = try rules.resource(resource)
        guard let name = path?.section else { return }
        let section = try known.section(name)
        guard let group = path?.group, section.group(group) == nil else { return }
        guard section.fields[group] == nil, !section.readOnly.contains(group) else { return }
        throw InvalidEdit(unknown: group, among: section.groups.map(\.name), path: "\(name).\(group)")
    }

    func known(_ resource: String) throws -> ResourceRules? { try rules()?.resources[resource] }
}
