import RecordStore
import Synchronization

/// A row log without a server, whose positions are numbers.
final class ScriptedLog: RowLog {
    private struct State {
        var end = 1
        /// The errors of the next openings; nil for a log that opens.
        var openings: [RowLogError?] = []
        var opened: [String] = []
    }

    private let state = Mutex(State())
    private let batches: AsyncStream<Result<LoggedBatch, RowLogError>>
    private let script: AsyncStream<Result<LoggedBatch, RowLogError>>.Continuation

    init() { (batches, script) = AsyncStream.makeStream() }

    /// The positions at which the log was opened.
    var opened: [String] { state.withLock { $0.opened } }

    func open(next errors: RowLogError?...) { state.withLock { $0.openings = errors } }

    func setEnd(_ end: Int) { state.withLock { $0.end = end } }

    /// Delivers transactions, with the position after them.
    func send(_ transactions: LoggedTransaction..., position: Int, alters: Bool = false) {
        script.yield(
            .success(LoggedBatch(transactions: transactions, position: "\(position)", hasAlteredTable: alters)))
    }

    func fail(_ error: RowLogError) { script.yield(.failure(error)) }

    // MARK: RowLog

    func refusal() async throws(StoreError) -> String? { nil }
    func logs(_ statement: Statement) async throws(StoreError) -> Bool { true }
    func position() async throws(StoreError) -> String { state.withLock { "\($0.end)" } }
    func hasReached(_ position: String, _ other: String) -> Bool { Int(position) ?? 0 >= Int(other) ?? 0 }

    func reader(
        after position: String, of tables: [LoggedTable]
    ) async throws(RowLogError) -> any RowLogReader {
        let error = state.withLock { state in
            state.opened.append(position)
            return state.openings.isEmpty ? nil : state.openings.removeFirst()
        }
        if let error { throw error }
        return Reader(batches)
    }

    private actor Reader: RowLogReader {
        private let batches: AsyncStream<Result<LoggedBatch, RowLogError>>
        nonisolated var unwatched: Set<Int> { [] }

        init(_ batches: AsyncStream<Result<LoggedBatch, RowLogError>>) { self.batches = batches }

        func next() async throws(RowLogError) -> LoggedBatch {
            var next = batches.makeAsyncIterator()
            guard let result = await next.next(isolation: self) else {
                throw .failed(StoreError(.disconnected, "the script has ended"))
            }
            return try result.get()
        }
    }
}
