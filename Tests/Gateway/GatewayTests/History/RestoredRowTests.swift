import MergeCore
import Testing
import TestSupport

@testable import Operations

/// The steps of a newer journal that a restored row lacks are a suffix of all steps.
@Suite struct RestoredRowTests {
    private typealias State = RestoredRow.State

    private static func step(_ before: [Int: Value]?, _ after: [Int: Value]?) -> RowEffect {
        RowEffect(
            RowEffect.Row(record: RecordKey([.integer(1)]), section: 0, key: nil),
            before: before?.mapValues { .plain($0) }, after: after?.mapValues { .plain($0) })
    }

    private static let hidden = RowEffect(
        RowEffect.Row(record: RecordKey([.integer(1)]), section: 0, key: nil), before: [0: .digest("a")],
        after: [0: .digest("b")])

    private static func change(_ field: Int, _ before: Int128, _ after: Int128) -> RowEffect {
        step([field: .integer(before)], [field: .integer(after)])
    }

    private static func row(_ values: Int128...) -> [Int: Value] {
        Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0.offset, .integer($0.element)) })
    }

    @Test(
        "Each step is present, missing or unclear",
        arguments: [
            ([change(0, 1, 2)], row(1), [.missing]), ([change(0, 1, 2)], row(2), [.present]),
            ([change(0, 1, 2)], row(9), [.unclear]), ([change(0, 1, 2)], nil, [.unclear]),
            ([change(0, 1, 2), change(0, 2, 3)], row(1), [.missing, .missing]),
            ([change(0, 1, 2), change(0, 2, 3)], row(2), [.present, .missing]),
            ([change(0, 1, 2), change(0, 2, 3)], row(3), [.present, .present]),
            // The row has its first value again, so nothing is left to do.
            ([change(0, 1, 2), change(0, 2, 1)], row(1), [.present, .present]),
            ([change(0, 1, 2), change(1, 5, 6)], row(2, 5), [.present, .missing]),
            ([step(nil, row(1))], nil, [.missing]), ([step(nil, row(1))], row(1), [.present]),
            ([step(nil, row(1)), change(0, 1, 2)], nil, [.missing, .missing]),
            ([step(nil, row(1)), change(0, 1, 2)], row(1), [.present, .missing]),
            ([step(row(1), nil)], row(1), [.missing]), ([step(row(1), nil)], nil, [.present]),
            ([change(0, 1, 2), step(row(2), nil)], nil, [.present, .present]),
            ([change(0, 1, 2), step(row(2), nil)], row(1), [.missing, .missing]),
            // The data may lack both steps, with all effects of the deletion.
            ([step(row(1), nil), step(nil, row(1))], row(1), [.unclear, .unclear]),
            ([step(row(1), nil), step(nil, row(1))], nil, [.present, .missing]),
            ([hidden], row(1), [.unclear]), ([change(1, 5, 6), hidden], row(1, 5), [.missing, .unclear]),
        ] as [([RowEffect], [Int: Value]?, [RestoredRow.State])])
    func states(steps: [RowEffect], current: [Int: Value]?, expected: [RestoredRow.State]) {
        #expect(RestoredRow.states(of: steps, current: current.map { .shown($0) } ?? .gone) == expected)
    }

    @Test("A row that was inserted and softly deleted after the backup is missing only if the data have no row")
    func softDeletion() {
        let steps = [Self.step(nil, Self.row(1)), Self.change(0, 1, 2), Self.step(Self.row(2), nil)]
        #expect(RestoredRow.states(of: steps, current: .neverInserted) == [.missing, .missing, .missing])
        #expect(RestoredRow.states(of: steps, current: .gone) == [.present, .present, .present])
        #expect(RestoredRow.states(of: Array(steps.dropFirst()), current: .neverInserted) == [.unclear, .unclear])
    }

    @Test("Merging the missing steps of any backup results in the newest row", arguments: 0..<200) func everyBackup(
        seed: Int
    ) {
        var random = SeededRandom(seed: seed)
        var rows: [[Int: Value]?] = [Bool.random(using: &random) ? Self.row(0, 0) : nil]
        var steps: [RowEffect] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let last = rows[rows.count - 1]
            if var next = last, Int.random(in: 0..<4, using: &random) > 0 {
                let field = Int.random(in: 0...1, using: &random)
                let value = Value.integer(Int128.random(in: 0...3, using: &random))
                if next[field] == value { continue }
                steps.append(Self.step([field: next[field] ?? .null], [field: value]))
                next[field] = value
                rows.append(next)
            } else {
                let next: [Int: Value]? = last == nil ? Self.row(0, 0) : nil
                steps.append(Self.step(last, next))
                rows.append(next)
            }
        }
        for backup in rows {
            var row = backup
            for (step, state) in zip(steps, RestoredRow.states(of: steps, current: backup.map { .shown($0) } ?? .gone))
            where state == .missing {
                let plain = step.after?.compactMapValues { if case .plain(let value) = $0 { value } else { nil } }
                row = plain.map { after in (step.before == nil ? [:] : row ?? [:]).merging(after) { $1 } }
            }
            #expect(row == rows[rows.count - 1])
        }
    }
}
