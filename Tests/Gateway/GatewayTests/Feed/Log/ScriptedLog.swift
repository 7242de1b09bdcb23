import RecordStore
import Synchronization

/// A row log without a server, whose positions are numbers.
final class ScriptedLog: RowLog {
    private struct State {
        var end = 1
        /// The errors of the next openings, of which the last repeats; nil for a log that opens.
        var openings: [RowLogError?] = [nil]
        var opened: [String] = []
        var script: [Result<LoggedBatch, RowLogError>] = []
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    /// The positions at which the log was opened.
    var opened: [String] { state.withLock { $0.opened } }

    func open(next errors: RowLogError?...) { state.withLock { $0.openings = errors } }

    func setEnd(_ end: Int) { state.withLock { $0.end = end } }

    /// Delivers transactions, with the position after them.
    func send(_ transactions: LoggedTransaction..., position: Int, alters: Bool = false) {
        add(.success(LoggedBatch(transactions: transactions, position: "\(position)", hasAlteredTable: alters)))
    }

    func fail(_ error: RowLogError) { add(.failure(error)) }

    private func add(_ result: Result<LoggedBatch, RowLogError>) {
        state.withLock { $0.script.append(result) }
        wake()
    }

    private func wake() {
        state.withLock { state in
            state.waiting?.resume()
            state.waiting = nil
        }
    }

    /// Waits for the next part of the script.
    ///
    /// A cancelled reader does not consume it.
    fileprivate func next() async throws(RowLogError) -> LoggedBatch {
        while true {
            if Task.isCancelled { throw .failed(StoreError(.disconnected, "the reader was cancelled")) }
            let result = state.withLock { $0.script.isEmpty ? nil : $0.script.removeFirst() }
            guard let result else {
                await wait()
                continue
            }
            let batch = try result.get()
            // A log contains what it sends.
            if let position = Int(batch.position) { state.withLock { $0.end = max($0.end, position) } }
            return batch
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                state.withLock { state in
                    if state.script.isEmpty, !Task.isCancelled { state.waiting = waiting } else { waiting.resume() }
                }
            }
        } onCancel: {
            wake()
        }
    }

    // MARK: RowLog

    func refusal(keepsValues: Bool) async throws(StoreError) -> String? { nil }
    func logs(_ statement: Statement) async throws(StoreError) -> Bool { true }
    func position() async throws(StoreError) -> String { state.withLock { "\($0.end)" } }
    func hasReached(_ position: String, _ other: String) -> Bool { Int(position) ?? 0 >= Int(other) ?? 0 }

    func reader(
        after position: String, of tables: [LoggedTable]
    ) async throws(RowLogError) -> any RowLogReader {
        let error = state.withLock { state in
            state.opened.append(position)
            return state.openings.count > 1 ? state.openings.removeFirst() : state.openings[0]
        }
        if let error { throw error }
        return Reader(log: self)
    }

    private struct Reader: RowLogReader {
        let log: ScriptedLog
        var unwatched: Set<Int> { [] }

        func next() async throws(RowLogError) -> LoggedBatch { try await log.next() }
    }
}
