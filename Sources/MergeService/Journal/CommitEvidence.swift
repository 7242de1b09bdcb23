import MergeCore
import RecordStore

/// The effects of an in-doubt transaction, as evidence whether it was committed.
///
/// The effects of one section on one row are one effect, also if the row moves between records. If several sections
/// contain a table, or the transaction writes a view, one row may have several effects. Such effects are weak evidence: a
/// row that one effect changed and another changed back looks written although it is as before.
struct CommitEvidence {
    /// The composed effect of a section on a row.
    struct Piece {
        let resource: Resource
        let effect: RowEffect
        let isStrong: Bool

        var section: Section { resource.sections[effect.row.section] }
    }

    /// The current state of a row.
    enum Current {
        /// The row; nil if there is none.
        case row([Value]?)
        /// The row cannot be read in the type of its section, so it is no evidence.
        case none
    }

    let pieces: [Piece]
    private let digest: @Sendable (Value, Column) -> String

    /// Composes effects in their order.
    ///
    /// - Parameter digest: returns the digest of a private value.
    init(
        _ effects: [(resource: Resource, effect: RowEffect)], schema: DatabaseSchema,
        digest: @escaping @Sendable (Value, Column) -> String
    ) {
        self.digest = digest
        var order: [Name] = []
        var composed: [Name: (resource: Resource, effect: RowEffect)] = [:]
        for (resource, effect) in effects {
            let name = Name(resource, effect)
            if composed[name]?.effect.add(effect) == nil {
                composed[name] = (resource, effect)
                order.append(name)
            }
        }
        var sections: [TableName: Set<Name.Place>] = [:]
        for name in order { sections[name.table, default: []].insert(name.place) }
        let writesView = sections.keys.contains { schema.tables[$0]?.isView ?? true }
        pieces = order.compactMap { name in
            composed[name].map { resource, effect in
                Piece(
                    resource: resource, effect: effect, isStrong: !writesView && sections[name.table]?.count == 1)
            }
        }
    }

    /// Returns true if the transaction was committed, or if no row shows its end.
    ///
    /// A row shows no end if its table was altered, or if another program has changed it since; the fence keeps gateways
    /// from it. Without evidence, the transaction counts as committed: its push may have been answered, because a commit
    /// is recorded in the journal later than it is answered. Otherwise the push's entry, key and revision would be lost.
    ///
    /// If strong evidence is missing, one row with an earlier value outweighs all written ones: a repeated push does less
    /// harm than a lost push.
    func isCommitted(
        reading current: (Piece) throws(StoreError) -> Current
    ) throws(StoreError) -> Bool {
        var looksUndone = (strongly: false, weakly: false)
        for piece in pieces {
            guard case .row(let row) = try current(piece), let isWritten = verdict(on: piece, row: row) else {
                continue
            }
            if isWritten {
                if piece.isStrong { return true }
            } else if piece.isStrong {
                looksUndone.strongly = true
            } else {
                looksUndone.weakly = true
            }
        }
        return !looksUndone.strongly && !looksUndone.weakly
    }

    /// Returns true if the row is as after the transaction, false if as before; nil if neither or both.
    private func verdict(on piece: Piece, row: [Value]?) -> Bool? {
        func matches(_ row: [Value], _ kept: KeptValue, at field: Int) -> Bool {
            let column = piece.section.fields[field].column
            return switch kept {
            case .plain(let value): row[column] == value
            case .digest(let kept): digest(row[column], piece.section.columns[column]) == kept
            }
        }
        switch (piece.effect.before, piece.effect.after) {
        case (nil, nil): return nil
        case (nil, let after?):
            guard let row else { return false }
            return after.isEmpty || after.contains { matches(row, $0.value, at: $0.key) } ? true : nil
        case (let before?, nil):
            guard let row else { return true }
            return before.allSatisfy { matches(row, $0.value, at: $0.key) } ? false : nil
        case (let before?, let after?):
            guard let row else { return nil }
            let changed = after.filter { field, value in before[field].map { $0 != value } ?? false }
            if changed.contains(where: { matches(row, $0.value, at: $0.key) }) { return true }
            let isBefore = changed.contains { field, _ in
                before[field].map { matches(row, $0, at: field) } ?? false
            }
            return isBefore ? false : nil
        }
    }

    /// The name of a row in one section.
    private struct Name: Hashable {
        struct Place: Hashable {
            let resource: String
            let section: Int
        }

        let place: Place
        let table: TableName
        let key: RecordKey

        init(_ resource: Resource, _ effect: RowEffect) {
            place = Place(resource: resource.name, section: effect.row.section)
            table = resource.sections[effect.row.section].table
            // The record's key identifies a singleton.
            key = effect.row.key ?? effect.row.record
        }
    }
}
