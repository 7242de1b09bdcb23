import MergeCore
import MergeService
import RecordStore

/// The tables that are read from the row log, and the sections that contain or show their rows.
struct LogPlan {
    /// A section whose rows are rows of a table.
    private struct View {
        let unit: Int
        /// The positions of the section's `kept` columns among the logged columns; nil for columns of referred rows.
        let places: [Int?]
        /// The places of references to rows whose columns access conditions test.
        let references: [Int]
        /// The positions of the section's columns whose values the journal keeps; nil for columns of referred rows.
        var images: [Int?] = []
        /// The places of the columns that an undo of a deletion restores.
        var restored: [(column: Column, place: Int)] = []
    }

    /// A section whose rows show a column of a table's rows.
    private struct Lookup {
        let unit: Int
        let key: Int
        let column: Int
    }

    private(set) var tables: [LoggedTable]
    private let units: [ScanUnit]
    private var views: [[View]] = []
    private var lookups: [[Lookup]] = []

    /// The index of the journal's table with the records of committed pushes.
    private static let pending = 0

    /// - Parameter keeping: returns the columns of a table that the journal keeps of deleted rows; nil if the journal
    ///   keeps no foreign values.
    init(_ units: [ScanUnit], _ feed: FeedTables, keeping keptColumns: ((TableName) -> [Column])? = nil) {
        self.units = units
        tables = [LoggedTable(name: feed.pending, columns: [feed.pendingRecords])]
        for (index, unit) in units.enumerated() {
            let table = place(of: unit.section.table)
            let kept = unit.kept.map { unit.section.columns[$0] }
            let places = kept.map { $0.lookup == nil ? place(of: $0, in: table) : nil }
            let references = kept.compactMap { $0.lookup.map { place(of: $0.own, in: table) } }
            add(View(unit: index, places: places, references: references), to: &views, table)
            for step in unit.section.columns.compactMap(\.lookup) {
                let referred = place(of: step.table)
                let lookup = Lookup(
                    unit: index, key: place(of: step.key, in: referred), column: place(of: step.column, in: referred))
                add(lookup, to: &lookups, referred)
            }
        }
        if let keptColumns { keepImages(keptColumns) }
    }

    /// Adds the columns whose values the journal keeps, after the needed ones of all tables.
    private mutating func keepImages(_ keptColumns: (TableName) -> [Column]) {
        for table in views.indices {
            for index in views[table].indices {
                let section = units[views[table][index].unit].section
                views[table][index].images = section.columns.map { column in
                    column.lookup == nil ? place(ofImage: column, in: table) : nil
                }
                views[table][index].restored = keptColumns(section.table).map {
                    ($0, place(ofImage: $0, in: table))
                }
            }
        }
    }

    private mutating func place(ofImage column: Column, in table: Int) -> Int {
        let known = tables[table].columns + tables[table].extras
        if let index = known.firstIndex(where: { $0.name == column.name && $0.type == column.type }) { return index }
        tables[table].extras.append(column)
        return known.count
    }

    private mutating func place(of table: TableName) -> Int {
        if let known = tables.firstIndex(where: { $0.name == table }) { return known }
        tables.append(LoggedTable(name: table))
        return tables.count - 1
    }

    private mutating func place(of column: Column, in table: Int) -> Int {
        if let known = tables[table].columns.firstIndex(where: { $0.name == column.name && $0.type == column.type }) {
            return known
        }
        tables[table].columns.append(column)
        return tables[table].columns.count - 1
    }

    private func add<Element>(_ element: Element, to lists: inout [[Element]], _ table: Int) {
        while lists.count <= table { lists.append([]) }
        lists[table].append(element)
    }

    /// Returns the sections that contain or show rows of tables.
    func units(of tables: Set<Int>) -> Set<Int> {
        Set(
            tables.flatMap { table in
                (views[safe: table] ?? []).map(\.unit) + (lookups[safe: table] ?? []).map(\.unit)
            })
    }

    // MARK: Transactions

