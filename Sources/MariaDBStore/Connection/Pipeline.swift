import MergeCore
import RecordStore

/// The statements of one connection that were sent before the ones before them were answered.
///
/// The server reads what it is sent one after the other, so that it goes on with the next statement while the answer to
/// the last is on its way and is read here. The C client knows this as leaving an answer unread
/// (`MARIADB_OPT_SKIP_READ_RESPONSE`, `db_read_execute_response`).
final class Pipeline {
    private enum Sent {
        case underWay(SentStatement)
        /// It could not even be sent.
        case failed(Ticket, StoreError)
    }

    private struct SentStatement {
        let ticket: Ticket
        let statement: Statement
        let prepared: PreparedStatement
        /// About as many bytes as were sent.
        let size: Int

        var hasRows: Bool { !statement.columns.isEmpty }
    }

    private var sent: [Sent] = []
    /// Answers that were read because of others, and are not taken yet.
    private var answers: [Ticket: Result<[[Value]], StoreError>] = [:]
    private var next = 0

    private static let broken = "the connection to the database broke"
    /// The most statements that may be under way; the oldest answer is then read first, and kept.
    private static let most = 64
    /// The most bytes that may be under way behind a statement with rows.
    ///
    /// The server might not read them before its rows were read here, which happens only once all has been sent. The
    /// system's buffers hold more than this.
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

    /// The bytes sent behind the first statement whose rows are under way; nil where none are.
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

    /// Reads the answers to everything that is under way, so that something else can be asked.
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
            // What is under way of the same statement could not be told from the rest of these rows.
            if isUnderWay { handle.giveUp() } else { handle.forget(statement.sql) }
            throw error
        }
    }
}
