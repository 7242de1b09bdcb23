import MergeCore

/// The keys of the rows that a push created under temporary ids, or found by their identity.
struct CreatedKeys {
    private var keys: [TemporaryID: RecordKey] = [:]

    mutating func name(_ id: TemporaryID, _ key: RecordKey) { keys[id] = key }

    /// Returns the value by which other rows refer to a created row; nil if there is no such row yet.
    func reference(_ id: TemporaryID) -> Value? { keys[id]?.parts.last }

    /// Returns the key of a row id with all temporary ids replaced; nil if one has no key yet.
    func settled(_ id: RowID) -> RecordKey? {
        if let key = id.key { return key }
        var values: [Value] = []
        for part in id.parts {
            guard let value = value(of: part) else { return nil }
            values.append(value)
        }
        return RecordKey(values)
    }

    /// Returns the value of a part of an id; nil if it has none yet.
    func value(of part: KeyPart) -> Value? {
        switch part {
        case .value(let value): value
        case .temporary(let id): reference(id)
        case .created(let id, let part): keys[id].flatMap { $0.parts.indices.contains(part) ? $0.parts[part] : nil }
        case .generated: nil
        }
    }

    /// Returns true if an edit needs the key of a row that does not exist.
    ///
    /// Such rows are `missing`, so rows that depend on them are `missing` too.
    func areMissing(for edit: RowEdit) -> Bool {
        switch edit.action {
        case .create(let new): isOpen(new) || hasOpenPart(edit.id)
        case .edit(let groups): groups.contains { isOpen($0.edited) }
        case .delete: false
        }
    }

    private func isOpen(_ values: FieldValues) -> Bool { values.pending.contains { reference($0.id) == nil } }

    /// The key of a new row may contain the keys of other new rows.
    private func hasOpenPart(_ id: RowID?) -> Bool {
        guard let id, id.key == nil else { return false }
        return id.parts.contains { part in
            switch part {
            case .temporary(let other), .created(let other, _): reference(other) == nil
            case .value, .generated: false
            }
        }
    }
}
