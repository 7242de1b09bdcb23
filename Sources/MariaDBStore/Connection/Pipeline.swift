import MergeCore
import RecordStore

/// The statements of one connection that were sent before the ones before them were answered.
///
/// The server reads what it is sent one after the other, so that it goes on with the next statement while the answer to
/// the last is on its way and is read here. The C client knows this as leaving an answer unread
/// (`MARIADB_OPT_SKIP_READ_RESPONSE`, `db_read_execute_response`).
final class Pipeline {
    private enum Sent {
        case underWay(Ticket, Statement, PreparedStatement)
        /// It could not even be sent.
        case failed(Ticket, StoreError)
    }

    private var sent: [Sent] = []
    /// Answers that were read because of others, and are not taken yet.
    private var answers: [Ticket: Result<[[Value]], StoreError>] = [:]
    private var next = 0

    /// How many may be under way; the answers to the ones before are then read first, and kept.
    private static let most = 8
    /// A statement that is longer waits until no rows are under way: the server might not read it before its rows were
    /// read here, which happens only once all of the statement has been sent.
    private static let longest = 16_384

    var isEmpty: Bool { sent.isEmpty && answers.isEmpty }

    func send(_ statement: Statement, on handle: Handle) -> Ticket {
        let ticket = Ticket(number: next)
        next += 1
        do throws(StoreError) {
            let prepared = try handle.prepared(statement.sql)
            let parameters = ParameterBuffers(statement.binds)
            let hasRows = sent.contains {
                if case .underWay(_, let other, _) = $0 { !other.columns.isEmpty } else { false }
            }
            if sent.count >= Self.most || (parameters.size > Self.longest && hasRows) { drain(handle) }
            try handle.leavingAnswers { () throws(StoreError) in try prepared.execute(parameters, on: handle) }
            sent.append(.underWay(ticket, statement, prepared))
        } catch {
            sent.append(.failed(ticket, error))
        }
        return ticket
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
        while !sent.isEmpty {
            let (ticket, answer) = readFirst(handle)
            answers[ticket] = answer
        }
    }

    func drop(_ handle: Handle) {
        while !sent.isEmpty { _ = readFirst(handle) }
        answers = [:]
    }

    private func readFirst(_ handle: Handle) -> (Ticket, Result<[[Value]], StoreError>) {
        switch sent.removeFirst() {
        case .failed(let ticket, let error): return (ticket, .failure(error))
        case .underWay(let ticket, let statement, let prepared):
            do throws(StoreError) {
                return (ticket, .success(try read(statement, prepared, handle)))
            } catch {
                return (ticket, .failure(error))
            }
        }
    }

    private func read(
        _ statement: Statement, _ prepared: PreparedStatement, _ handle: Handle
    ) throws(StoreError) -> [[Value]] {
        guard !handle.isBroken else { throw StoreError(.unavailable, "the connection to the database broke") }
        try prepared.receive(on: handle)
        if statement.columns.isEmpty { return [] }
        do throws(StoreError) {
            return try prepared.rows(statement.columns, on: handle)
        } catch {
            let isUnderWay = sent.contains {
                if case .underWay(_, _, let other) = $0 { other === prepared } else { false }
            }
            // What is under way of the same statement could not be told from the rest of these rows.
            if isUnderWay { handle.giveUp() } else { handle.forget(statement.sql) }
            throw error
        }
    }
}
