import MergeCore
import MergeService
import RecordStore

/// One run of the scan, until the gateway loses the lease, the rules change, or the gateway stops.
///
/// `ScanPlanner` selects the next section, and `PassReader` reads it. While it has the lease, its row digests in memory
/// equal those in the journal.
final class ScanRun {
    private let settings: ForeignScan.Settings
    private let desk: ScanDesk
    private var reader: PassReader
    private let units: [ScanUnit]
    private var planner: ScanPlanner
    /// The sections in memory, by their index.
    private var sections: [Int: SectionScan] = [:]
    /// The demands that the current passes fulfil, by section.
    private var demands: [Int: Int] = [:]
    /// The readers that reported all changes of sections when the current passes began.
    private var covered: [Int: Int] = [:]
    /// The sections that this run has read to the end.
    ///
    /// Earlier row digests may be those of other columns.
    private var hasRead: Set<Int> = []
    private let agenda: PassAgenda
    private var notesChecked: ContinuousClock.Instant?
    /// The pass over a busy section, between the steps of another pass.
    private var busyPass: (section: Int, pass: SectionPass)?
    private var progress: ScanProgress
    private var pace: ScanPace
    private var renewed: ContinuousClock.Instant?
    private var news = ScanNews()
    private var reportsSince = false
    private let report: (ScanNews) -> Bool

    /// - Parameters:
    ///   - agenda: demands passes while a row log is followed.
    ///   - place: the position at which the previous run was interrupted.
    ///   - report: receives the news of the run; returns false to end it.
    init(
        _ settings: ForeignScan.Settings, desk: ScanDesk, reader: PassReader, units: [ScanUnit],
        agenda: PassAgenda, progress: ScanProgress, from place: ScanPlace?, report: @escaping (ScanNews) -> Bool
    ) {
        self.settings = settings
        self.desk = desk
        self.reader = reader
        self.units = units
        self.agenda = agenda
        self.progress = progress
        self.report = report
        planner = ScanPlanner(sections: units.map(\.name), from: place)
        pace = ScanPace(rowsPerSecond: settings.rowsPerSecond, now: .now)
    }

    /// The position at which the run was interrupted; nil between cycles.
    var place: ScanPlace? { planner.place }

    private var lease: ScanLease { reader.lease }
    private var rows: SectionRows { reader.rows }
    private var journal: ScanStore { reader.journal }

    private struct Ended: Error {}

    /// Scans until another gateway has the lease or `report` returns false.
    func run() async throws(StoreError) {
        do {
            try await renew(isForced: true)
            if try await rows.fileVersion() != nil { try await followFile() } else { try await followTables() }
        } catch let error as StoreError {
            throw error
        } catch {
            return
        }
    }

    // MARK: Schedule

    private func followTables() async throws {
        while true {
            let begin = ContinuousClock.now
            let due = try await dueSections()
            if due?.isEmpty != true { try await cycle(over: due) }
            try await rest(until: begin.advanced(by: settings.interval))
        }
    }

    /// Returns the sections that are read now; nil for all.
    ///
    /// While a row log is followed, these are few.
    private func dueSections() async throws -> Set<Int>? {
        let now = ContinuousClock.now
        guard var names = agenda.due(now: now, interval: settings.netInterval) else { return nil }
        if notesChecked.map({ now - $0 >= .seconds(1) }) ?? true {
            notesChecked = now
            names.formUnion(agenda.due(try await journal.notes(), now: now))
        }
        return Set(units.indices.filter { names.contains(units[$0].name) })
    }

    /// Scans a database file only after commits of other connections.
    private func followFile() async throws {
        var watch = FileWatch()
        while true {
            let version = try await rows.fileVersion()
            let lastNote = try await journal.lastNote()
            let isDue = watch.isDue(version: version, lastNote: lastNote, now: .now)
            if isDue, try await cycle() { watch.hasScanned(version: version, upToNote: lastNote, now: .now) }
            let state = try await rest(until: .now.advanced(by: min(.milliseconds(200), settings.interval)))
            if !isDue, let state { progress.noticed = state.now }
        }
    }

    /// - Returns: the state at the last renewal of the lease; nil without one.
    @discardableResult
    private func rest(until end: ContinuousClock.Instant) async throws -> ScanState? {
        var state: ScanState?
        while ContinuousClock.now < end {
            state = try await renew() ?? state
            let soon = ContinuousClock.now.advanced(by: .milliseconds(500))
            try await Task.sleep(until: min(end, soon), clock: .continuous)
        }
        return try await renew() ?? state
    }

    /// Reports the news, and once a second renews the lease and stores the progress.
    @discardableResult
    private func renew(isForced: Bool = false) async throws -> ScanState? {
        var state: ScanState?
        if isForced || renewed.map({ .now - $0 >= .seconds(1) }) ?? true {
            progress.rowsPerSecond = pace.rowsPerSecond(now: .now)
            let kept = try await desk.keep(lease, progress)
            guard kept.lease == lease else { throw ForeignChangeRecorder.LeaseLost() }
            if let checked = try await reader.log?.checked(now: kept.now) { progress.noticed = checked }
            renewed = .now
            news.state = kept
            state = kept
        }
        guard report(news) else { throw Ended() }
        news = ScanNews(trouble: news.trouble)
        return state
    }

    // MARK: A cycle

