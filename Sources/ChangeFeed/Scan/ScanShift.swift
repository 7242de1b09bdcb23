import MergeCore
import MergeService
import RecordStore

/// One run of the scan, until the gateway loses the lease, the rules change, or the gateway stops.
///
/// While it has the lease, its row digests in memory equal those in the journal.
final class ScanShift {
    struct News {
        var cycles = 0
        var found = 0
        /// The reason for which a section was skipped.
        var trouble: String?
        /// The state in the journal, if it was read.
        var state: ScanState?
        /// The time since which foreign changes are detected.
        var since: DateTime?
        var hasAlteredTable = false
        /// Sentences for the log.
        var warnings: [String] = []
    }

    private let settings: ForeignScan.Settings
    private let desk: ScanDesk
    private let lease: ScanLease
    private let hand: ScanHand
    private let units: [ScanUnit]
    private var scans: [String: UnitScan] = [:]
    /// The sections that have lost most of their rows.
    private var emptied: [String: EmptiedSection] = [:]
    private var progress: ScanProgress
    private var budget: ScanBudget
    private var kept: ContinuousClock.Instant?
    private var speed = ScanSpeed()
    private var news = News()
    private var knowsSince = false
    private var tell: (News) -> Bool = { _ in false }
    /// nil between cycles.
    private(set) var place: ScanPlace?
    /// The pass over a busy section, between the steps of another pass.
    private var hot: UnitPass?
    /// The rows whose digests are compared at once.
    private static let group = 4_000
    /// Additional rows to read, so that a few new rows do not hide the end.
    private static let spare = 100
    /// The maximum rows that are read with values.
    private static let piece = 1_000
    /// The passes for which a section is busy after a change.
    private static let heat = 3
    /// The maximum successive cycles without a pass over an unchanged section.
    private static let mostSkipped = 20
    /// The seconds by which a write may become visible after its recorded time.
    private static let slack = 3

    init(
        _ settings: ForeignScan.Settings, desk: ScanDesk, lease: ScanLease, hand: ScanHand, units: [ScanUnit],
        progress: ScanProgress, from place: ScanPlace?
    ) {
        self.settings = settings
        self.desk = desk
        self.lease = lease
        self.hand = hand
        self.units = units
        self.progress = progress
        self.place = place
        budget = ScanBudget(rowsPerSecond: settings.rowsPerSecond, now: .now)
    }

    private struct Over: Error {}

    /// Scans until another gateway has the lease or `tell` returns false.
    func run(telling tell: @escaping (News) -> Bool) async throws(StoreError) {
        self.tell = tell
        do {
            try await keep(isForced: true)
            if try await hand.fileVersion() != nil { try await followFile() } else { try await followTables() }
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
            try await cycle()
            try await rest(until: begin.advanced(by: settings.interval))
        }
    }

    /// Scans a database file only after commits of other connections.
    private func followFile() async throws {
        var watch = FileWatch()
        while true {
            let version = try await hand.fileVersion()
            let lastNote = try await hand.lastNote()
            if watch.isDue(version: version, lastNote: lastNote, now: .now) {
                if try await cycle() { watch.hasScanned(version: version, upToNote: lastNote, now: .now) }
            } else if let state = try await keep() {
                progress.noticed = state.now
            }
            try await rest(until: .now.advanced(by: min(.milliseconds(200), settings.interval)))
        }
    }

    private func rest(until end: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < end {
            try await keep()
            let soon = ContinuousClock.now.advanced(by: .milliseconds(500))
            try await Task.sleep(until: min(end, soon), clock: .continuous)
        }
        try await keep()
    }

    /// Renews the lease and stores the progress, once a second.
    @discardableResult
    private func keep(isForced: Bool = false) async throws -> ScanState? {
        if !isForced, let kept, .now - kept < .seconds(1) {
            if !tell(news) { throw Over() }
            news = News(trouble: news.trouble)
            return nil
        }
        progress.rowsPerSecond = speed.rowsPerSecond(now: .now)
        let state = try await desk.keep(lease, progress)
        guard state.lease == lease else { throw ScanHand.LeaseLost() }
        kept = .now
        news.state = state
        if !tell(news) { throw Over() }
        news = News(trouble: news.trouble)
        return state
    }

