/// Plans a scan: which section a cycle reads next, which one it skips, and which busy section is read in between.
///
/// The planner is pure. A run reports to it what it has read, and passes the time in.
struct ScanPlanner {
    /// The next work of a cycle.
    enum Turn: Equatable {
        /// Reads a section; the rest of an interrupted pass begins after a packed key.
        case read(section: Int, after: [UInt8]?)
        /// Leaves out a section that has lost most of its rows.
        case pause(EmptiedSection)
    }

    /// The end of a pass over a section.
    struct PassEnd {
        /// The changes that it found.
        var found: Int
        /// The start by the database's clock; nil if the database does not report writes to tables.
        var began: Int?
        /// True for the rest of an interrupted pass.
        var isRest: Bool
    }

    private struct Section {
        let name: String
        /// True if all rows have digests.
        var isComplete = false
        /// The passes for which the section remains busy.
        var busyPasses = 0
        /// The start of the last complete pass by the database's clock, or nil.
        var passBegan: Int?
        /// The successive cycles without a pass.
        var skippedCycles = 0
        var emptied: EmptiedSection?
    }

    /// The passes for which a section is busy after a change.
    static let busyPasses = 3
    /// The maximum successive cycles without a pass over an unchanged section.
    static let mostSkipped = 20
    /// The seconds by which a write may become visible after its recorded time.
    static let slack = 3

    private var sections: [Section]
    private var next = 0
    private var resumed: ScanPlace?
    private var isWhole = true
    /// The sections of a partial cycle; nil for all.
    private var chosen: Set<Int>?
    /// The position at which a run that ends now is interrupted; nil between cycles.
    private(set) var place: ScanPlace?

    /// - Parameter place: the place at which the run before was interrupted.
    init(sections: [String], from place: ScanPlace?) {
        self.sections = sections.map { Section(name: $0) }
        self.place = place
    }

    // MARK: A cycle

    /// Begins a cycle over all sections, or the rest of an interrupted one.
    ///
    /// - Parameter chosen: the only sections of this cycle, which begins again; nil for all.
    mutating func beginCycle(over chosen: Set<Int>? = nil) {
        self.chosen = chosen
        if chosen != nil { place = nil }
        resumed = place
        let first = place.flatMap { place in sections.firstIndex { $0.name == place.section } }
        next = first ?? 0
        isWhole = first == nil && chosen == nil
    }

    /// Returns the next work of the cycle; nil at its end.
    mutating func nextTurn(now: ContinuousClock.Instant) -> Turn? {
        while next < sections.count, chosen.map({ !$0.contains(next) }) ?? false { next += 1 }
        guard next < sections.count else {
            place = nil
            return nil
        }
        defer { next += 1 }
        if let emptied = sections[next].emptied, !emptied.isDue(now: now) {
            isWhole = false
            return .pause(emptied)
        }
        let isResumed = resumed?.section == sections[next].name
        return .read(section: next, after: isResumed ? resumed?.end : nil)
    }

    /// True if the cycle that has ended read all sections from the beginning, and paused none.
    var hasReadAll: Bool { isWhole }

    // MARK: Passes

    /// Records the state of a section that was read from the journal.
    mutating func load(_ section: Int, isComplete: Bool) {
        sections[section] = Section(
            name: sections[section].name, isComplete: isComplete, emptied: sections[section].emptied)
    }

    /// Returns true if a table has no write since the last complete pass, as far as the database reports it.
    ///
    /// The report may be wrong, so the section is read in some cycles all the same.
    func isUnchanged(_ section: Int, lastWrite: Int?) -> Bool {
        let section = sections[section]
        guard section.isComplete, let began = section.passBegan, let lastWrite else { return false }
        return lastWrite < began - Self.slack && section.skippedCycles < Self.mostSkipped
    }

    mutating func skip(_ section: Int) { sections[section].skippedCycles += 1 }

    mutating func beginPass(over section: Int) { place = ScanPlace(section: sections[section].name, end: nil) }

    /// Records that a pass has read the rows up to a packed key.
    mutating func hasRead(_ section: Int, upTo end: [UInt8]) {
        place = ScanPlace(section: sections[section].name, end: end)
    }

    mutating func endPass(over section: Int, _ end: PassEnd) {
        sections[section].emptied = nil
        if end.isRest {
            if end.found > 0 { sections[section].busyPasses = Self.busyPasses }
            return
        }
        sections[section].isComplete = true
        sections[section].passBegan = end.began
        sections[section].skippedCycles = 0
        sections[section].busyPasses = end.found > 0 ? Self.busyPasses : max(0, sections[section].busyPasses - 1)
    }

    // MARK: Busy and emptied sections

    /// Returns the busy section whose last pass is the oldest, to read it between the steps of another section's pass.
    func busySection(besides section: Int) -> Int? {
        sections.indices
            .filter { index in
                let other = sections[index]
                return index != section && other.busyPasses > 0 && other.isComplete && other.emptied == nil
            }
            .min { (sections[$0].passBegan ?? 0) < (sections[$1].passBegan ?? 0) }
    }

    /// Returns the earlier loss of a section that the scan has not reported yet; nil if there is none.
    func emptied(_ section: Int) -> EmptiedSection? { sections[section].emptied }

    /// Pauses a section that has lost most of its rows.
    ///
    /// - Returns: true if the section was not paused before.
    mutating func pause(_ section: Int, because lost: EmptiedSection) -> Bool {
        isWhole = false
        defer { sections[section].emptied = lost }
        return sections[section].emptied == nil
    }
}
