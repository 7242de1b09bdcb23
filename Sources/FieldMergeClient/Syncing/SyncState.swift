/// The state of the scheduler, and its notes.
struct SyncState {
    var phase = SyncPhase.idle
    /// The time of the next try, by the clock that only grows.
    var due: Double?
    var nextTry: Double?
    var message: String?
    var link: String?
    var error: String?
    var problem: JSONValue?

    var report = SyncReport()
    var backoff = Backoff()
    /// The bytes of the next request's pushes.
    var batchBytes = SyncState.firstBatch
    var isSingle = false
    var isNoted = false
    var lastHadMore = false
    var lastAnswer: Scheduler.Event?
    /// The last answer to pushes was `history-changed`.
    var isOtherHistory = false
    /// The token of the last request.
    var usedToken = 0
    /// A token of this number or a later one was requested after a 401.
    var freshAfter: Int?

    var isRunning = false
    var waitingForTurn: [CheckedContinuation<Void, Never>] = []
    var request: Task<Scheduler.Event?, any Error>?
    var abortReason: AbortReason?
    var deadline: Double?
    var isClosing = false
    /// A number that changes when another process writes.
    var dataVersion: Int?
    /// The number of edits by all processes at the last check.
    var knownEdits = 0
    var generator: WaitGenerator

    init(seed: UInt64?) { generator = WaitGenerator(seed: seed ?? .random(in: .min ... .max)) }

    /// The reason for which a request was broken off.
    enum AbortReason: Error {
        case deadline, offline, closed, cancelled
    }

    static let timeout = 60.0
    static let firstBatch = 64_000
    static let smallestBatch = 1_000

    /// Returns the seconds of the scheduler's next wait.
    mutating func nextWait() -> Double { backoff.next(using: &generator) }

    /// Makes the next batch larger after a success, smaller after a request that got no answer.
    mutating func resizeBatch(isLost: Bool, limit: Int) {
        batchBytes = isLost ? max(batchBytes / 2, Self.smallestBatch) : min(batchBytes * 2, max(limit, Self.firstBatch))
    }
}

/// Waits between tries: `Retry-After`, else doubling with full jitter.
struct Backoff {
    var waits = 0
    var retryAfter: Double?

    static let firstWait = 1.0
    static let longestWait = 300.0

    /// Returns the seconds of the next wait.
    mutating func next(using generator: inout WaitGenerator) -> Double {
        defer {
            waits = min(waits + 1, 20)
            retryAfter = nil
        }
        if let retryAfter { return retryAfter }
        var longest = Self.firstWait
        for _ in 0..<waits where longest < Self.longestWait { longest *= 2 }
        return Double.random(in: 0...min(longest, Self.longestWait), using: &generator)
    }
}

/// Random numbers by a seed (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct WaitGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// The app's token: requested when one is needed, by one request at a time, and kept until it is refused.
struct TokenSource {
    typealias Asker = @Sendable () async throws -> String

    var ask: Asker
    var token: String?
    /// A number that grows with each token.
    var generation = 0
    var asking: Task<String, any Error>?
    /// The time of the call under way, by the clock that only grows.
    var askedAt = 0.0

    /// The seconds after which a function that has not answered is called again.
    static let longestWait = 30.0

    init(_ ask: @escaping Asker) { self.ask = ask }
}