    // MARK: A cycle

    /// Scans all sections, or the rest of an interrupted run.
    ///
    /// - Returns: true if no section was skipped.
    @discardableResult
    private func cycle() async throws -> Bool {
        let start = ContinuousClock.now
        let state = try await keep(isForced: true)
        news.trouble = nil
        let left = place
        let first = units.firstIndex { $0.name == left?.unit }
        var isWhole = first == nil
        for unit in units[(first ?? 0)...] {
            if let emptied = emptied[unit.name], !emptied.isDue(now: .now) {
                isWhole = false
                news.trouble = emptied.sentence
                continue
            }
            do {
                let scan = try await scan(of: unit)
                let rest = unit.name == left?.unit ? try rest(of: scan, behind: left?.high) : nil
                if rest == nil { place = ScanPlace(unit: unit.name, high: nil) }
                if let rest {
                    try await go(rest)
                } else if let pass = try await begin(scan) {
                    try await go(pass)
                }
            } catch let lost as EmptiedSection {
                isWhole = false
                news.trouble = lost.sentence
            } catch let error as StoreError where error.isOfOneSection {
                // Other sections continue. The next cycle starts this section anew.
                scans[unit.name] = nil
                news.trouble = "“\(unit.name)” cannot be scanned: \(error)"
                if error.kind == .schemaChanged { news.hasAlteredTable = true }
            }
        }
        place = nil
        guard isWhole else { return false }
        if news.trouble == nil, let state { progress.noticed = state.now }
        progress.cycleMilliseconds = Int(clamping: (ContinuousClock.now - start).seconds * 1_000)
        news.cycles += 1
        if !knowsSince, let since = try await desk.since(units) {
            knowsSince = true
            news.since = since
        }
        try await keep(isForced: true)
        return true
    }

    private func go(_ pass: UnitPass) async throws {
        while !pass.isDone {
            try await step(pass)
            let last = pass.index > 0 && pass.scan.isComplete ? pass.scan.ranges[pass.index - 1].high : nil
            if !pass.isDone, let last { place = ScanPlace(unit: pass.scan.unit.name, high: last) }
            if !pass.isDone { try await hotStep(beside: pass) }
        }
    }

    /// Continues the interrupted pass over a section; nil if its place is lost.
    private func rest(of scan: UnitScan, behind high: [UInt8]?) throws -> UnitPass? {
        guard let high, scan.isComplete, let last = scan.ranges.firstIndex(where: { $0.high == high }),
            last + 1 < scan.ranges.count
        else { return nil }
        return UnitPass(rest: scan, from: last + 1, low: try key(high, scan.unit))
    }

    private func scan(of unit: ScanUnit) async throws -> UnitScan {
        if let known = scans[unit.name] { return known }
        let scan = try UnitScan(unit, try await hand.known(unit))
        scans[unit.name] = scan
        return scan
    }

    /// Begins a pass; nil if the table has no new write and no delivery records.
    private func begin(_ scan: UnitScan) async throws -> UnitPass? {
        let write = try await hand.lastWrite(to: scan.unit)
        if scan.isComplete, let before = scan.passBegan, let last = write?.write, last < before - Self.slack,
            scan.skipped < Self.mostSkipped
        {
            let beginning = try await hand.beginning(of: scan.unit)
            if !beginning.notes.isNoted {
                scan.skipped += 1
                return nil
            }
            return UnitPass(scan, beginning, began: write?.now)
        }
        return UnitPass(scan, try await hand.beginning(of: scan.unit), began: write?.now)
    }

