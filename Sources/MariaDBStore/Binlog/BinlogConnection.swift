import RecordStore
import Synchronization

/// The times of a reader.
struct BinlogLimits: Sendable, Hashable {
    /// After this time without events, an idle server sends a heartbeat.
    var heartbeat = Duration.seconds(5)
    /// After this time without any byte, the connection is broken.
    var silenceSeconds: UInt32 = 20
    /// The time in which a busy reader collects transactions, so that it returns few large batches.
    var collection = Duration.milliseconds(40)
}

/// The reason why the log cannot be read further.
enum BinlogReadError: Error, Sendable, Hashable {
    /// The server does not have the position: its logs were purged or reset, or it is another server.
    case unusablePosition(String)
    /// The server ended the log.
    case ended
    case failed(StoreError)
}

/// The progress of a reader.
enum BinlogReport: Sendable, Hashable {
    /// A transaction was committed. It may not concern watched tables.
    case transaction(ForeignTransaction)
    /// No later transaction exists.
    case idle
}

/// Reads the transactions of the binary log on its own thread, because the C client blocks.
actor BinlogConnection {
    private let thread: ConnectionThread
    private nonisolated let health = ConnectionHealth()
    private nonisolated let isStopped = Atomic<Bool>(false)
    private var handle: BinlogHandle?
    private var decoder = BinlogDecoder()
    private var groups: BinlogGroups
    /// The beginning of the current transaction.
    private var start: BinlogGroupStart?
    private var collection = Duration.zero

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ watched: WatchedTables) throws(StoreError) {
        groups = BinlogGroups(watched)
        do {
            thread = try ConnectionThread()
        } catch {
            throw StoreError(.busy, "the system refused another thread", code: Int(error.code))
        }
    }

    /// Closes the handle on its own thread.
    isolated deinit {
        handle = nil
        thread.stop()
    }

    /// Connects, and requests the transactions after a position.
    ///
    /// - Throws: `BinlogReadError`, also if the account or the position is refused, which the first message reports.
    func open(
        _ configuration: MariaDBConfiguration, after position: BinlogPosition, _ limits: BinlogLimits = BinlogLimits()
    ) throws(BinlogReadError) {
        collection = limits.collection
        let opened: BinlogHandle
        do throws(StoreError) {
            opened = try BinlogHandle(configuration, after: position, limits, health)
        } catch {
            throw .failed(error)
        }
        // The server first sends the name of its file.
        if case .event(let bytes) = try opened.next() { _ = decoder.decode(bytes) }
        handle = opened
    }

    /// Waits for the next transaction or heartbeat; a cancelled task ends the connection.
    nonisolated func next() async throws(BinlogReadError) -> BinlogReport {
        // The closure of the handler has an untyped error.
        let result = await withTaskCancellationHandler {
            await read()
        } onCancel: {
            stop()
        }
        return try result.get()
    }

    /// A transaction with its id and time; nil if the log does not contain its id.
    struct Group: Sendable {
        let transaction: ForeignTransaction
        let last: BinlogCheckpoint.Last?
    }

    private static let mostGroups = 500
    private static let mostChanges = 5_000

    /// Waits for the next transaction, and returns the transactions that have arrived; none for a heartbeat.
    ///
    /// If the first one comes soon, it collects more: each batch with foreign changes costs a transaction.
    ///
    /// A cancelled task ends the connection.
    nonisolated func batch() async throws(BinlogReadError) -> [Group] {
        // The closure of the handler has an untyped error.
        let result = await withTaskCancellationHandler {
            await readBatch()
        } onCancel: {
            stop()
        }
        return try result.get()
    }

    private func readBatch() -> Result<[Group], BinlogReadError> {
        var groups: [Group] = []
        var changes = 0
        let beginning = ContinuousClock.now
        var end = beginning
        do throws(BinlogReadError) {
            repeat {
                guard case .transaction(let transaction) = try report() else { break }
                if groups.isEmpty {
                    end = .now
                    if end - beginning < collection { end += collection }
                }
                changes += transaction.changes.count
                let last = start.flatMap { start in
                    transaction.gtid == start.gtid
                        ? BinlogCheckpoint.Last(gtid: start.gtid, timestamp: start.timestamp) : nil
                }
                groups.append(Group(transaction: transaction, last: last))
                // Later changes of an altered table need its new form.
                if transaction.changesSchema { break }
            } while groups.count < Self.mostGroups && changes < Self.mostChanges && handle?.receives(until: end) == true
        } catch {
            handle = nil
            return .failure(error)
        }
        return .success(groups)
    }

    private func read() -> Result<BinlogReport, BinlogReadError> {
        do throws(BinlogReadError) {
            return .success(try report())
        } catch {
            handle = nil
            return .failure(error)
        }
    }

    private func report() throws(BinlogReadError) -> BinlogReport {
        while !isStopped.load(ordering: .acquiring), let handle {
            let event: BinlogEvent
            switch try handle.next() {
            case .event(let bytes): event = decoder.decode(bytes)
            case .unreadable: event = .undecodable(.unsupported)
            }
            if case .start(let next) = event { start = next }
            if let transaction = groups.add(event) { return .transaction(transaction) }
            if event == .heartbeat { return .idle }
        }
        throw .ended
    }

    /// Ends the connection; a waiting `next` throws.
    nonisolated func stop() {
        isStopped.store(true, ordering: .releasing)
        health.expect(by: .now)
        health.cutOff(at: .now)
    }
}
