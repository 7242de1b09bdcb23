import MergeCore
import RecordStore

/// Compares delivery records of a section with the rows that a pass reads.
///
/// After a pass, the stored row digests equal the rows. If they match the delivered digest too, the scan will detect
/// any later change. Otherwise a client has outdated data. A row in a delivered range that was not delivered is missing
/// at a client.
struct NoteCheck {
    private struct Noted {
        let record: String
        /// The highest revision at which it was sent with this digest.
        var revision: Int
        /// The delivered digest minus the digests of the rows so far; 0 if they match.
        var rest: UInt64
        /// The page that contained it; -1 for none.
        let page: Int32
        /// The index of its condition values; -1 without conditions.
        let conditions: Int32
        /// The next entry with the same link; -1 at the end.
        let next: Int32
    }

    /// One small entry for each record and digest, because a snapshot delivers every record.
    private var noted: [Noted] = []
    /// The first entry of each link.
    private var byLink: [UInt64: Int32] = [:]
    var spans = SpanCheck()
    private var others: [Int] = []
    /// Distinct condition values, shared by many records.
    private var conditions: [[UInt8]] = []
    private var conditionPlaces: [[UInt8]: Int32] = [:]

    /// The maximum entries of one pass.
    ///
    /// Others wait for the next pass.
    static let most = 300_000
    /// The number of entries that reserves memory for the maximum, because gradual growth needs twice as much.
    private static let many = 50_000
    /// The maximum entries to search for a duplicate.
    private static let mostCompared = 32

    var hasRoom: Bool { noted.count < Self.most }
    var isEmpty: Bool { noted.isEmpty && spans.isEmpty }
    /// The numbers of the compared delivery records, after the pass.
    var numbers: [Int] { others + spans.numbers }
    var isNoted: Bool { !others.isEmpty || !spans.isEmpty }

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

    /// Returns the first match among the latest entries of a link, or nil.
    private func place(from first: Int32?, where isMeant: (Noted) -> Bool) -> Int? {
        var place = first ?? -1
        for _ in 0..<Self.mostCompared {
            guard place >= 0 else { return nil }
            if isMeant(noted[Int(place)]) { return Int(place) }
            place = noted[Int(place)].next
        }
        return nil
    }

    /// Subtracts a row of the pass, in the order of keys.
    ///
    /// - Returns: the delivered ranges that contain the row and were sent without it.
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

    /// A record whose rows differ from the delivered ones.
    struct Different {
        let record: String
        /// The revision at which clients have it.
        let revision: Int
        /// Its condition values when it was sent; nil without conditions.
        let conditions: [UInt8]?
    }

    var different: [Different] {
        noted.filter { $0.rest != 0 }.map { noted in
            Different(
                record: noted.record, revision: noted.revision,
                conditions: noted.conditions < 0 ? nil : conditions[Int(noted.conditions)])
        }
    }
}
