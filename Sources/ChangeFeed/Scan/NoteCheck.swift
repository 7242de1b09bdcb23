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
    }

    private struct Name: Hashable {
        let record: String
        let link: UInt64
        let digest: UInt64
    }

    private var noted: [Noted] = []
    private var places: [Name: Int] = [:]
    private var byLink: [UInt64: [Int]] = [:]
    /// The numbers of the notes.
    private(set) var numbers: [Int] = []

    /// Records that one pass compares; the rest waits for the next.
    static let most = 300_000

    /// Room is left for more.
    var hasRoom: Bool { noted.count < Self.most }
    /// Nothing is to be compared.
    var isEmpty: Bool { noted.isEmpty }

    /// Takes a note.
    mutating func add(_ number: Int, _ entries: [ShownNote.Entry], revision: Int) {
        numbers.append(number)
        for entry in entries {
            let name = Name(record: entry.record, link: entry.link, digest: entry.digest)
            if let place = places[name] {
                noted[place].revision = max(noted[place].revision, revision)
                continue
            }
            places[name] = noted.count
            byLink[entry.link, default: []].append(noted.count)
            noted.append(Noted(record: entry.record, revision: revision, sent: entry.digest))
        }
    }

    /// Counts a row that the pass has come by.
    mutating func count(link: UInt64, digest: UInt64) {
        guard let places = byLink[link] else { return }
        for place in places { noted[place].found &+= digest }
    }

    /// The records that were sent as something else than was found, with the revision that clients have them at.
    var different: [(record: String, revision: Int)] {
        noted.filter { $0.sent != $0.found }.map { ($0.record, $0.revision) }
    }
}
