import Testing
import TestSupport

@testable import RecordStore

/// Values that conditions of access looked at in a record, change by change.
@Suite struct ConditionHistoryTests {
    private static func step(_ before: String?, _ after: String?) -> ConditionStep {
        ConditionStep(before: before.map { Array($0.utf8) }, after: after.map { Array($0.utf8) })
    }

    private static func reported(_ history: ConditionHistory, _ since: Int) -> Set<String>? {
        history.tuples(since: since).map { Set($0.map { String(decoding: $0, as: UTF8.self) }) }
    }

    @Test("Earlier ends are not reported")
    func earlierEnds() {
        var history = ConditionHistory()
        history.append([Self.step(nil, "a")], at: 10)
        history.append([Self.step("a", "b")], at: 20)
        history.append([Self.step("b", "b")], at: 30)
        #expect(Self.reported(history, 5) == ["a", "b"] && Self.reported(history, 19) == ["a", "b"])
        #expect(Self.reported(history, 20) == ["b"] && Self.reported(history, 40) == ["b"])
        history.append([Self.step("b", nil)], at: 40)
        #expect(Self.reported(history, 39) == ["b"] && Self.reported(history, 40) == [])
        // A program that bypasses the gateway may have moved it in between.
        history.append([Self.step("c", "d"), Self.step("d", "a")], at: 50)
        #expect(Self.reported(history, 40) == ["a", "c", "d"] && Self.reported(history, 50) == ["a"])
    }

    @Test("A foreign deletion ends the record's values")
    func foreignDeletion() {
        let tag = ConditionTag(Array("a".utf8))
        var history = ConditionHistory()
        history.append(ConditionStep.steps(through: [tag]), at: 10)
        #expect(Self.reported(history, 10) == ["a"])
        history.append(ConditionStep.steps(through: [tag, .none]), at: 20)
        #expect(Self.reported(history, 19) == ["a"] && Self.reported(history, 20) == [] && history.latest == nil)
        #expect(ConditionStep.steps(through: [.none]).isEmpty)
    }

    @Test("The history is limited, and records what it omits")
    func limit() {
        var history = ConditionHistory()
        for number in 0..<40 { history.append([Self.step("\(number)", "\(number + 1)")], at: 100 + number) }
        #expect(Self.reported(history, 100) == nil)
        #expect(Self.reported(history, 138) == ["39", "40"])
        #expect(history.bytes.count < 200)
        // Twelve that are stored, and the last one that was omitted.
        #expect(history.departures == Set(127...139))
        #expect(history.tuples(endedAt: 127) == nil && history.tuples(endedAt: 128) == [Array("28".utf8)])
        // A tuple that is true again ends at its new end.
        history.append([Self.step("40", "30")], at: 200)
        history.append([Self.step("30", "41")], at: 300)
        #expect(history.departures == Set(128...139).subtracting([130]).union([200, 300]))
    }

    @Test("Erased values are omitted like those beyond the limit, and later ones remain")
    func leavesOut() {
        var history = ConditionHistory()
        for number in 0..<4 { history.append([Self.step("\(number)", "\(number + 1)")], at: 100 + number) }
        let before = history
        #expect(!history.leaveOut { $0 == Array("4".utf8) } && history == before)
        let isLeftOut = history.leaveOut { $0 == Array("1".utf8) }
        #expect(isLeftOut && Self.reported(history, 100) == nil && Self.reported(history, 101) == ["2", "3", "4"])
        #expect(history.departures == [101, 102, 103])
        #expect(ConditionHistory(bytes: history.bytes) == history)
    }

    @Test("It is read as it was written", arguments: 0..<50)
    func forms(_ seed: Int) {
        var random = SeededRandom(seed: seed)
        var history = ConditionHistory()
        for revision in 1...Int.random(in: 1...20, using: &random) {
            func some() -> String? { Bool.random(using: &random) ? "t\(Int.random(in: 0...9, using: &random))" : nil }
            history.append([Self.step(some(), some())], at: revision * 1_000)
        }
        #expect(ConditionHistory(bytes: history.bytes) == history)
        #expect(ConditionHistory(bytes: Array(history.bytes.dropLast())) != history)
    }

    /// Rows of older gateways, without steps, can be read.
    @Test("Runs are read with and without steps")
    func runsWithAndWithoutSteps() throws {
        let sender = Sender(who: "ann", device: "d")
        let name = RecordName(resource: "stops", record: "1")
        let plain = PendingRun(changes: [PendingRun.Change(position: 3, name: name, sender: sender)])
        let stepped = PendingRun(changes: [
            PendingRun.Change(position: 0, name: name, sender: sender, step: Self.step("a", nil)),
            PendingRun.Change(position: 1, name: name, sender: Sender(who: "", device: nil)),
        ])
        #expect(plain.bytes.first == 3)
        #expect(PendingRun(bytes: plain.bytes) == plain && PendingRun(bytes: stepped.bytes) == stepped)
        #expect(PendingRun(bytes: Array(stepped.bytes.dropLast())) == nil)
    }
}
