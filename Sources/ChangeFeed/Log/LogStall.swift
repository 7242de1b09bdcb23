import RecordStore

/// Detects that the reader of a row log does not receive committed changes.
struct LogStall {
    private let log: any RowLog
    /// An end of the log that the reader has not reached, with its own position and the time.
    private var behind: (read: String, end: String, since: ContinuousClock.Instant)?
    /// True if the last end was before the reader.
    private var wasAhead = false

    /// The longest time in which a reader receives nothing although transactions are committed.
    static let patience = Duration.seconds(20)

    init(_ log: any RowLog) { self.log = log }

    /// - Parameters:
    ///   - read: the position of the reader.
    ///   - end: the end of the log, read after `read`.
    /// - Returns: the error of the reader, or nil.
    mutating func check(read: String, end: String, now: ContinuousClock.Instant) -> RowLogError? {
        // A proxy may once answer from a server that lags.
        let isAhead = !log.hasReached(end, read)
        defer { wasAhead = isAhead }
        if isAhead, wasAhead { return .unusablePosition("the log has begun again") }
        guard let former = behind, former.read == read, !log.hasReached(read, former.end) else {
            behind = (read, end, now)
            return nil
        }
        guard now - former.since >= Self.patience else { return nil }
        return .failed(StoreError(.disconnected, "the server sends no transactions of its log"))
    }
}