    /// Runs a step of a busy section during a long pass.
    private func hotStep(beside main: UnitPass) async throws {
        if hot == nil {
            let hottest = scans.values
                .filter { $0.heat > 0 && $0.isComplete && $0 !== main.scan && emptied[$0.unit.name] == nil }
                .max { ($0.passBegan ?? 0, $1.unit.name) > ($1.passBegan ?? 0, $0.unit.name) }
            if let hottest { hot = try await begin(hottest) }
        }
        guard let pass = hot else { return }
        hot = nil
        if pass.scan === main.scan || scans[pass.scan.unit.name] !== pass.scan { return }
        do {
            try await step(pass)
            if !pass.isDone { hot = pass }
        } catch is EmptiedSection {
            // The section's own pass will report it.
        } catch let error as StoreError where error.isOfOneSection {
            // The section's own pass will report it.
            scans[pass.scan.unit.name] = nil
        }
    }

    // MARK: A step

    private func step(_ pass: UnitPass) async throws {
        try await keep()
        let begin = ContinuousClock.now
        let (found, differing) = (pass.found, pass.differing)
        let rows = pass.index < pass.scan.ranges.count ? try await compare(pass) : try await takeNote(pass)
        if pass.missed.count >= Self.piece {
            pass.found += try await hand.file(
                ScanHand.Filing(changes: pass.missed), of: pass.scan.id, under: lease)
            pass.missed = []
        }
        if pass.isDone { try await end(pass) }
        let end = ContinuousClock.now
        speed.note(rows: rows, now: end)
        news.found += pass.found - found
        let next = budget.spend(
            rows: rows, differing: pass.differing - differing, found: pass.found - found, from: begin, to: end)
        if next > end { try await rest(until: next) }
    }

    /// Compares the digests of some ranges, then rows if digests differ.
    private func compare(_ pass: UnitPass) async throws -> Int {
        let (scan, unit) = (pass.scan, pass.scan.unit)
        var (count, digest, last) = (0, UInt64(0), pass.index)
        while last < scan.ranges.count, last == pass.index || count + scan.ranges[last].count <= Self.group {
            count += scan.ranges[last].count
            digest &+= scan.ranges[last].digest
            last += 1
        }
        pass.ranges.all += last - pass.index
        if scan.isStirred { return try await lookAtAll(pass, before: scan.ranges.count - last) }
        let high = try key(scan.ranges[last - 1].high, unit)
        let limit = count + Self.spare
        let rows = try await hand.digests(of: unit, after: pass.low, upTo: high, limit: limit, keeping: kept(pass))
        if rows.digests.count == count, rows.digests.reduce(0, &+) == digest {
            tick(part: 0..<count, of: rows, in: pass)
            try advance(pass, behind: last, high: high)
            return count
        }
        let match = RangeMatch(
            scan.ranges[pass.index..<last], with: rows.digests, isWhole: rows.digests.count < limit)
        if match.before > 0 {
            let same = pass.index + match.before
            tick(part: 0..<match.rows.before, of: rows, in: pass)
            try advance(pass, behind: same, high: try key(scan.ranges[same - 1].high, unit))
        }
        let (following, first) = (scan.ranges.count - last, scan.ranges[last - match.behind..<last].first?.id)
        var read = rows.digests.count
        read += try await lookAtAll(pass, before: following + match.behind)
        guard let first else { return read }
        guard scan.ranges[pass.index].id == first else {
            // The range was joined with the previous one.
            return try await read + lookAtAll(pass, before: following)
        }
        tick(part: rows.digests.count - match.rows.behind..<rows.digests.count, of: rows, in: pass)
        try advance(pass, behind: scan.ranges.count - following, high: high)
        return read
    }

    /// Compares the rows of ranges until `left` ranges remain.
    ///
    /// - Returns: the number of rows read.
    private func lookAtAll(_ pass: UnitPass, before left: Int) async throws -> Int {
        var read = 0
        while !pass.isDone, pass.scan.ranges.count - pass.index > left {
            read += try await look(pass, upTo: pass.scan.ranges.count - left)
        }
        return read
    }

    private func key(_ packed: [UInt8]?, _ unit: ScanUnit) throws -> RecordKey? {
        guard let packed else { return nil }
        guard let key = unit.key(packed) else {
            throw StoreError(.unreadable, "the key of “\(unit.name)” is another than its marks were made with")
        }
        return key
    }

