import MergeCore
import RecordStore

/// The current forms of the logged tables: their names in the log, and the positions of their columns.
struct LoggedForms: Sendable {
    let watched: WatchedTables
    /// The tables that the log does not contain, by their index.
    private(set) var unwatched: Set<Int> = []
    /// The logged tables of each table of the log, with the positions of their columns in the watched columns.
    private var views: [TableName: [(table: Int, places: [Int?])]] = [:]

    /// The engines whose tables only this server changes.
    private static let engines: Set<String> = ["InnoDB", "Aria", "MyISAM"]

    /// - Parameter isLower: true if the server stores the names of tables in lower case.
    init(_ tables: [LoggedTable], lowercasingNames isLower: Bool, _ session: MariaDBSession) throws(StoreError) {
        let schema = try SchemaReader(session).read(tables.map(\.name))
        let texts = LoggedTexts(session)
        func logName(_ name: TableName) -> TableName {
            let full = TableName(schema: name.schema ?? schema.name, name: name.name)
            guard isLower else { return full }
            return TableName(schema: full.schema?.lowercased(), name: full.name.lowercased())
        }
        let links = try CascadeLinkReader(session).links(to: schema.tables.filter { !$0.value.isView }) { logName($0) }
        var forms: [TableName: LoggedForm] = [:]
        for (index, table) in tables.enumerated() {
            guard let current = schema.tables[table.name], !current.isView, Self.engines.contains(current.engine) else {
                unwatched.insert(index)
                continue
            }
            let name = logName(table.name)
            var form = forms[name] ?? LoggedForm(current)
            if let places = form.places(of: table.columns) {
                views[name, default: []].append((index, places + form.places(ofExtra: table.extras)))
                forms[name] = form
            } else {
                unwatched.insert(index)
            }
        }
        var all: [WatchedTable] = []
        var cascades: [CascadeLink] = []
        for link in links {
            // Without the referenced columns, each update counts as a change of them.
            forms[link.target]?.add(link.targetColumns)
        }
        for (name, form) in forms { all.append(try form.watched(as: name, texts)) }
        for link in links {
            let form = forms[link.target]
            cascades.append(
                CascadeLink(
                    child: link.child, target: link.target,
                    targetColumns: link.targetColumns.compactMap { form?.ordinal(of: $0) },
                    actsOnDelete: link.actsOnDelete, actsOnUpdate: link.actsOnUpdate))
        }
        watched = WatchedTables(all, cascades: CascadeLinks(cascades))
    }

    /// Returns a transaction as far as it concerns the logged tables.
    func logged(_ transaction: ForeignTransaction) -> LoggedTransaction {
        var logged = LoggedTransaction()
        for change in transaction.changes {
            for (table, places) in views[change.table] ?? [] {
                let undecoded = places.indices.filter { index in
                    places[index].map { Self.differsUndecoded(change, at: $0) } ?? false
                }
                logged.changes.append(
                    LoggedChange(
                        table: table, before: Self.values(change.before, places: places),
                        after: Self.values(change.after, places: places), undecoded: Set(undecoded)))
            }
        }
        for (name, views) in views where transaction.passes.contains(name) {
            logged.incomplete.formUnion(views.map(\.table))
        }
        return logged
    }

    private static func values(_ all: [WatchedValue]?, places: [Int?]) -> [Value?]? {
        all.map { all in
            places.map { place in
                if let place, case .value(let value) = all[place] { value } else { nil }
            }
        }
    }

    private static func differsUndecoded(_ change: WatchedChange, at place: Int) -> Bool {
        let values = [change.before?[place], change.after?[place]]
        let isUndecoded = values.contains { if case .undecoded = $0 { true } else { false } }
        return isUndecoded && values[0] != values[1]
    }
}

/// The watched columns of one table.
private struct LoggedForm {
    private let table: TableSchema
    private var columns: [(ordinal: Int, column: Column, isOptional: Bool)] = []

    init(_ table: TableSchema) { self.table = table }

    func ordinal(of name: String) -> Int? {
        table.columns.firstIndex { $0.name.lowercased() == name.lowercased() }
    }

    /// Returns the places of columns among the watched ones; nil if one is missing.
    mutating func places(of wanted: [Column]) -> [Int]? {
        let places = wanted.compactMap { place(of: $0, isOptional: false) }
        return places.count == wanted.count ? places : nil
    }

    /// Returns the places of columns whose values may be missing; nil for a missing column.
    mutating func places(ofExtra wanted: [Column]) -> [Int?] { wanted.map { place(of: $0, isOptional: true) } }

    private mutating func place(of column: Column, isOptional: Bool) -> Int? {
        guard let ordinal = ordinal(of: column.name) else { return nil }
        if let known = columns.firstIndex(where: { $0.ordinal == ordinal && $0.column.type == column.type }) {
            columns[known].isOptional = columns[known].isOptional && isOptional
            return known
        }
        columns.append((ordinal, column, isOptional))
        return columns.count - 1
    }

    mutating func add(_ names: [String]) {
        for name in names {
            guard let ordinal = ordinal(of: name), !columns.contains(where: { $0.ordinal == ordinal }),
                let type = table.columns[ordinal].types.first
            else { continue }
            columns.append((ordinal, table.columns[ordinal].column(as: type), false))
        }
    }

    func watched(as name: TableName, _ texts: LoggedTexts) throws(StoreError) -> WatchedTable {
        var watched: [WatchedColumn] = []
        for (ordinal, column, isOptional) in columns {
            let declared = table.columns[ordinal].declaredType
            watched.append(
                WatchedColumn(
                    ordinal: ordinal, column: column, isUnsigned: declared.contains(" unsigned"),
                    text: try texts.text(of: table.columns[ordinal]), isOptional: isOptional))
        }
        let fractions = table.columns.indices.filter { table.columns[$0].declaredType.contains("(") }
        return WatchedTable(
            name: name, columnCount: table.columns.count, columns: watched, fractions: Set(fractions))
    }
}

/// Finds how the log spells texts.
private final class LoggedTexts {
    private let session: MariaDBSession
    private var known: [String: BinlogText] = [:]

    init(_ session: MariaDBSession) { self.session = session }

    func text(of column: ColumnSchema) throws(StoreError) -> BinlogText {
        let words = column.declaredType.split(separator: " ")
        guard let place = words.lastIndex(of: "set"), place > 0, words[place - 1] == "character",
            place + 1 < words.count
        else { return .utf8 }
        let set = String(words[place + 1])
        if let text = known[set] { return text }
        let text: BinlogText
        switch set {
        case "utf8mb4", "utf8mb3", "utf8", "ascii": text = .utf8
        case "ucs2", "utf16": text = .utf16
        case "utf32": text = .utf32
        default: text = try CharacterSets(session).bytes(of: set).map { .singleByte($0) } ?? .other
        }
        known[set] = text
        return text
    }
}
