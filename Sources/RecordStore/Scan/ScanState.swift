/// The lease to scan, which one gateway has at a time.
package struct ScanLease: Sendable, Hashable {
    /// The name of the gateway.
    package let holder: String
    /// The number of times that the lease was acquired.
    package let term: Int

    /// Names a gateway and its term.
    package init(holder: String, term: Int) {
        self.holder = holder
        self.term = term
    }
}

/// The progress of a scan.
package struct ScanProgress: Sendable, Hashable {
    /// The second since 1970, by the database's clock, before which all commits were detected; nil before the first
    /// pass.
    package var noticed: Int?
    /// The duration of the last cycle.
    package var cycleMilliseconds: Int?
    /// The number of rows read in a second.
    package var rowsPerSecond: Int?

    /// Begins before the first cycle.
    package init(noticed: Int? = nil, cycleMilliseconds: Int? = nil, rowsPerSecond: Int? = nil) {
        self.noticed = noticed
        self.cycleMilliseconds = cycleMilliseconds
        self.rowsPerSecond = rowsPerSecond
    }
}

/// The state of the scan, which all gateways of a journal share.
package struct ScanState: Sendable, Hashable {
    /// The lease of the gateway that scans; nil if none does.
    package let lease: ScanLease?
    /// The number of times that the lease was acquired.
    package let term: Int
    /// The progress of the scan.
    package let progress: ScanProgress
    /// The second since 1970 by the database's clock.
    package let now: Int

    init(lease: ScanLease?, term: Int, progress: ScanProgress, now: Int) {
        self.lease = lease
        self.term = term
        self.progress = progress
        self.now = now
    }
}