    private func advance(_ pass: UnitPass, behind last: Int, high: RecordKey?) throws {
        pass.index = last
        if let high { pass.low = high }
        pass.isDone = pass.scan.isComplete && last == pass.scan.ranges.count
    }

    /// Returns the columns for the comparison with delivery records.
    private func kept(_ pass: UnitPass) -> [Int] {
        if pass.notes.isEmpty { return [] }
        return pass.notes.spans.looksAtConditions ? pass.scan.unit.kept : pass.scan.unit.link
    }

    private func tick(part: Range<Int>, of rows: HashedRows, in pass: UnitPass) {
        if pass.notes.isEmpty { return }
        let unit = pass.scan.unit
        let kept = kept(pass)
        let columns = unit.link.map { unit.section.columns[$0] }
        let places = unit.link.compactMap { kept.firstIndex(of: $0) }
        var link: [UInt8] = []
        for index in part {
            let first = index * kept.count
            link.removeAll(keepingCapacity: true)
            var isHeld = true
            for (place, column) in zip(places, columns) where isHeld {
                isHeld = PackedValues.append(rows.values[first + place], of: column, to: &link)
            }
            guard isHeld else { continue }
            tick(link: link, digest: rows.digests[index], pass) {
                let values = unit.conditions.compactMap { kept.firstIndex(of: $0) }.map { rows.values[first + $0] }
                return ConditionTuple(values: values, of: unit.resource)
            }
        }
    }

    private func tick(link: [UInt8], digest: UInt64, _ pass: UnitPass, conditions: () -> ConditionTuple?) {
        let missed = pass.notes.count(link: ScanUnit.hash(link: link, hand.hashKey), digest: digest)
        if missed.isEmpty { return }
        let unit = pass.scan.unit
        let tuple = conditions()
        guard let revision = pass.notes.spans.revision(of: missed, unit.resource, tuple), let key = unit.key(link)
        else {
            return
        }
        pass.missed.append(
            ScanHand.FoundChange(
                name: hand.name(key, unit), toldSince: revision, tags: tuple.map { [ConditionTag($0.bytes)] } ?? []))
    }

    private func tick(_ marks: [Mark], _ pass: UnitPass) {
        if pass.notes.isEmpty { return }
        for mark in marks {
            let unit = pass.scan.unit
            tick(link: unit.isRoot ? mark.key : mark.link, digest: mark.digest, pass) {
                ConditionTuple(bytes: mark.tag.bytes, of: unit.resource)
            }
        }
    }

    private struct Look {
        let range: MarkRange
        let high: RecordKey?
        let rows: [Mark]
        let isWhole: Bool
        let diff: RangeDiff

        /// True if the range must be neither split nor joined.
        var isPlain: Bool { isWhole && RangeSplit.least <= rows.count && rows.count <= RangeSplit.most }
    }

    /// Compares ranges row by row, and stores the changes of those whose bounds do not change in one transaction.
    ///
    /// - Returns: the number of rows read.
    private func look(_ pass: UnitPass, upTo end: Int) async throws -> Int {
        let looks = try await looks(pass, upTo: end)
        try await checkLosses(looks.reduce(0) { $0 + $1.diff.losses }, pass)
        let read = looks.reduce(0) { $0 + $1.rows.count }
        let plain = looks.prefix { $0.isPlain || ($0.isWhole && $0.diff.changes.isEmpty) }
        if let first = looks.first, plain.isEmpty {
            try await rearrange(pass, first)
            return read
        }
        var filing = ScanHand.Filing()
        for look in plain where !look.diff.changes.isEmpty {
            let range = MarkRange(
                id: look.range.id, next: look.range.next, high: look.range.high, marks: look.rows)
            filing.ranges.append((range, look.rows))
        }
        if !filing.ranges.isEmpty {
            filing.changes = try await changes(plain.flatMap(\.diff.changes), pass)
            pass.ranges.differing += filing.ranges.count
            pass.found += try await hand.file(filing, of: pass.scan.id, under: lease)
        }
        let ranges = Dictionary(filing.ranges.map { ($0.range.id, $0.range) }) { _, last in last }
        for look in plain {
            if let range = ranges[look.range.id] { pass.scan.ranges[pass.index] = range }
            tick(look.rows, pass)
            try advance(pass, behind: pass.index + 1, high: look.high)
        }
        return read
    }

