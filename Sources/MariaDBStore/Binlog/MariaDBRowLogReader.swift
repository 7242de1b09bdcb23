import MergeCore
import RecordStore

/// Reads batches of transactions from the binary log.
actor MariaDBRowLogReader: RowLogReader {
    private let connection: BinlogConnection
    private let forms: LoggedForms
    private var checkpoint: BinlogCheckpoint
    /// The last transaction of an earlier reader, which must come first.
    private var expected: BinlogCheckpoint.Last?

    nonisolated var unwatched: Set<Int> { forms.unwatched }

    init(_ connection: BinlogConnection, _ forms: LoggedForms, from checkpoint: BinlogCheckpoint) {
        self.connection = connection
        self.forms = forms
        self.checkpoint = checkpoint
        expected = checkpoint.last
    }

    func next() async throws(RowLogError) -> LoggedBatch {
        let groups: [BinlogConnection.Group]
        do throws(BinlogReadError) {
            groups = try await connection.batch()
        } catch {
            throw RowLogError(error)
        }
        var batch = LoggedBatch(position: "")
        for group in groups {
            if try isKnown(group) { continue }
            if let last = group.last { checkpoint.advance(to: last) }
            batch.hasAlteredTable = batch.hasAlteredTable || group.transaction.changesSchema
            let transaction = forms.logged(group.transaction)
            if transaction != LoggedTransaction() { batch.transactions.append(transaction) }
        }
        if groups.isEmpty, expected != nil { throw Self.otherHistory }
        batch.position = checkpoint.description
        return batch
    }

    private static let otherHistory = RowLogError.unusablePosition("the log has another history")

    /// Returns true for the transaction that an earlier reader has read last.
    private func isKnown(_ group: BinlogConnection.Group) throws(RowLogError) -> Bool {
        guard let expected, let last = group.last else { return false }
        guard last == expected else { throw Self.otherHistory }
        self.expected = nil
        return true
    }
}
