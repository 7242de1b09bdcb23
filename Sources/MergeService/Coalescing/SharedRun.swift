import MergeCore
import RecordStore

/// What a push may not do in a shared transaction; it runs alone.
struct NotShareable: Error {}

/// One transaction that several pushes share.
///
/// They go through it in parts: the database works on one part while the gateway decides or answers another.
struct SharedRun {
    private let parts: [SharedPart]
    private let keeper: DraftKeeper

    /// Fewer pushes are one part: each costs statements of its own.
    private static let leastOfPart = 4
    /// With more parts the statements cost more than the waiting.
    private static let mostParts = 2

    /// - Parameter run: makes the run of some of the pushes.
    init(_ jobs: [Job], keeper: DraftKeeper, _ run: (PushPlan) -> PushRun) {
        let count = max(1, min(Self.mostParts, jobs.count / Self.leastOfPart))
        parts = (0..<count).map { part in
            let own = Array(jobs[jobs.count * part / count..<jobs.count * (part + 1) / count])
            return SharedPart(run(PushPlan(joining: own.map(\.plan))), own)
        }
        self.keeper = keeper
    }

    /// - Returns: the answers, nil for a push that has to run alone; nil where none is left.
    func run(_ form: (PushResult, AnswerForm) -> [UInt8]) throws -> [PushAnswer?]? {
        for part in parts { part.beginToLock() }
        for part in parts { try part.decide() }
        guard parts.contains(where: \.hasWrites) else { return nil }
        var answers: [PushAnswer?] = []
        for part in parts { answers += try part.answer(form, keeper) }
        try keeper.settle()
        return answers
    }
}
