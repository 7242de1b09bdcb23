import MergeCore
import RecordStore

/// Reads the types that statements report for a table's columns.
struct ColumnSignatures {
    private let session: MariaDBSession
    private let table: TableName
    private let dialect = MariaDBDialect()

    init(_ session: MariaDBSession, table: TableName) {
        self.session = session
        self.table = table
    }

    /// Prevents changes to the table's definition until the transaction ends.
    ///
    /// So information_schema and the signatures describe the same columns.
    func holdTable() throws(StoreError) {
        _ = try readable("SELECT 1 FROM \(dialect.quoted(table)) LIMIT 0")
    }

    /// - Returns: the signatures by column; empty if the database user cannot read the table.
    func read(_ columns: [String]) throws(StoreError) -> [String: ColumnSignature] {
        guard !columns.isEmpty else { return [:] }
        let names = columns.map { dialect.quoted($0) }.joined(separator: ", ")
        let found = try readable("SELECT \(names) FROM \(dialect.quoted(table)) LIMIT 0") ?? []
        return Dictionary(zip(columns, found)) { first, _ in first }
    }

    /// - Returns: nil if the table cannot be read, which the check of the rules reports.
    private func readable(_ sql: String) throws(StoreError) -> [ColumnSignature]? {
        do throws(StoreError) {
            return try session.signatures(sql)
        } catch {
            guard [.denied, .schemaChanged, .other].contains(error.kind) else { throw error }
            return nil
        }
    }
}
