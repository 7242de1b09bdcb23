import Testing
import TestSupport

@testable import ChangeFeed

/// The plan of a scan, without a database and without a clock.
@Suite struct ScanPlannerTests {
    private static let now = ContinuousClock.now
    private static let names = ["a/a", "b/b", "c/c"]

    /// Runs a cycle in which each pass ends at once.
    private static func cycle(
        _ planner: inout ScanPlanner, at now: ContinuousClock.Instant = now, found: [Int: Int] = [:]
    ) -> [ScanPlanner.Turn] {
        var turns: [ScanPlanner.Turn] = []
        planner.beginCycle()
        while let turn = planner.nextTurn(now: now) {
            turns.append(turn)
            guard case .read(let section, let end) = turn else { continue }
            if end == nil { planner.beginPass(over: section) }
            planner.endPass(over: section, .init(found: found[section] ?? 0, began: 100, isRest: end != nil))
        }
        return turns
    }

    private static func loss(until end: ContinuousClock.Instant) -> EmptiedSection {
        EmptiedSection("b/b", of: 1_000, left: 3, until: end, waits: 1)
    }

    @Test("A cycle reads each section once, in order")
    func wholeCycle() {
        var planner = ScanPlanner(sections: Self.names, from: nil)
        for _ in 0..<2 {
            #expect(
                Self.cycle(&planner)
                    == [.read(section: 0, after: nil), .read(section: 1, after: nil), .read(section: 2, after: nil)])
            #expect(planner.hasReadAll)
            #expect(planner.place == nil)
        }
    }

    @Test("An interrupted run continues after its last range, and then everything is read")
    func interruptedCycle() {
        var planner = ScanPlanner(sections: Self.names, from: nil)
        planner.beginCycle()
        _ = planner.nextTurn(now: Self.now)
        planner.beginPass(over: 0)
        planner.endPass(over: 0, .init(found: 0, began: nil, isRest: false))
        _ = planner.nextTurn(now: Self.now)
        planner.beginPass(over: 1)
        planner.hasRead(1, upTo: [7])
        var next = ScanPlanner(sections: Self.names, from: planner.place)
        #expect(Self.cycle(&next) == [.read(section: 1, after: [7]), .read(section: 2, after: nil)])
        #expect(!next.hasReadAll)
        #expect(Self.cycle(&next).count == 3)
        #expect(next.hasReadAll)
    }

    @Test("A place in a section that does not exist any more begins a whole cycle")
    func lostPlace() {
        var planner = ScanPlanner(sections: Self.names, from: ScanPlace(section: "gone/gone", end: [7]))
        #expect(Self.cycle(&planner).count == 3)
        #expect(planner.hasReadAll)
    }

    @Test("A section that has lost most of its rows is skipped until its pause ends; the others are read")
    func pausedSection() {
        var planner = ScanPlanner(sections: Self.names, from: nil)
        let lost = Self.loss(until: Self.now + .seconds(60))
        planner.beginCycle()
        let isFirst = planner.pause(1, because: lost)
        let isFirstAgain = planner.pause(1, because: lost)
        #expect(isFirst && !isFirstAgain)
        #expect(
            Self.cycle(&planner)
                == [.read(section: 0, after: nil), .pause(lost), .read(section: 2, after: nil)])
        #expect(!planner.hasReadAll)
        #expect(planner.emptied(1) == lost)
        #expect(Self.cycle(&planner, at: Self.now + .seconds(60)).count == 3)
        #expect(planner.hasReadAll)
        #expect(planner.emptied(1) == nil)
    }

    @Test("A loss is remembered if the section is read again from the journal")
    func lossAfterError() {
        var planner = ScanPlanner(sections: Self.names, from: nil)
        _ = planner.pause(1, because: Self.loss(until: Self.now))
        planner.load(1, isComplete: true)
        #expect(planner.emptied(1) != nil)
    }

    @Test(
        "A section is unchanged if its table has no write since the last pass began, for some cycles",
        arguments: [
            (began: Int?(100), lastWrite: Int?(96), isUnchanged: true),
            (began: 100, lastWrite: 97, isUnchanged: false),
            (began: 100, lastWrite: 200, isUnchanged: false),
            (began: 100, lastWrite: nil, isUnchanged: false),
            (began: nil, lastWrite: 0, isUnchanged: false),
        ])
    func unchangedSection(began: Int?, lastWrite: Int?, isUnchanged: Bool) {
        var planner = ScanPlanner(sections: Self.names, from: nil)
        let before = planner.isUnchanged(0, lastWrite: lastWrite)
        #expect(!before, "Without a complete pass, nothing is known.")
        planner.endPass(over: 0, .init(found: 0, began: began, isRest: false))
        for _ in 0..<ScanPlanner.mostSkipped {
            #expect(planner.isUnchanged(0, lastWrite: lastWrite) == isUnchanged)
            planner.skip(0)
        }
        #expect(!planner.isUnchanged(0, lastWrite: lastWrite))
    }

    @Test("A section with changes is busy for some passes, and the oldest pass is first")
    func busySections() {
        var planner = ScanPlanner(sections: Self.names, from: nil)
        #expect(planner.busySection(besides: 2) == nil)
        planner.endPass(over: 0, .init(found: 1, began: 200, isRest: false))
        planner.endPass(over: 1, .init(found: 5, began: 100, isRest: false))
        #expect(planner.busySection(besides: 2) == 1)
        #expect(planner.busySection(besides: 1) == 0)
        for _ in 0..<ScanPlanner.busyPasses {
            #expect(planner.busySection(besides: 2) == 1)
            planner.endPass(over: 1, .init(found: 0, began: 100, isRest: false))
        }
        #expect(planner.busySection(besides: 2) == 0)
        _ = planner.pause(0, because: Self.loss(until: Self.now))
        #expect(planner.busySection(besides: 2) == nil)
    }

    @Test("The rest of a pass makes a section busy, and proves nothing else")
    func restOfPass() {
        var planner = ScanPlanner(sections: Self.names, from: nil)
        planner.load(0, isComplete: true)
        planner.endPass(over: 0, .init(found: 1, began: nil, isRest: true))
        #expect(planner.busySection(besides: 2) == 0)
        #expect(!planner.isUnchanged(0, lastWrite: 0))
    }

    @Test("Each cycle reads every section that is not paused, whatever interrupts the runs", arguments: 0..<50)
    func randomRuns(seed: Int) {
        var random = SeededRandom(seed: seed)
        var planner = ScanPlanner(sections: Self.names, from: nil)
        var now = Self.now
        for _ in 0..<200 {
            now += .seconds(Int.random(in: 0...30, using: &random))
            let resumed = planner.place
            planner.beginCycle()
            var read: [Int] = []
            var isInterrupted = false
            while let turn = planner.nextTurn(now: now) {
                guard case .read(let section, let end) = turn else { continue }
                #expect(end == nil || resumed?.section == Self.names[section])
                read.append(section)
                if end == nil { planner.beginPass(over: section) }
                if Int.random(in: 0..<6, using: &random) == 0 {
                    planner.hasRead(section, upTo: [UInt8(section)])
                    isInterrupted = true
                    break
                }
                if Int.random(in: 0..<8, using: &random) == 0 {
                    _ = planner.pause(section, because: Self.loss(until: now + .seconds(20)))
                } else {
                    planner.endPass(over: section, .init(found: 0, began: 1, isRest: end != nil))
                }
                #expect(planner.busySection(besides: section) != section)
            }
            if isInterrupted {
                let place = planner.place
                planner = ScanPlanner(sections: Self.names, from: place)
                continue
            }
            #expect(planner.place == nil)
            if planner.hasReadAll { #expect(read == Array(Self.names.indices)) }
            let first = resumed.flatMap { Self.names.firstIndex(of: $0.section) } ?? 0
            let due = Self.names.indices.dropFirst(first).filter { index in
                read.contains(index) || planner.emptied(index) == nil
            }
            #expect(read == due)
        }
    }
}
