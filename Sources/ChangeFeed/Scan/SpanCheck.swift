import MergeCore
import RecordStore

/// Finds rows in stretches that clients were sent whole, of which they were not sent anything.
///
/// Pure. A row can have been gone while a snapshot came by, and be back as it was: no mark tells of it, and no note names
/// it. Only the database knows the order of its keys, so the ends of a stretch are known by rows beside it that the pass
/// comes by.
struct SpanCheck {
    /// A set of runs.
    struct Runs: OptionSet, Sendable {
        let rawValue: UInt64
        static let none: Runs = []
        /// The greatest number of runs.
        static let most = 64
    }

    /// A page of a snapshot; equal ones name the same records in the same place.
    private struct Page: Hashable {
        let low: [UInt8]?
        let high: [UInt8]?
        let viewer: Viewer?
        let count: Int
        let links: UInt64
    }

    /// Pages of a snapshot, one behind the other.
    private struct Run {
        let low: [UInt8]?
        var high: [UInt8]?
        let viewer: Viewer?
        var pages: [Int32]
        var numbers: [Int]
        /// The highest revision at which such pages were sent.
        var revision: Int
        /// The row was met behind which it begins.
        var hasBegun: Bool
    }

    private struct Shape: Hashable {
        let pages: [Int32]
        let viewer: Viewer?
    }

    private var places: [Page: Int32] = [:]
    /// The runs that each page is part of.
    private var pageRuns: [Runs] = []
    private var runs: [Run] = []
    /// The last run of each snapshot.
    private var last: [UInt64: Int] = [:]
    private var open = Runs.none
    /// Runs by the row behind which they begin, and by the rows before which they end.
    private var begins: [UInt64: Runs] = [:]
    private var ends: [UInt64: Runs] = [:]

    var isEmpty: Bool { runs.isEmpty }

    /// The numbers of the notes whose runs the pass has come by from their beginning on.
    var numbers: [Int] { runs.filter(\.hasBegun).flatMap(\.numbers) }

    /// True where the pass has come by the beginning of each run.
    var isCompared: Bool { runs.allSatisfy(\.hasBegun) }

    /// True where the columns that conditions of access look at have to be known of the rows.
    var looksAtConditions: Bool { runs.contains { $0.viewer != nil } }

    /// Takes a note of a page.
    ///
    /// - Returns: the number of the page.
    mutating func add(_ number: Int, _ span: ShownSpan, links: [UInt64], revision: Int) -> Int32 {
        let page = Page(
            low: span.low, high: span.high, viewer: span.viewer, count: links.count, links: links.reduce(0, &+))
        let place: Int32
        if let known = places[page] {
            place = known
        } else {
            place = Int32(pageRuns.count)
            places[page] = place
            pageRuns.append(.none)
        }
        if let index = last[span.snapshot], span.low != nil, runs[index].high == span.low {
            runs[index].high = span.high
            runs[index].pages.append(place)
            runs[index].numbers.append(number)
            runs[index].revision = max(runs[index].revision, revision)
        } else {
            last[span.snapshot] = runs.count
            runs.append(
                Run(
                    low: span.low, high: span.high, viewer: span.viewer, pages: [place], numbers: [number],
                    revision: revision, hasBegun: span.low == nil))
        }
        return place
    }

    /// Ends the taking of notes, so that runs of the same pages become one.
    ///
    /// Runs that are too many wait for the next pass.
    ///
    /// - Returns: the ends of the runs that are left.
    mutating func seal() -> [(low: [UInt8]?, high: [UInt8]?)] {
        var shapes: [Shape: Int] = [:]
        var kept: [Run] = []
        for run in runs {
            let shape = Shape(pages: run.pages, viewer: run.viewer)
            if let known = shapes[shape] {
                kept[known].numbers += run.numbers
                kept[known].revision = max(kept[known].revision, run.revision)
            } else if kept.count < Runs.most {
                shapes[shape] = kept.count
                kept.append(run)
            }
        }
        runs = kept
        last = [:]
        places = [:]
        for (index, run) in runs.enumerated() {
            let bit = Runs(rawValue: 1 << UInt64(index))
            for page in run.pages { pageRuns[Int(page)].formUnion(bit) }
            if run.low == nil { open.formUnion(bit) }
        }
        return runs.map { ($0.low, $0.high) }
    }

    /// Sets the rows that tell where a run begins and ends.
    ///
    /// - Parameters:
    ///   - before: the link of the last row that is before it, or its last row that was sent before; nil where there is
    ///     none, so that it begins with the first row.
    ///   - behind: links of the first rows behind it.
    mutating func bound(_ index: Int, before: UInt64?, behind: [UInt64]) {
        let bit = Runs(rawValue: 1 << UInt64(index))
        if runs[index].low != nil {
            if let before {
                begins[before, default: .none].formUnion(bit)
            } else {
                open.formUnion(bit)
                runs[index].hasBegun = true
            }
        }
        for link in behind { ends[link, default: .none].formUnion(bit) }
    }

    /// Takes a run for compared, of which nobody can say where it begins or ends: its keys are of another form by now, and
    /// so is the feed of whoever was sent it.
    mutating func drop(_ index: Int) {
        runs[index].hasBegun = true
        open.remove(Runs(rawValue: 1 << UInt64(index)))
    }

    /// Returns the runs that a page is part of.
    func runs(of page: Int32) -> Runs { page < 0 ? .none : pageRuns[Int(page)] }

    /// Comes by a row.
    ///
    /// - Parameter sent: the runs in which it was sent.
    /// - Returns: those in which it lies and was not.
    mutating func passed(_ link: UInt64, sentIn sent: Runs) -> Runs {
        if !ends.isEmpty, let ended = ends[link] { open.subtract(ended) }
        let missed = open.subtracting(sent)
        if !begins.isEmpty, let begun = begins[link] {
            open.formUnion(begun)
            for index in runs.indices where begun.contains(Runs(rawValue: 1 << UInt64(index))) {
                runs[index].hasBegun = true
            }
        }
        return missed
    }

    /// Returns the highest revision at which a client that sees a row was sent a stretch without it; nil where none sees
    /// it.
    ///
    /// - Parameter tuple: the values that conditions of access look at; nil where they are not known.
    func revision(of missed: Runs, _ resource: Resource, _ tuple: ConditionTuple?) -> Int? {
        var highest: Int?
        for (index, run) in runs.enumerated() where missed.contains(Runs(rawValue: 1 << UInt64(index))) {
            if let viewer = run.viewer, let tuple, let view = viewer.view(of: resource),
                view.grants(onConditions: tuple.values).isEmpty
            {
                continue
            }
            highest = max(highest ?? run.revision, run.revision)
        }
        return highest
    }
}
