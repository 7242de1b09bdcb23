/// Edits of several records that become one push.
public final class FieldMergeTransaction {
    private let source: Source
    let rules: Rules
    private var edits: [RecordPlace: RecordEdit] = [:]
    private var order: [RecordPlace] = []
    private var deleted: Set<RecordPlace> = []
    private var based: Set<RecordPlace> = []

    /// The records beneath.
    enum Source {
        /// As they were last committed.
        case store(FieldMergeStore)
        /// As they are inside a transaction of the store.
        case ledger(Ledger)
    }

    init(over source: Source, rules: Rules) {
        self.source = source
        self.rules = rules
    }

    /// Edits a record.
    ///
    /// The edit is the difference to `base`, a record that was read earlier, or else to the current record. If this throws,
    /// it stores nothing.
    /// - Throws: `FieldMergeError.recordNotFound`, `InvalidEdit`, and the errors of the block.
    /// - Returns: the record's id.
    @discardableResult
    public func edit(
        _ resource: String, _ id: some RecordID, base: Record? = nil, _ change: (inout RecordEdit) throws -> Void
    ) throws -> JSONValue {
        let (place, held) = try held(resource, id: id.jsonValue)
        var kept = held
        if kept == nil, base != nil, !deleted.contains(place) {
            // The record may have left the subset since it was read.
            kept = RecordEdit(try rules.resource(resource), id: try resolved(id.jsonValue), before: nil)
        }
        guard var edit = kept else {
            throw FieldMergeError.recordNotFound(resource: resource, id: id.jsonValue)
        }
        if let base, edits[place] == nil {
            guard base.isOf(resource), try resolved(base.id).key == place.key else { throw FieldMergeError.otherRecord }
            edit = RecordEdit(
                edit.resource, id: edit.id, before: edit.resource.renamed(base.members),
                unknown: base.unknown.renamed(in: edit.resource))
            based.insert(place)
        }
        try change(&edit)
        if let fault = edit.fault { throw fault }
        keep(edit, at: place)
        return edit.id
    }

    /// Creates a record; it needs an id unless the database numbers it.
    ///
    /// - Returns: the record's id, temporary if the database numbers it.
    @discardableResult
    public func create(
        _ resource: String, id: (any RecordID)? = nil, _ fill: (inout RecordEdit) throws -> Void = { _ in }
    ) throws -> JSONValue {
        let known = try rules.resource(resource)
        let chosen: JSONValue
        if let id = id?.jsonValue, !id.isNull {
            chosen = id
            if try held(resource, id: id).1 != nil {
                throw InvalidEdit(path: "id", detail: "there is a record \(id) of \(resource) already")
            }
        } else {
            guard known.root.isGenerated else {
                throw InvalidEdit(
                    path: "id", detail: "the database does not number \(resource): the record needs an id")
            }
            chosen = .temporaryID()
        }
        var edit = RecordEdit(known, id: chosen, before: nil)
        try fill(&edit)
        if let fault = edit.fault { throw fault }
        keep(edit, at: RecordPlace(resource: resource, key: chosen.key))
        return chosen
    }

    /// Deletes a record.
    ///
    /// - Throws: `FieldMergeError.recordNotFound`.
    public func delete(_ resource: String, _ id: some RecordID) throws {
        let (place, held) = try held(resource, id: id.jsonValue)
        guard let edit = held else { throw FieldMergeError.recordNotFound(resource: resource, id: id.jsonValue) }
        if edit.before == nil {
            edits[place] = nil
            order.removeAll { $0 == place }
        } else {
            keep(edit, at: place)
            deleted.insert(place)
        }
    }

    /// Returns a record with the edits of this transaction; nil if there is none.
    public func record(_ resource: String, _ id: some RecordID) throws -> Record? {
        try held(resource, id: id.jsonValue).1?.record
    }

    private func keep(_ edit: RecordEdit, at place: RecordPlace) {
        if edits.updateValue(edit, forKey: place) == nil { order.append(place) }
    }

    private func held(_ resource: String, id: JSONValue) throws -> (RecordPlace, RecordEdit?) {
        let known = try rules.resource(resource)
        let (resolved, edit) = try read { (try $0.resolve(id), try $0.edit(of: known, id)) }
        let place = RecordPlace(resource: resource, key: resolved.key)
        if deleted.contains(place) { return (place, nil) }
        return (place, edits[place] ?? edit)
    }

    private func resolved(_ id: JSONValue) throws -> JSONValue { try read { try $0.resolve(id) } }

    private func read<T>(_ body: (Ledger) throws -> T) throws -> T {
        switch source {
        case .ledger(let ledger): try body(ledger)
        case .store(let store): try store.file.readNow(body)
        }
    }

    func drafts() -> [Draft] {
        order.compactMap { place in
            edits[place].map { edit in
                Draft(
                    edit: edit, isDeletion: deleted.contains(place), rulesVersion: rules.version,
                    isBased: based.contains(place))
            }
        }
    }
}

/// A function of the app that runs before a record of the gateway is stored.
public typealias StoreHook = @Sendable (IncomingChange) throws -> Void

/// A record that the gateway has sent, before it is stored.
public struct IncomingChange {
    /// The name of its resource.
    public let resource: String
    /// Its id.
    public let id: JSONValue
    /// The record as the app read it; nil if there was none.
    public let before: Record?
    /// The record that the gateway sent; nil if it was deleted.
    public let after: Record?
    /// Adds edits of the app's own, stored in the same transaction.
    public let transaction: FieldMergeTransaction
}

/// The extent of a refusal.
public enum Atomicity: String, Sendable, Hashable {
    /// All edits of a push, or none.
    case push
    /// Each edit for itself.
    case edit
}
