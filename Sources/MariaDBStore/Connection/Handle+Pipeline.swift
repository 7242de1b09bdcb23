internal import CMariaDB
import MergeCore
import RecordStore

/// Statements that are sent before the ones before them are answered.
///
/// The server reads what it is sent one after the other, so that it goes on with the next statement while the answer to
/// the last is on its way and is read here. The C client knows this as leaving an answer unread
/// (`MARIADB_OPT_SKIP_READ_RESPONSE`, `db_read_execute_response`).
extension Handle {
    private struct Sent {
        let statement: Statement
        let prepared: PreparedStatement

        var hasRows: Bool { !statement.columns.isEmpty }
    }

    /// How many may be under way: one that the server works on, and one that it finds next.
    private static let window = 2
    /// A statement that is longer waits until no rows are under way: the server might not read it before its rows were
    /// read here, which happens only once all of the statement has been sent.
    private static let longest = 16_384

    func run(
        _ next: () -> Statement?, _ take: ([[Value]]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var underWay: [Sent] = []
        do throws(StoreError) {
            while let statement = next() {
                // To prepare a statement is to ask the server and to wait for its answer.
                if !isPrepared(statement.sql) { try receiveAll(&underWay, take) }
                let prepared = try prepared(statement.sql)
                let parameters = ParameterBuffers(statement.binds)
                if underWay.count >= Self.window { try receiveFirst(&underWay, take) }
                if parameters.size > Self.longest, underWay.contains(where: \.hasRows) {
                    try receiveAll(&underWay, take)
                }
                try leavingAnswers { () throws(StoreError) in try prepared.execute(parameters, on: self) }
                underWay.append(Sent(statement: statement, prepared: prepared))
            }
            try receiveAll(&underWay, take)
        } catch {
            drop(underWay)
            throw error
        }
    }

    private func receiveAll(
        _ underWay: inout [Sent], _ take: ([[Value]]) throws(StoreError) -> Void
    ) throws(StoreError) {
        while !underWay.isEmpty { try receiveFirst(&underWay, take) }
    }

    private func receiveFirst(
        _ underWay: inout [Sent], _ take: ([[Value]]) throws(StoreError) -> Void
    ) throws(StoreError) {
        let sent = underWay.removeFirst()
        try sent.prepared.receive(on: self)
        guard sent.hasRows else { return try take([]) }
        let rows: [[Value]]
        do {
            rows = try sent.prepared.rows(sent.statement.columns, on: self)
        } catch {
            // What is under way of the same statement could not be told from the rest of these rows.
            if underWay.contains(where: { $0.prepared === sent.prepared }) {
                giveUp()
            } else {
                forget(sent.statement.sql)
            }
            throw error
        }
        try take(rows)
    }

    /// Takes the answers to what was sent behind a statement that was refused, and has no use for them.
    private func drop(_ underWay: [Sent]) {
        for sent in underWay where !isBroken {
            // What is refused has nothing more to come; rows that broke off may have.
            guard (try? sent.prepared.receive(on: self)) != nil, sent.hasRows else { continue }
            if (try? sent.prepared.rows(sent.statement.columns, on: self)) == nil { giveUp() }
        }
    }
}
