import Foundation

/// A system of several actors as a value: the possible next steps, and the rules that must be true.
///
/// A world has no threads and no clock. So a history is its list of steps, and a seed repeats it. (The idea is from the
/// simulations of FoundationDB: Zhou et al., "FoundationDB: A Distributed Unbundled Transactional Key Value Store",
/// SIGMOD 2021, section 4.)
package protocol SteppedWorld {
    associatedtype Step: Sendable

    /// The possible next steps.
    ///
    /// A step that is listed twice is chosen twice as often.
    var steps: [Step] { get }

    /// Performs a step.
    ///
    /// - Throws: `WorldFault` if a rule is violated afterwards.
    mutating func take(_ step: Step) throws(WorldFault)

    /// Begins the end of a history: no new work comes, and nothing fails any more.
    mutating func calm()

    /// True once all work is done.
    var isDone: Bool { get }
}

/// A rule that was violated.
package struct WorldFault: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A history that violated a rule.
package struct FailedHistory: CustomStringConvertible {
    package let seed: Int
    package let steps: [String]
    package let fault: String

    package var description: String { "seed \(seed): \(fault), after \(steps.joined(separator: ", "))" }
}

package enum Histories {
    /// Runs one history for each seed, and returns the first that fails.
    ///
    /// After `length` steps the world is calm, and all work has to be done after `last` steps more.
    package static func run<World: SteppedWorld>(
        _ seeds: Range<Int>, length: Int = 60, last: Int = 2_000, _ world: (inout SeededRandom) -> World
    ) -> FailedHistory? {
        for seed in seeds {
            var random = SeededRandom(seed: seed)
            let start = world(&random)
            if let failed = run(start, seed, length, last, &random) { return failed }
        }
        return nil
    }

    private static func run<World: SteppedWorld>(
        _ start: World, _ seed: Int, _ length: Int, _ last: Int, _ random: inout SeededRandom
    ) -> FailedHistory? {
        var world = start
        var taken: [World.Step] = []
        func failed(_ fault: String) -> FailedHistory {
            FailedHistory(seed: seed, steps: taken.map { "\($0)" }, fault: fault)
        }
        do throws(WorldFault) {
            for _ in 0..<length {
                guard let step = world.steps.randomElement(using: &random) else { break }
                taken.append(step)
                try world.take(step)
            }
            world.calm()
            for _ in 0..<last where !world.isDone {
                guard let step = world.steps.randomElement(using: &random) else { break }
                taken.append(step)
                try world.take(step)
            }
        } catch {
            return failed(error.description)
        }
        return world.isDone ? nil : failed("the work is not done")
    }
}

extension Histories {
    /// The number of histories of a test: `FIELDMERGE_HISTORIES`, or so many.
    package static func count(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["FIELDMERGE_HISTORIES"].flatMap(Int.init) ?? usual
    }
}
