package import MergeCore

/// The log in which a database server writes all committed changes of rows.
///
/// A position is text that only the log reads. It stays usable when the process and the server start again.
package protocol RowLog: Sendable {
    /// Returns the reason why the log cannot be used; nil if it can, as far as the server reports it.
    ///
    /// - Parameter keepsValues: true if the log must contain the former values of all columns.
    func refusal(keepsValues: Bool) async throws(StoreError) -> String?

    /// Runs a statement in its own transaction.
    ///
    /// - Returns: true if the log contains the transaction.
    func logs(_ statement: Statement) async throws(StoreError) -> Bool

    /// Returns the position after all transactions that are committed now.
    func position() async throws(StoreError) -> String

    /// Returns true if a position is not before another one.
    func hasReached(_ position: String, _ other: String) -> Bool

    /// Opens the log, and reads the current form of the tables.
    ///
    /// - Throws: `RowLogError`, also if the account or the position is refused.
    func reader(after position: String, of tables: [LoggedTable]) async throws(RowLogError) -> any RowLogReader
}

/// An open row log.
package protocol RowLogReader: Sendable {
    /// The tables whose changes the log does not contain, or whose values cannot be decoded, by their index.
    var unwatched: Set<Int> { get }

    /// Waits for transactions, and returns all that have arrived.
    ///
    /// - Returns: nothing after some seconds without a transaction.
    func next() async throws(RowLogError) -> LoggedBatch
}

/// The use of the row log.
package enum RowLogUse: Sendable {
    case never
    /// If the server permits it.
    case ifPossible
    /// A log that cannot be read is trouble.
    case expected
}

/// The reason why a row log cannot be read.
package enum RowLogError: Error, Sendable, Hashable {
    /// The server does not have the transactions after the position.
    case unusablePosition(String)
    /// The account or the server does not permit it.
    case refused(String)
    case failed(StoreError)
}

/// A table whose changes are read from a row log.
package struct LoggedTable: Sendable, Hashable {
    /// The table as the rules name it.
    package let name: TableName
    /// The columns whose values are needed.
    package var columns: [Column]
    /// Further columns, whose values may be missing.
    package var extras: [Column] = []

    /// Describes a table.
    package init(name: TableName, columns: [Column] = []) {
        self.name = name
        self.columns = columns
    }
}

/// A row that a transaction inserted, changed or deleted.
package struct LoggedChange: Sendable, Hashable {
    /// The index of the table.
    package let table: Int
    /// The values before the change, first of the columns, then of the extra ones; nil after an insertion.
    ///
    /// A value is nil if the log does not contain it, or contains an extra one in a form that cannot be decoded.
    package let before: [Value?]?
    /// The values after the change; nil after a deletion.
    package let after: [Value?]?
    /// The indexes of values that differ, although they cannot be decoded.
    package let undecoded: Set<Int>

    /// Describes a change.
    package init(table: Int, before: [Value?]?, after: [Value?]?, undecoded: Set<Int> = []) {
        self.undecoded = undecoded
        self.table = table
        self.before = before
        self.after = after
    }
}

/// A committed transaction of a row log.
package struct LoggedTransaction: Sendable, Hashable {
    /// The changed rows.
    package var changes: [LoggedChange]
    /// The tables of which the transaction changed rows that the log does not contain.
    package var incomplete: Set<Int>

    /// Describes a transaction.
    package init(changes: [LoggedChange] = [], incomplete: Set<Int> = []) {
        self.changes = changes
        self.incomplete = incomplete
    }
}

/// Transactions that were read at once.
package struct LoggedBatch: Sendable, Hashable {
    /// The transactions in the order of their commits.
    package var transactions: [LoggedTransaction]
    /// The position after them.
    package var position: String
    /// True if the definition of a table has changed, so that the log must be opened again.
    package var hasAlteredTable: Bool

    /// Bundles transactions.
    package init(transactions: [LoggedTransaction] = [], position: String, hasAlteredTable: Bool = false) {
        self.transactions = transactions
        self.position = position
        self.hasAlteredTable = hasAlteredTable
    }
}
