import MergeCore
import RecordStore

@testable import ChangeFeed
@testable import SQLiteStore

/// Orders with lines, which are also a resource, and clerks whose names the orders show.
enum LoggedOrders {
    static let feed = JournalTables(schema: "main", dialect: SQLiteDialect()).feed
    static let sql = """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, clerk INTEGER, state TEXT);
        CREATE TABLE lines (id INTEGER PRIMARY KEY, order_id INTEGER, article TEXT);
        CREATE TABLE clerks (id INTEGER PRIMARY KEY, name TEXT);
        """

    private static let number = ColumnType.integer(-1_000...1_000)
    private static func number(_ name: String) -> Column { Column(name: name, type: number, isNullable: true) }
    private static func text(_ name: String) -> Column {
        Column(name: name, type: .text(TextType()), isNullable: true)
    }

    private static let clerk = ReferenceStep(
        along: number("clerk"), to: TableName(name: "clerks"), key: number("id"), column: text("name"))

    private static let order = Section(
        name: "order", kind: .root,
        table: SectionTable(
            TableName(name: "orders"), columns: [number("id"), number("clerk"), text("state"), .lookup(clerk)],
            keyCount: 1))

    private static let lineColumns = [number("id"), number("order_id"), text("article")]

    private static let lines = Section(
        name: "lines", kind: .list,
        table: SectionTable(
            TableName(name: "lines"), columns: lineColumns, keyCount: 1,
            parent: [ParentLink(column: 1, rootColumn: 0)]))

    private static let line = Section(
        name: "line", kind: .root, table: SectionTable(TableName(name: "lines"), columns: lineColumns, keyCount: 1))

    static let catalog = Catalog(
        resources: [
            Resource(name: "orders", description: nil, sections: [order, lines]),
            Resource(name: "lines", description: nil, sections: [line]),
        ].compactMap { $0 }, version: "v")

    static let units = ScanUnit.all(of: catalog).units

    /// The indexes of the sections.
    static let (orderUnit, linesUnit, lineUnit) = (0, 1, 2)
}

extension LoggedTable {
    var columnNames: [String] { columns.map(\.name) }
}
