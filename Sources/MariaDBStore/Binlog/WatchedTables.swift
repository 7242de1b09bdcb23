import MergeCore

/// The tables whose changes are reported.
struct WatchedTables: Sendable, Hashable {
    let tables: [TableName: WatchedTable]
    let cascades: CascadeLinks

    init(_ tables: [WatchedTable], cascades: CascadeLinks = CascadeLinks([])) {
        self.tables = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        self.cascades = cascades
    }
}

/// A foreign key that changes rows of its table if rows of its target are deleted or changed.
struct CascadeLink: Sendable, Hashable {
    let child: TableName
    let target: TableName
    /// The referenced columns, as positions in the target's table.
    let targetColumns: [Int]
    let actsOnDelete: Bool
    let actsOnUpdate: Bool
}

/// Follows foreign keys, whose effects the log does not contain.
struct CascadeLinks: Sendable, Hashable {
    private let links: [TableName: [CascadeLink]]

    init(_ links: [CascadeLink]) { self.links = Dictionary(grouping: links, by: \.target) }

    /// The writes of a transaction to one table.
    struct Writes: Sendable, Hashable {
        var deletesRows = false
        /// The columns that updates may have changed; nil if they are unknown.
        var changedColumns: Set<Int>? = []

        static let unknown = Writes(deletesRows: true, changedColumns: nil)
    }

    /// Returns the tables whose rows foreign keys may have changed, over any number of steps.
    func reached(by writes: [TableName: Writes]) -> Set<TableName> {
        var reached: Set<TableName> = []
        var pending = Array(writes)
        while let (table, writes) = pending.popLast() {
            for link in links[table] ?? [] where acts(link, on: writes) && reached.insert(link.child).inserted {
                pending.append((link.child, .unknown))
            }
        }
        return reached
    }

    private func acts(_ link: CascadeLink, on writes: Writes) -> Bool {
        if link.actsOnDelete, writes.deletesRows { return true }
        guard link.actsOnUpdate else { return false }
        return writes.changedColumns.map { !$0.isDisjoint(with: link.targetColumns) } ?? true
    }
}
