import MergeCore
import RecordStore

/// Compares the records that clients were sent with the rows that a pass comes by, section by section.
///
/// Pure. A pass leaves the marks of a section as it has found its rows. So a record whose rows, as the pass found them, come
/// to the digest that was sent is known to be as its marks say, and any later change of it will be seen. Where they come
/// to another, somebody holds what is not there.
struct NoteCheck {
    private struct Noted {
        let record: String
        /// The highest revision at which it was sent like this.
        var revision: Int
        let sent: UInt64
        var found: UInt64 = 0
        /// The next one that rows with the same link belong to; nil behind the last.
        let next: Int?
    }

    /// An entry for each record and digest; a snapshot notes every record there is, so they take little room.
    private var noted: [Noted] = []
    /// The first of those that rows with a link belong to.
    private var byLink: [UInt64: Int] = [:]
    /// The numbers of the notes.
    private(set) var numbers: [Int] = []

    /// Records that one pass compares; the rest waits for the next.
    static let most = 300_000
    /// Entries that a new one is compared with, so that the same is not kept twice.
    private static let mostCompared = 32

    /// Room is left for more.
    var hasRoom: Bool { noted.count < Self.most }
    /// Nothing is to be compared.
    var isEmpty: Bool { noted.isEmpty }

    /// Takes a note.
    mutating func add(_ number: Int, _ entries: [ShownNote.Entry], revision: Int) {
        numbers.append(number)
        for entry in entries {
            let first = byLink[entry.link]
            if let place = place(from: first, where: { $0.sent == entry.digest && $0.record == entry.record }) {
                noted[place].revision = max(noted[place].revision, revision)
                continue
            }
            byLink[entry.link] = noted.count
            noted.append(Noted(record: entry.record, revision: revision, sent: entry.digest, next: first))
        }
    }

    /// Returns the entry that is meant among the latest with a link; nil where it is none of them, so that a record that
    /// was sent in very many forms costs no search through all.
    private func place(from first: Int?, where isMeant: (Noted) -> Bool) -> Int? {
        var place = first
        for _ in 0..<Self.mostCompared {
            guard let index = place else { return nil }
            if isMeant(noted[index]) { return index }
            place = noted[index].next
        }
        return nil
    }

    /// Counts a row that the pass has come by.
    mutating func count(link: UInt64, digest: UInt64) {
        var place = byLink[link]
        while let index = place {
            noted[index].found &+= digest
            place = noted[index].next
        }
    }

    /// The records that were sent as something else than was found, with the revision that clients have them at.
    var different: [(record: String, revision: Int)] {
        noted.filter { $0.sent != $0.found }.map { ($0.record, $0.revision) }
    }
}