    /// Delays the report if the section has lost most of its rows.
    ///
    /// - Throws: `EmptiedSection` during the delay, or `StoreError`.
    private func checkLosses(_ losses: Int, _ pass: UnitPass) async throws {
        let unit = pass.scan.unit
        guard losses > 0, pass.losses.isCountDue(adding: losses) else { return }
        let known = pass.scan.ranges.reduce(0) { $0 + $1.count }
        let left = try await hand.count(unit, atMost: known)
        guard EmptiedSection.hasLostMost(of: known, left: left) else { return }
        if let former = emptied[unit.name], former.isFinal(left: left) { return }
        let isFirst = emptied[unit.name] == nil
        let lost = EmptiedSection(
            unit.name, of: known, left: left, until: .now.advanced(by: settings.emptiedPause),
            waits: (emptied[unit.name]?.waits ?? 0) + 1)
        emptied[unit.name] = lost
        if isFirst { news.warnings.append(lost.sentence) }
        throw lost
    }

    private func looks(_ pass: UnitPass, upTo end: Int) async throws -> [Look] {
        let (scan, unit) = (pass.scan, pass.scan.unit)
        let ranges = Array(scan.ranges[pass.index..<end])
        let highs = try ranges.map { try key($0.high, unit) }
        var low = pass.low
        var stretches: [ScanHand.Stretch] = []
        for high in highs {
            stretches.append(ScanHand.Stretch(low: low, high: high, limit: Self.piece))
            low = high
        }
        let rows = try await marks(in: stretches, pass)
        let former = try await hand.marks(of: ranges, in: scan.id)
        return ranges.indices.map { index in
            let isWhole = rows[index].count < Self.piece
            return Look(
                range: ranges[index], high: highs[index], rows: rows[index], isWhole: isWhole,
                diff: RangeDiff(former[index], with: rows[index], isWhole: isWhole))
        }
    }

    /// Reads row digests, and reports the rows that have none.
    private func marks(in stretches: [ScanHand.Stretch], _ pass: UnitPass) async throws -> [[Mark]] {
        let unit = pass.scan.unit
        let read = try await hand.marks(of: unit, in: stretches)
        if read.omitted.count > 0 {
            pass.omitted.add(read.omitted)
            hand.service.unreadable.note(pass.omitted, of: unit.resource, unit.section)
        }
        return read.stretches
    }

    private func changes(_ changes: [RangeDiff.Change], _ pass: UnitPass) async throws -> [ScanHand.FoundChange] {
        pass.differing += changes.count
        let unit = pass.scan.unit
        let records = try await hand.records(of: changes, in: unit)
        // Only rows of the root contain condition values.
        let conditions = unit.isRoot ? [:] : try await hand.conditions(of: records.joined(), in: unit.resource)
        return zip(changes, records).flatMap { change, records in
            let tags = [change.former, change.now].compactMap { $0?.tag }.filter { $0 != .none }
            return records.map { key in
                ScanHand.FoundChange(
                    name: hand.name(key, unit), toldSince: pass.scan.scanned,
                    tags: conditions[key].map { [$0] } ?? tags)
            }
        }
    }

