import MergeCore
import RecordStore

/// Compares the records that clients were sent with the rows that a pass comes by, section by section.
///
/// Pure. A pass leaves the marks of a section as it has found its rows. So a record whose rows, as the pass found them, come
/// to the digest that was sent is known to be as its marks say, and any later change of it will be seen. Where they come
/// to another, somebody holds what is not there. And where a row lies in a stretch that was sent whole, and was not sent,
/// somebody holds nothing of what is there.
struct NoteCheck {
    private struct Noted {
        let record: String
        /// The highest revision at which it was sent like this.
        var revision: Int
        /// The digest that was sent, less the digests of the rows that were found; 0 where they come to the same.
        var rest: UInt64
        /// The page that it was sent on; -1 for none.
        let page: Int32
        /// The position of what conditions of access look at in it; -1 where they look at nothing.
        let conditions: Int32
        /// The next one that rows with the same link belong to; -1 behind the last.
        let next: Int32
    }

    /// An entry for each record and digest; a snapshot notes every record there is, so they take little room.
    private var noted: [Noted] = []
    /// The first of those that rows with a link belong to.
    private var byLink: [UInt64: Int32] = [:]
    /// The stretches that were sent whole.
    var spans = SpanCheck()
    private var others: [Int] = []
    /// What conditions look at, which is mostly the same in many records.
    private var conditions: [[UInt8]] = []
    private var conditionPlaces: [[UInt8]: Int32] = [:]

    /// Records that one pass compares; the rest waits for the next.
    static let most = 300_000
    /// Records from which on room is made for all that a pass compares: to let it grow step by step takes twice as much.
    private static let many = 50_000
    /// Entries that a new one is compared with, so that the same is not kept twice.
    private static let mostCompared = 32

    /// Room is left for more.
    var hasRoom: Bool { noted.count < Self.most }
    /// Nothing is to be compared.
    var isEmpty: Bool { noted.isEmpty && spans.isEmpty }
    /// The numbers of the notes that have been compared, once the pass is over.
    var numbers: [Int] { others + spans.numbers }
    /// There are notes.
    var isNoted: Bool { !others.isEmpty || !spans.isEmpty }

    /// Takes a note.
    mutating func add(_ number: Int, _ content: ShownNote.Content, revision: Int) {
        var page = Int32(-1)
        if let span = content.span {
            page = spans.add(number, span, links: content.entries.map(\.link), revision: revision)
        } else {
            others.append(number)
        }
        if noted.count + content.entries.count > Self.many, noted.capacity < Self.most {
            noted.reserveCapacity(Self.most + Self.many / 10)
            byLink.reserveCapacity(Self.most)
        }
        for entry in content.entries {
            let first = byLink[entry.link]
            let known = place(from: first) { $0.rest == entry.digest && $0.page == page && $0.record == entry.record }
            if let known {
                noted[known].revision = max(noted[known].revision, revision)
                continue
            }
            byLink[entry.link] = Int32(noted.count)
            noted.append(
                Noted(
                    record: entry.record, revision: revision, rest: entry.digest, page: page,
                    conditions: entry.conditions.map { place(of: $0) } ?? -1, next: first ?? -1))
        }
    }

    private mutating func place(of tuple: [UInt8]) -> Int32 {
        if let known = conditionPlaces[tuple] { return known }
        let place = Int32(conditions.count)
        conditions.append(tuple)
        conditionPlaces[tuple] = place
        return place
    }

    /// Returns the entry that is meant among the latest with a link; nil where it is none of them, so that a record that
    /// was sent in very many forms costs no search through all.
    private func place(from first: Int32?, where isMeant: (Noted) -> Bool) -> Int? {
        var place = first ?? -1
        for _ in 0..<Self.mostCompared {
            guard place >= 0 else { return nil }
            if isMeant(noted[Int(place)]) { return Int(place) }
            place = noted[Int(place)].next
        }
        return nil
    }

    /// Counts a row that the pass has come by, in the order of the keys.
    ///
    /// - Returns: the stretches in which it lies and was not sent; none, nearly always.
    mutating func count(link: UInt64, digest: UInt64) -> SpanCheck.Runs {
        var sent = SpanCheck.Runs.none
        var place = byLink[link] ?? -1
        while place >= 0 {
            let index = Int(place)
            noted[index].rest &-= digest
            sent.formUnion(spans.runs(of: noted[index].page))
            place = noted[index].next
        }
        return spans.isEmpty ? .none : spans.passed(link, sentIn: sent)
    }

    /// A record that was sent as something else than was found.
    struct Different {
        let record: String
        /// The revision that clients have it at.
        let revision: Int
        /// What conditions of access look at in it as it was sent; nil where they look at nothing.
        let conditions: [UInt8]?
    }

    /// The records that were sent as something else than was found.
    var different: [Different] {
        noted.filter { $0.rest != 0 }.map { noted in
            Different(
                record: noted.record, revision: noted.revision,
                conditions: noted.conditions < 0 ? nil : conditions[Int(noted.conditions)])
        }
    }
}
