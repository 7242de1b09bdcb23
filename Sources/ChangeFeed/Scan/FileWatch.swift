/// Decides when a file is scanned: where another connection has written to it.
///
/// Pure. What was sent to clients at about that time is compared once more, since its note may have come behind the scan.
struct FileWatch {
    private var scanned: (version: Int?, note: Int?)?
    private var changed: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    /// A record that was read before a write has been noted by then: a request takes no longer.
    private static let late = Duration.seconds(90)
    /// The time between two scans of what is not written to.
    private static let apart = Duration.seconds(1)
    /// Notes are forgotten by a scan at least this often.
    private static let most = Duration.seconds(600)
    /// The most notes that wait for a scan, which compares no more at once.
    private static let mostNotes = 250

    /// Returns true where it is time for a scan.
    ///
    /// - Parameters:
    ///   - version: changes with every commit of another connection.
    ///   - lastNote: the number of the last note of what was sent.
    func isDue(version: Int?, lastNote: Int?, now: ContinuousClock.Instant) -> Bool {
        guard let scanned, let last else { return true }
        if scanned.version != version { return true }
        guard let lastNote, lastNote > scanned.note ?? 0 else { return false }
        if lastNote - (scanned.note ?? 0) >= Self.mostNotes { return now - last >= Self.apart }
        if let changed, now - changed < Self.late { return now - last >= Self.apart }
        return now - last >= Self.most
    }

    /// Notes a scan, with what was known before it began.
    mutating func hasScanned(version: Int?, upToNote note: Int?, now: ContinuousClock.Instant) {
        if scanned?.version != version { changed = now }
        scanned = (version, note)
        last = now
    }
}
