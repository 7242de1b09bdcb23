import MergeCore
import RecordStore

/// The statements of one connection that were sent before earlier ones were answered.
///
/// The C client supports this by leaving an answer unread (`MARIADB_OPT_SKIP_READ_RESPONSE`,
/// `db_read_execute_response`).
final class Pipeline {
    private enum Sent {
        case underWay(SentStatement)
        /// The statement could not be sent.
        case failed(Ticket, StoreError)
    }

    private struct SentStatement {
        let ticket: Ticket
        let statement: Statement
        let prepared: PreparedStatement
        /// The approximate number of sent bytes.
        let size: Int

        var hasRows: Bool { !statement.columns.isEmpty }
    }

    private var sent: [Sent] = []
    /// Answers that were read early and not received yet.
    private var answers: [Ticket: Result<[[Value]], StoreError>] = [:]
    private var next = 0

    private static let broken = "the connection to the database broke"
    /// The highest number of statements in progress; above it, the oldest answer is read and kept.
    private static let most = 64
    /// The highest number of bytes in progress after a statement with rows.
    ///
    /// The server may not read them before its rows are read here. Rows are read only after everything is sent. The
    /// system's buffers are larger than this limit.
    private static let mostBehindRows = 49_152

    var isEmpty: Bool { sent.isEmpty && answers.isEmpty }

    func send(_ statement: Statement, on handle: Handle) -> Ticket {
        let ticket = Ticket(number: next)
        next += 1
        do throws(StoreError) {
            let parameters = ParameterBuffers(statement.binds)
            let size = parameters.size + 64
            while sent.count >= Self.most || (bytesBehindRows.map { $0 + size > Self.mostBehindRows } ?? false) {
                keepFirst(handle)
            }
            guard !handle.isBroken else { throw StoreError(.disconnected, Self.broken) }
            let prepared = try handle.prepared(statement.sql)
            try handle.leavingAnswers { () throws(StoreError) in try prepared.execute(parameters, on: handle) }
            sent.append(
                .underWay(SentStatement(ticket: ticket, statement: statement, prepared: prepared, size: size)))
        } catch {
            sent.append(.failed(ticket, error))
        }
        return ticket
    }

    /// The bytes sent after the first statement with rows; nil if there is none.
    private var bytesBehindRows: Int? {
        var bytes: Int?
        for case .underWay(let sentStatement) in sent {
            if let before = bytes { bytes = before + sentStatement.size } else if sentStatement.hasRows { bytes = 0 }
        }
        return bytes
    }

    func receive(_ ticket: Ticket, on handle: Handle) throws(StoreError) -> [[Value]] {
        if let answer = answers.removeValue(forKey: ticket) { return try answer.get() }
        while !sent.isEmpty {
            let (first, answer) = readFirst(handle)
            if first == ticket { return try answer.get() }
            answers[first] = answer
        }
        throw StoreError(.other, "an answer was asked for twice")
    }

    /// Reads all outstanding answers, so that another command can follow.
    func drain(_ handle: Handle) {
        while !sent.isEmpty { keepFirst(handle) }
    }

    private func keepFirst(_ handle: Handle) {
        let (ticket, answer) = readFirst(handle)
        answers[ticket] = answer
    }

    func drop(_ handle: Handle) {
        while !sent.isEmpty { _ = readFirst(handle) }
        answers = [:]
    }

    private func readFirst(_ handle: Handle) -> (Ticket, Result<[[Value]], StoreError>) {
        switch sent.removeFirst() {
        case .failed(let ticket, let error): return (ticket, .failure(error))
        case .underWay(let sentStatement):
            do throws(StoreError) {
                return (
                    sentStatement.ticket,
                    .success(try read(sentStatement.statement, prepared: sentStatement.prepared, on: handle))
                )
            } catch {
                return (sentStatement.ticket, .failure(error))
            }
        }
    }

    private func read(
        _ statement: Statement, prepared: PreparedStatement, on handle: Handle
    ) throws(StoreError) -> [[Value]] {
        guard !handle.isBroken else { throw StoreError(.disconnected, Self.broken) }
        try prepared.receive(on: handle)
        if statement.columns.isEmpty {
            try statement.check(rowsMet: prepared.rowsMet)
            return []
        }
        do throws(StoreError) {
            return try prepared.rows(statement.columns, hashing: statement.hashKey, on: handle)
        } catch {
            let isUnderWay = sent.contains {
                if case .underWay(let other) = $0 { other.prepared === prepared } else { false }
            }
            // The remaining rows would be read as the answer to the next execution of this statement.
            if isUnderWay { handle.giveUp() } else { handle.forget(statement.sql) }
            throw error
        }
    }
}
