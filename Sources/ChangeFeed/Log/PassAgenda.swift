import RecordStore
import Synchronization

/// The passes that the reader of the row log demands, and its progress.
///
/// The scan reads the agenda. While the log is followed, the scan only runs demanded passes, and a cycle from time to
/// time as a safety net.
final class PassAgenda: Sendable {
    private struct State {
        var isReading = false
        /// The number of times that a reader has begun.
        var readers = 0
        var isFollowing = false
        var position: String?
        /// The demanded sections, with the number of the last demand.
        var demands: [String: Int] = [:]
        var lastDemand = 0
        /// The time at which the last demand for a section was fulfilled.
        var fulfilled: [String: ContinuousClock.Instant] = [:]
        var unwatched: Set<String> = []
        var lastCycle: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    // MARK: The reader of the log

    /// Demands passes over sections, which begin after this call.
    func demand(_ sections: some Sequence<String>) {
        state.withLock { state in
            state.lastDemand += 1
            for section in sections { state.demands[section] = state.lastDemand }
        }
    }

    /// Sets the sections whose changes the log does not contain.
    func setUnwatched(_ sections: Set<String>) { state.withLock { $0.unwatched = sections } }

    func hasRead(to position: String) { state.withLock { $0.position = position } }

    /// The reader has begun.
    func begin() {
        state.withLock { state in
            state.isReading = true
            state.readers += 1
        }
    }

    /// The reader has read everything that was committed when it began.
    func hasCaughtUp() { state.withLock { $0.isFollowing = true } }

    /// The reader may not receive committed changes, so that the scan runs at its full speed.
    func doubt() { state.withLock { $0.isFollowing = false } }

    /// The reader has stopped, so that the scan runs at its full speed.
    func stop() {
        state.withLock { state in
            state.isReading = false
            state.isFollowing = false
            state.position = nil
        }
    }

    // MARK: The scan

    /// True if the log is read, also while the reader has not caught up.
    var isReading: Bool { state.withLock { $0.isReading } }

    var isFollowing: Bool { state.withLock { $0.isFollowing } }

    /// The progress of the reader; nil if the log is not read.
    var progress: LogProgress? {
        state.withLock { state in
            state.position.map { LogProgress(position: $0, needsPasses: !state.demands.isEmpty) }
        }
    }

    /// Returns the sections that are read now.
    ///
    /// - Parameter interval: the time between the starts of two cycles over all sections.
    /// - Returns: nil for all sections.
    func due(now: ContinuousClock.Instant, interval: Duration) -> Set<String>? {
        state.withLock { state in
            guard state.isFollowing, let last = state.lastCycle, now - last < interval else { return nil }
            return Set(state.demands.keys).union(state.unwatched)
        }
    }

    func hasBegunCycle(now: ContinuousClock.Instant) { state.withLock { $0.lastCycle = now } }

    /// Returns the number of the last demand for a section; nil if there is none.
    func demand(for section: String) -> Int? { state.withLock { $0.demands[section] } }

    /// Returns the number of the reader that reports all changes of a section; nil if a demand concerns the section.
    func readerCovering(_ section: String) -> Int? {
        state.withLock { state in
            state.isFollowing && state.demands[section] == nil && !state.unwatched.contains(section)
                ? state.readers : nil
        }
    }

    /// Ends a demand, after a pass that began after it.
    func fulfil(_ demand: Int, for section: String, now: ContinuousClock.Instant) {
        state.withLock { state in
            if state.demands[section] == demand { state.demands[section] = nil }
            state.fulfilled[section] = now
        }
    }

    /// The time after a demanded pass in which delivery records of earlier reads may arrive.
    ///
    /// Requests are shorter.
    private static let late = Duration.seconds(90)
    /// The number of waiting delivery records that leads to a pass.
    private static let mostNotes = 250

    /// Returns the sections whose delivery records a pass compares now.
    ///
    /// - Parameter notes: the number of waiting delivery records of each section.
    func due(_ notes: [String: Int], now: ContinuousClock.Instant) -> Set<String> {
        let fulfilled = state.withLock { $0.fulfilled }
        return Set(
            notes.filter { section, count in
                count >= Self.mostNotes || fulfilled[section].map { now - $0 < Self.late } ?? false
            }.keys)
    }
}
