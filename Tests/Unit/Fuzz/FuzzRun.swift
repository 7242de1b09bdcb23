import Foundation
import TestSupport

/// The length and the seed of a run, by the environment.
struct FuzzRun {
    let seed: Int
    private let end: ContinuousClock.Instant
    private(set) var cases = 0
    var random: SeededRandom

    init() {
        let environment = ProcessInfo.processInfo.environment
        seed = environment["FIELDMERGE_FUZZ_SEED"].flatMap { Int($0) } ?? Int.random(in: 1...1_000_000_000)
        let seconds = environment["FIELDMERGE_FUZZ_SECONDS"].flatMap { Int($0) } ?? 1
        end = .now.advanced(by: .seconds(seconds))
        random = SeededRandom(seed: seed)
    }

    /// Returns true as long as another case is wanted.
    mutating func goesOn() -> Bool {
        cases += 1
        return ContinuousClock.now < end
    }

    /// The name of the current case for messages.
    var name: String { "seed \(seed), case \(cases)" }

    func report(_ kind: String) { print("fuzzed \(kind): \(cases - 1) cases, seed \(seed)") }
}
