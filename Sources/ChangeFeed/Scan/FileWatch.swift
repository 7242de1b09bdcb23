/// Decides when a database file is scanned: after a commit of another connection.
///
/// Delivery records that follow such a commit also need a scan.
struct FileWatch {
    private var scanned: (version: Int?, note: Int?)?
    private var changed: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    /// The time after a commit in which delivery records of earlier reads may arrive.
    ///
    /// Requests are shorter.
    private static let late = Duration.seconds(90)
    /// The minimum time between two scans without a commit.
    private static let apart = Duration.seconds(1)
    /// The time after which a scan deletes waiting delivery records.
    private static let most = Duration.seconds(600)
    /// The number of waiting delivery records that starts a scan.
    private static let mostNotes = 250

    /// Returns true if a scan is due.
    ///
    /// - Parameters:
    ///   - version: changes with every commit of another connection.
    ///   - lastNote: the number of the last delivery record.
    func isDue(version: Int?, lastNote: Int?, now: ContinuousClock.Instant) -> Bool {
        guard let scanned, let last else { return true }
        if scanned.version != version { return true }
        guard let lastNote, lastNote > scanned.note ?? 0 else { return false }
        if lastNote - (scanned.note ?? 0) >= Self.mostNotes { return now - last >= Self.apart }
        if let changed, now - changed < Self.late { return now - last >= Self.apart }
        return now - last >= Self.most
    }

    /// Records a scan, with the values from before its start.
    mutating func hasScanned(version: Int?, upToNote note: Int?, now: ContinuousClock.Instant) {
        if scanned?.version != version { changed = now }
        scanned = (version, note)
        last = now
    }
}
