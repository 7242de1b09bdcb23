import MergeService

/// Reads the figures of the journal that cost more than a moment, at most once a minute.
actor JournalWatch {
    private var last: (counts: Journal.EntryCounts?, at: ContinuousClock.Instant)?
    private static let freshness = Duration.seconds(60)
    private static let patience = Duration.seconds(5)

    /// Returns figures of the last minute; nil if the journal is off or cannot be read.
    func counts(of journal: Journal?) async -> Journal.EntryCounts? {
        guard let journal else { return nil }
        if let last, .now - last.at < Self.freshness { return last.counts }
        let counts = try? await journal.entryCounts(.now.advanced(by: Self.patience))
        last = (counts, .now)
        return counts
    }
}
