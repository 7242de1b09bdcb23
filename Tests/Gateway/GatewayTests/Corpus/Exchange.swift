import MergeCore
import TestSupport

/// A request of the corpus in its wire format.
struct CorpusRequest: Sendable {
    /// The tested case, such as “push stale”.
    var label: String
    /// The client that sends it, if many clients also send the chapter at once.
    var lane = 0
    var method = HTTPClient.Method.post
    var target: String
    /// Headers in addition to `Host`, `Content-Length` and, for JSON, `Content-Type`.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
}

extension CorpusRequest {
    init(_ label: String, _ method: HTTPClient.Method, _ target: String, _ body: String? = nil) {
        self.init(label: label, method: method, target: target, body: body.map { Array($0.utf8) })
    }
}

/// An answer as it is recorded: equal to another one if all bytes are.
struct CorpusAnswer: Sendable, Hashable {
    let status: Int
    let body: ExactText
    /// The recorded headers that the body does not determine, as `name: value`.
    var headers: [ExactText] = []

    /// The answer as lines of the recorded file, without their marks.
    var lines: [String] { ["\(status) \(body.string)"] + headers.map(\.string) }
}

/// A request with the answer of each engine.
struct Exchange: Sendable {
    let request: CorpusRequest
    var answers: [TestEngine: CorpusAnswer] = [:]
}

/// One row of exchanges over one database, which is new at its beginning.
struct Chapter: Sendable, CustomStringConvertible {
    enum Source: Sendable {
        /// So many requests, made at random from the rules and earlier answers.
        case random(seed: Int, count: Int)
        /// Each form of the protocol.
        case forms(FormsMaker.Plan)
        /// The requests of the folder's `by-hand.txt`.
        case byHand
        /// Many clients with different records.
        case crowd(lanes: Int, rounds: Int)
    }

    let description: String
    /// The folder of its schema and rules.
    let folder: String
    let source: Source
    var engines = TestEngine.allCases
    var hasJournal = true
    var needsTokens = false

    /// The file of its record.
    var path: String { Repository.root + "Tests/Acceptance/Corpus/recorded/" + description + ".txt" }

    static let all: [Chapter] =
        random("community", seeds: 11...14, count: 230)
        + random("merges", seeds: 21...23, count: 230)
        + random("keys", seeds: 31...32, count: 230)
        + random("policies", seeds: 41...43, count: 230)
        + random("legacy", seeds: 51...52, count: 200, engines: [.mariadb])
        + random("guild", seeds: 91...92, count: 230)
        + [
            Chapter(description: "community-forms", folder: "community", source: .forms(.edits(seed: 101, count: 110))),
            Chapter(description: "merges-forms", folder: "merges", source: .forms(.edits(seed: 102, count: 110))),
            Chapter(description: "guild-forms", folder: "guild", source: .forms(.edits(seed: 103, count: 110))),
            Chapter(description: "addresses", folder: "guild", source: .forms(.methods)),
        ]
        + [
            Chapter(description: "curios", folder: "curios", source: .byHand),
            Chapter(description: "stories", folder: "community", source: .byHand),
            Chapter(
                description: "guarded", folder: "community", source: .random(seed: 61, count: 140), needsTokens: true),
            Chapter(
                description: "unkept", folder: "community", source: .random(seed: 71, count: 110), hasJournal: false),
            Chapter(
                description: "tokens", folder: "guild", source: .forms(.tokens),
                needsTokens: true),
            crowd,
        ]

    static let crowd = Chapter(description: "crowd", folder: "crowd", source: .crowd(lanes: 24, rounds: 12))

    private static func random(
        _ folder: String, seeds: ClosedRange<Int>, count: Int, engines: [TestEngine] = TestEngine.allCases
    ) -> [Chapter] {
        seeds.enumerated().map { number, seed in
            Chapter(
                description: "\(folder)-\(number + 1)", folder: folder, source: .random(seed: seed, count: count),
                engines: engines)
        }
    }
}
