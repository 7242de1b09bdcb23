/// The right to scan, which one gateway has at a time.
package struct ScanLease: Sendable, Hashable {
    /// Names the gateway.
    package let holder: String
    /// Counts how often it was taken.
    package let term: Int

    /// Names a gateway and its term.
    package init(holder: String, term: Int) {
        self.holder = holder
        self.term = term
    }
}

/// The progress of a scan.
package struct ScanProgress: Sendable, Hashable {
    /// All that was committed before this second since 1970, by the database's clock, has been noticed; nil before the
    /// first pass.
    package var noticed: Int?
    /// The time that the last cycle took.
    package var cycleMilliseconds: Int?
    /// Rows that were read in a second.
    package var rowsPerSecond: Int?

    /// Begins before the first cycle.
    package init(noticed: Int? = nil, cycleMilliseconds: Int? = nil, rowsPerSecond: Int? = nil) {
        self.noticed = noticed
        self.cycleMilliseconds = cycleMilliseconds
        self.rowsPerSecond = rowsPerSecond
    }
}

/// The scan as all gateways of a journal see it.
package struct ScanState: Sendable, Hashable {
    /// The gateway that scans; nil while none does.
    package let lease: ScanLease?
    /// The number of times that the scan was taken over.
    package let term: Int
    /// Its progress.
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