    /// Stores a range that is too large, too small, or not completely read.
    private func rearrange(_ pass: UnitPass, _ look: Look) async throws {
        let (scan, unit) = (pass.scan, pass.scan.unit)
        var filing = ScanHand.Filing()
        filing.changes = try await changes(look.diff.changes, pass)
        pass.ranges.differing += 1
        if look.isWhole, look.rows.count < RangeSplit.least, pass.index + 1 < scan.ranges.count {
            return try await join(pass, rows: look.rows, filing)
        }
        filing.ranges = RangeSplit.ranges(
            in: look.range, look.rows, left: look.isWhole ? nil : look.diff.left, newID: scan.newID)
        pass.found += try await hand.file(filing, of: scan.id, under: lease)
        scan.ranges.replaceSubrange(pass.index...pass.index, with: filing.ranges.map(\.range))
        tick(look.rows, pass)
        // The rest of the range comes next.
        let done = filing.ranges.count - (look.isWhole ? 0 : 1)
        try advance(pass, behind: pass.index + done, high: try key(scan.ranges[pass.index + done - 1].high, unit))
    }

    /// Joins a small range with the next, and the pass continues with both.
    private func join(_ pass: UnitPass, rows: [Mark], _ filing: ScanHand.Filing) async throws {
        let scan = pass.scan
        var filing = filing
        let (range, next) = (scan.ranges[pass.index], scan.ranges[pass.index + 1])
        let marks = rows + (try await hand.marks(of: [next], in: scan.id)).flatMap { $0 }
        let joined = MarkRange(id: range.id, next: next.next, high: next.high, marks: marks)
        filing.ranges = [(joined, marks)]
        filing.forgotten = [next.id]
        pass.found += try await hand.file(filing, of: scan.id, under: lease)
        scan.ranges.replaceSubrange(pass.index...pass.index + 1, with: [joined])
    }

    /// Stores digests of new rows without reporting them, in the first pass.
    private func takeNote(_ pass: UnitPass) async throws -> Int {
        let (scan, unit) = (pass.scan, pass.scan.unit)
        let limit = 5 * RangeSplit.target
        let rows = try await marks(in: [.init(low: pass.low, high: nil, limit: limit)], pass).flatMap { $0 }
        let isLast = rows.count < limit
        var filing = ScanHand.Filing()
        var rest = rows[...]
        repeat {
            let marks = Array(rest.prefix(RangeSplit.target))
            rest = rest.dropFirst(marks.count)
            let id = scan.advanceTail()
            let isEnd = isLast && rest.isEmpty
            filing.ranges.append(
                (
                    MarkRange(
                        id: id, next: isEnd ? nil : scan.tailID, high: isEnd ? nil : marks.last?.key, marks: marks),
                    marks
                ))
        } while !rest.isEmpty
        if isLast { filing.end = ([], pass.revision) }
        _ = try await hand.file(filing, of: scan.id, under: lease)
        scan.ranges += filing.ranges.map(\.range)
        if isLast { scan.isComplete = true }
        tick(rows, pass)
        try advance(pass, behind: scan.ranges.count, high: try key(rows.last?.key, unit))
        return rows.count
    }

    /// Ends a pass: stores its completion and the differences from delivery records.
    private func end(_ pass: UnitPass) async throws {
        let scan = pass.scan
        emptied[scan.unit.name] = nil
        if pass.isRest {
            if pass.found > 0 { scan.heat = Self.heat }
            return
        }
        if pass.omitted.count == 0 { hand.service.unreadable.noteComplete(scan.unit.resource, scan.unit.section) }
        var filing = ScanHand.Filing()
        filing.changes = pass.notes.different.map { noted in
            ScanHand.FoundChange(
                name: RecordName(resource: scan.unit.resource.name, record: noted.record), toldSince: noted.revision,
                shown: noted.conditions.map { ConditionTag($0) })
        }
        filing.changes += pass.missed
        filing.end = (pass.notes.numbers, pass.revision)
        pass.found += try await hand.file(filing, of: scan.id, under: lease)
        scan.scanned = pass.revision
        scan.passBegan = pass.began
        scan.skipped = 0
        scan.isStirred = pass.ranges.differing * 2 > pass.ranges.all
        scan.heat = pass.found > 0 ? Self.heat : max(0, scan.heat - 1)
    }
}

extension StoreError {
    /// True if the error affects only one table.
    fileprivate var isOfOneSection: Bool {
        switch kind {
        case .unreadable, .tooLarge, .schemaChanged, .denied: true
        default: false
        }
    }
}