    /// Scans all sections, or the rest of an interrupted cycle.
    ///
    /// - Returns: true if no section was omitted.
    @discardableResult
    private func cycle(over chosen: Set<Int>? = nil) async throws -> Bool {
        let start = ContinuousClock.now
        let state = try await renew(isForced: true)
        news.trouble = nil
        if chosen == nil { agenda.hasBegunCycle(now: start) }
        planner.beginCycle(over: chosen)
        while let turn = planner.nextTurn(now: .now) {
            switch turn {
            case .pause(let lost): news.trouble = lost.sentence
            case .read(let section, let end): try await read(section, after: end)
            }
        }
        guard planner.hasReadAll else { return false }
        if news.trouble == nil, let state { progress.noticed = state.now }
        progress.cycleMilliseconds = Int(clamping: (ContinuousClock.now - start).seconds * 1_000)
        news.cycles += 1
        if !reportsSince, let since = try await desk.since(units) {
            reportsSince = true
            news.since = since
        }
        try await renew(isForced: true)
        return true
    }

    /// Reads a section, or the rest of an interrupted pass.
    private func read(_ section: Int, after end: [UInt8]?) async throws {
        if busyPass?.section == section { busyPass = nil }
        do {
            let known = try await known(section)
            let lost = planner.emptied(section)
            if let end, let rest = try SectionPass(restOf: known, after: end, earlierLoss: lost) {
                return try await run(rest, over: section)
            }
            planner.beginPass(over: section)
            if let pass = try await begin(section, known: known) { try await run(pass, over: section) }
        } catch let lost as EmptiedSection {
            pause(section, because: lost)
            news.trouble = lost.sentence
        } catch let error as StoreError where error.isOfOneSection {
            // Other sections continue. The next cycle starts this section again.
            forget(section)
            news.trouble = "“\(units[section].name)” cannot be scanned: \(error)"
            if error.kind == .schemaChanged { news.hasAlteredTable = true }
        }
    }

    private func run(_ begun: SectionPass, over section: Int) async throws {
        var pass = begun
        while true {
            try await step(&pass, over: section)
            if pass.isDone { return }
            if let end = pass.end { planner.hasRead(section, upTo: end) }
            try await stepBusySection(besides: section)
        }
    }

    private func known(_ section: Int) async throws -> SectionScan {
        if let known = sections[section] { return known }
        let known = try SectionScan(units[section], try await journal.known(units[section]))
        sections[section] = known
        planner.load(section, isComplete: known.isComplete)
        return known
    }

    private func forget(_ section: Int) {
        sections[section] = nil
        if busyPass?.section == section { busyPass = nil }
        planner.load(section, isComplete: false)
    }

    /// Begins a pass; nil if the table has no new write and no delivery records.
    private func begin(_ section: Int, known: SectionScan) async throws -> SectionPass? {
        let write = try await rows.lastWrite(to: known.unit)
        let demand = agenda.demand(for: known.unit.name)
        let reader = hasRead.contains(section) ? agenda.readerCovering(known.unit.name) : nil
        let beginning = try await journal.beginning(of: known.unit)
        if !agenda.isFollowing, demand == nil, planner.isUnchanged(section, lastWrite: write?.write),
            !beginning.notes.isNoted
        {
            planner.skip(section)
            return nil
        }
        demands[section] = demand
        covered[section] = reader
        return SectionPass(known, beginning, began: write?.now, earlierLoss: planner.emptied(section))
    }

    private func pause(_ section: Int, because lost: EmptiedSection) {
        if planner.pause(section, because: lost) { news.warnings.append(lost.sentence) }
    }

    /// Runs a step of a busy section during a long pass over another one.
    ///
    /// The section's own pass reports its errors.
    private func stepBusySection(besides section: Int) async throws {
        if busyPass == nil, let busy = planner.busySection(besides: section), let known = sections[busy],
            let pass = try await begin(busy, known: known)
        {
            busyPass = (busy, pass)
        }
        guard let busy = busyPass?.section, var pass = busyPass?.pass else { return }
        busyPass = nil
        do {
            try await step(&pass, over: busy)
            if !pass.isDone { busyPass = (busy, pass) }
        } catch let lost as EmptiedSection {
            pause(busy, because: lost)
        } catch let error as StoreError where error.isOfOneSection {
            forget(busy)
        }
    }

    private func step(_ pass: inout SectionPass, over section: Int) async throws {
        try await renew()
        let begin = ContinuousClock.now
        let (found, differing) = (pass.found, pass.differing)
        let read = try await reader.step(&pass)
        sections[section] = pass.section
        if pass.isDone {
            if !pass.isRest { endDemand(for: section, pass) }
            planner.endPass(over: section, .init(found: pass.found, began: pass.began, isRest: pass.isRest))
        }
        let end = ContinuousClock.now
        news.found += pass.found - found
        let next = pace.spend(
            rows: read, differing: pass.differing - differing, found: pass.found - found, from: begin, to: end)
        if next > end { try await rest(until: next) }
    }
    private func endDemand(for section: Int, _ pass: SectionPass) {
        let name = units[section].name
        if let reader = covered.removeValue(forKey: section), agenda.readerCovering(name) == reader {
            news.foundByScanOnly += pass.foundInRows
        }
        hasRead.insert(section)
        if let demand = demands.removeValue(forKey: section) { agenda.fulfil(demand, for: name, now: .now) }
    }
}

extension StoreError {
    /// True if the error affects only one table.
    var isOfOneSection: Bool {
        switch kind {
        case .unreadable, .tooLarge, .schemaChanged, .denied: true
        default: false
        }
    }
}
