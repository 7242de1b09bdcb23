import MergeCore
import MergeService
import RecordStore

/// Limits the bytes that a sender adds to the journal in a day.
struct JournalShare: Sendable {
    let bytesPerDay: Int

    /// - Throws: a 429 `Problem` above the limit.
    func check(_ who: String, in journal: Journal?) throws(Problem) {
        guard let wait = journal?.tables.meter.wait(of: who, past: bytesPerDay) else { return }
        throw Problem(
            .overJournal,
            detail: "A token may store \(bytesPerDay) bytes in the journal in a day. Nothing was written.",
            retry: .later(.share, after: max(1, Int(wait.components.seconds))))
    }
}