    /// The effect of transactions on the sections.
    struct Effects {
        /// A changed row, with the records that the push of its transaction reports.
        struct Change {
            let row: RangeDiff.Change
            let reported: Set<RecordName>
            /// True if only a pass can find the former values that access conditions tested.
            let needsPass: Bool
            /// The values for the journal; nil if it keeps none of this change.
            let images: RowImages?
        }

        /// The changed rows of each section, in the order of the log.
        var changes: [Int: [Change]] = [:]
        /// The sections that need a pass.
        var passes: Set<Int> = []
    }

    func effects(of transactions: [LoggedTransaction]) -> Effects {
        var effects = Effects()
        for (number, transaction) in transactions.enumerated() {
            effects.passes.formUnion(units(of: transaction.incomplete))
            let reported = reportedRecords(transaction)
            let isOwn = Self.isOwn(transaction)
            for change in transaction.changes where change.table != Self.pending {
                for view in views[safe: change.table] ?? [] {
                    if let row = row(change, view: view) {
                        effects.changes[view.unit, default: []].append(
                            .init(
                                row: row, reported: reported, needsPass: Self.refersElsewhere(change, view: view),
                                images: isOwn ? nil : images(of: change, in: view, transaction: number)))
                    } else {
                        effects.passes.insert(view.unit)
                    }
                }
                for lookup in lookups[safe: change.table] ?? [] where isShown(change, lookup: lookup) {
                    effects.passes.insert(lookup.unit)
                }
            }
        }
        return effects
    }

    /// Returns true for the transaction of a push, including the writes of its triggers.
    private static func isOwn(_ transaction: LoggedTransaction) -> Bool {
        transaction.incomplete.contains(pending)
            || transaction.changes.contains { $0.table == pending && $0.before == nil }
    }

    private func images(of change: LoggedChange, in view: View, transaction: Int) -> RowImages? {
        if view.images.isEmpty { return nil }
        func values(_ all: [Value?]?) -> [Value?]? { all.map { all in view.images.map { $0.flatMap { all[$0] } } } }
        return RowImages(
            transaction: transaction, before: values(change.before), after: values(change.after),
            undecoded: Set(
                view.images.indices.filter { view.images[$0].map { change.undecoded.contains($0) } ?? false }),
            restored: change.after != nil ? [] : view.restored.map { ($0.column, change.before?[$0.place]) })
    }

    /// Returns the records that pushes of a transaction report themselves.
    private func reportedRecords(_ transaction: LoggedTransaction) -> Set<RecordName> {
        var names: Set<RecordName> = []
        for change in transaction.changes where change.table == Self.pending && change.before == nil {
            guard case .bytes(let bytes)?? = change.after?.first, let run = PendingRun(bytes: bytes) else { continue }
            names.formUnion(run.changes.map(\.name))
        }
        return names
    }

    /// Returns nil if the log lacks a value that identifies the records of the row.
    private func row(_ change: LoggedChange, view: View) -> RangeDiff.Change? {
        let unit = units[view.unit]
        func mark(_ values: [Value?]?) -> Mark?? {
            guard let values else { return .some(nil) }
            let kept = view.places.compactMap { place in place.map { values[$0] } ?? .null }
            guard kept.count == view.places.count, let mark = unit.mark(kept[...], digest: 0) else { return nil }
            return mark
        }
        guard let former = mark(change.before), let now = mark(change.after) else { return nil }
        return RangeDiff.Change(former: former, now: now)
    }

    /// Returns true if a row with tested references was deleted, or refers to another row.
    private static func refersElsewhere(_ change: LoggedChange, view: View) -> Bool {
        guard !view.references.isEmpty, let before = change.before else { return false }
        guard let after = change.after else { return true }
        return view.references.contains { before[$0] != after[$0] }
    }

    private func isShown(_ change: LoggedChange, lookup: Lookup) -> Bool {
        guard let before = change.before, let after = change.after else { return true }
        return before[lookup.key] != after[lookup.key] || before[lookup.column] != after[lookup.column]
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
