import RecordStore

/// Compares the progress of the reader with the end of the row log.
struct LogWatch {
    let log: any RowLog
    let agenda: PassAgenda
    private var goal: (position: String, now: Int)?

    /// The longest wait for the reader before the scan records a change.
    private static let patience = Duration.seconds(30)

    init(_ log: any RowLog, _ agenda: PassAgenda) {
        self.log = log
        self.agenda = agenda
    }

    /// Returns the last time at which all committed changes were recorded or reported; nil if it is unknown.
    ///
    /// - Parameter now: the second by the clock of the journal's database.
    mutating func checked(now: Int) async throws(StoreError) -> Int? {
        guard agenda.isFollowing, let progress = agenda.progress, !progress.needsPasses else {
            goal = nil
            return nil
        }
        guard let reached = goal else {
            goal = (try await log.position(), now)
            return nil
        }
        guard log.hasReached(progress.position, reached.position) else { return nil }
        goal = nil
        return reached.now
    }

    /// Waits until the reader has recorded everything that is committed now.
    ///
    /// So the scan does not record again what the log contains.
    ///
    /// - Parameter renew: renews the lease of the scan, about once a second.
    func catchUp(renewing renew: () async throws -> Void) async throws {
        guard agenda.isReading else { return }
        let read = agenda.progress?.position
        let goal = try await log.position()
        // A log that began again does not contain the change for this reader.
        if let read, !log.hasReached(goal, read) { return agenda.doubt() }
        let begin = ContinuousClock.now
        var renewed = begin
        while agenda.isReading, ContinuousClock.now - begin < Self.patience {
            if let progress = agenda.progress, log.hasReached(progress.position, goal) { return }
            if ContinuousClock.now - renewed >= .seconds(1) {
                renewed = .now
                try await renew()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
