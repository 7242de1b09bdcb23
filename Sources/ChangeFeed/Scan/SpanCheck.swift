import MergeCore
import RecordStore

/// Finds rows in delivered ranges that were sent without them.
///
/// A row can be deleted while a snapshot is read, and restored later unchanged. Neither row digests nor other delivery
/// records reveal this. Only the database can order keys, so the rows next to a range identify its ends.
struct SpanCheck {
    struct Runs: OptionSet, Sendable {
        let rawValue: UInt64
        static let none: Runs = []
        static let most = 64
    }

    /// A page of a snapshot.
    ///
    /// Equal pages contain the same records in the same range.
    private struct Page: Hashable {
        let low: [UInt8]?
        let high: [UInt8]?
        let viewer: Viewer?
        let count: Int
        let links: UInt64
    }

    /// A delivered range: successive pages of a snapshot.
    private struct Run {
        let low: [UInt8]?
        var high: [UInt8]?
        let viewer: Viewer?
        /// The client's view of the resource, after `seal`; nil if the client sees every row.
        var view: ResourceView?
        var pages: [Int32]
        var numbers: [Int]
        /// The highest revision of equal pages.
        var revision: Int
        /// True if the pass has read the row before the range.
        var hasBegun: Bool
    }

    private struct Shape: Hashable {
        let pages: [Int32]
        let viewer: Viewer?
    }

    private var places: [Page: Int32] = [:]
    /// The runs that contain each page.
    private var pageRuns: [Runs] = []
    private var runs: [Run] = []
    private var last: [UInt64: Int] = [:]
    private var open = Runs.none
    /// The runs by the row before their start, and by the rows after their end.
    private var begins: [UInt64: Runs] = [:]
    private var ends: [UInt64: Runs] = [:]

    var isEmpty: Bool { runs.isEmpty }

    /// The numbers of the delivery records whose runs were read from the start.
    var numbers: [Int] { runs.filter(\.hasBegun).flatMap(\.numbers) }

    /// True if the pass has reached the start of each run.
    var isCompared: Bool { runs.allSatisfy(\.hasBegun) }

    /// True if the comparison needs the condition values of rows.
    var looksAtConditions: Bool { runs.contains { $0.viewer != nil } }

    /// The columns of the root that filters of clients test, after `seal`.
    var filteredColumns: Set<Int> { runs.reduce(into: []) { $0.formUnion($1.view?.filteredColumns ?? []) } }

    /// Adds the delivery record of a page.
    ///
    /// - Returns: the index of the page.
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

    /// Combines equal runs after the last `add`.
    ///
    /// Runs beyond the maximum wait for the next pass.
    ///
    /// - Parameter resource: the resource of the rows; nil if every client sees every row.
    /// - Returns: the ends of the remaining runs.
    mutating func seal(for resource: Resource? = nil) -> [(low: [UInt8]?, high: [UInt8]?)] {
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
            runs[index].view = resource.flatMap { run.viewer?.view(of: $0) }
            for page in run.pages { pageRuns[Int(page)].formUnion(bit) }
            if run.low == nil { open.formUnion(bit) }
        }
        return runs.map { ($0.low, $0.high) }
    }

    /// Sets the rows that identify the ends of a run.
    ///
    /// - Parameters:
    ///   - before: the link of the last row before the run; nil if there is none.
    ///   - behind: the links of the first rows after the run.
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

    /// Drops a delivered range whose keys can no longer be decoded.
    ///
    /// Its client gets a new feed anyway.
    mutating func drop(_ index: Int) {
        runs[index].hasBegun = true
        open.remove(Runs(rawValue: 1 << UInt64(index)))
    }

    func runs(of page: Int32) -> Runs { page < 0 ? .none : pageRuns[Int(page)] }

    /// Processes a row of the pass.
    ///
    /// - Parameter sent: the runs that were sent with the row.
    /// - Returns: the runs that contain the row and were sent without it.
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

    /// Returns the highest revision of a run that was sent without a row to a client that may read it, or nil.
    ///
    /// - Parameters:
    ///   - tuple: the condition values of the row; nil if they are unknown.
    ///   - value: returns the row's value in a column that filters test, or nil if it is unknown.
    func revision(of missed: Runs, _ tuple: ConditionTuple?, _ value: (Int) -> Value?) -> Int? {
        var highest: Int?
        for (index, run) in runs.enumerated() where missed.contains(Runs(rawValue: 1 << UInt64(index))) {
            if let view = run.view {
                if let tuple, view.grants(onConditions: tuple.values).isEmpty { continue }
                guard view.mayMatch(value) else { continue }
            }
            highest = max(highest ?? run.revision, run.revision)
        }
        return highest
    }
}
