import Foundation
import MergeCore
import TestSupport

/// Makes the requests of a chapter again, and records the answer of each engine.
enum CorpusRecorder {
    /// The requests are made from the answers of the first engine, and also sent to the other one.
    static func record(_ chapter: Chapter) async throws {
        let first = chapter.engines[0]
        var exchanges = try await CorpusGateway.with(chapter, first) { client async throws in
            try await Self.exchanges(chapter, first, client)
        }
        for engine in chapter.engines.dropFirst() {
            let requests = exchanges.map(\.request)
            let answers = try await CorpusGateway.with(chapter, engine) { client async throws in
                try await Self.answers(requests, client)
            }
            for (index, answer) in answers.enumerated() { exchanges[index].answers[engine] = answer }
        }
        try FileManager.default.createDirectory(
            atPath: Repository.root + "Tests/Acceptance/Corpus/recorded", withIntermediateDirectories: true)
        let engines = chapter.engines.map(\.rawValue).joined(separator: " and ")
        try ExchangeText.write(
            exchanges, to: chapter.path,
            head: "= \(exchanges.count) requests to \(engines) with their answers; "
                + "see Tests/Acceptance/Corpus/README.md")
    }

    static func answers(_ requests: [CorpusRequest], _ client: CorpusClient) async throws -> [CorpusAnswer] {
        var answers: [CorpusAnswer] = []
        for request in requests { answers.append(try await client.send(request)) }
        return answers
    }

    private static func exchanges(
        _ chapter: Chapter, _ engine: TestEngine, _ client: CorpusClient
    ) async throws -> [Exchange] {
        let requests: [CorpusRequest]
        switch chapter.source {
        case .random(let seed, let count): return try await random(chapter, engine, seed: seed, count: count, client)
        case .forms(let plan): return try await forms(chapter, engine, plan, client)
        case .byHand: requests = try byHand(chapter)
        case .crowd(let lanes, let rounds): requests = ManyClientsMaker.requests(lanes: lanes, rounds: rounds)
        }
        let answers = try await answers(requests, client)
        return zip(requests, answers).map { Exchange(request: $0, answers: [engine: $1]) }
    }

    private static func byHand(_ chapter: Chapter) throws -> [CorpusRequest] {
        var label = ""
        var requests: [CorpusRequest] = []
        for line in try Repository.text("Tests/Acceptance/Corpus/\(chapter.folder)/by-hand.txt").split(separator: "\n")
        {
            if line.hasPrefix("#") {
                label = String(line.dropFirst(2))
            } else {
                var request = try ExchangeReader.request(String(line))
                request.label = label
                requests.append(request)
            }
        }
        return requests
    }

    /// Records the first answers of the gateway: its rules, and the records that a maker needs.
    private struct Session {
        let engine: TestEngine
        let client: CorpusClient
        let headers: [(name: String, value: String)]
        var exchanges: [Exchange] = []

        init(_ chapter: Chapter, _ engine: TestEngine, _ client: CorpusClient) {
            self.engine = engine
            self.client = client
            headers = chapter.needsTokens ? [("Authorization", "Bearer " + CorpusGateway.office)] : []
        }

        mutating func send(_ request: CorpusRequest) async throws -> CorpusAnswer {
            let answer = try await client.send(request)
            exchanges.append(Exchange(request: request, answers: [engine: answer]))
            return answer
        }

        /// Sends with the token that has all rights, if the chapter needs tokens.
        mutating func sendAllowed(_ request: CorpusRequest) async throws -> CorpusAnswer {
            var request = request
            request.headers += headers
            return try await send(request)
        }

        mutating func rules() async throws -> JSON {
            try JSON(try await sendAllowed(CorpusRequest("rules", .get, "/v1/rules")).body.string)
        }
    }

    private static func random(
        _ chapter: Chapter, _ engine: TestEngine, seed: Int, count: Int, _ client: CorpusClient
    ) async throws -> [Exchange] {
        var session = Session(chapter, engine, client)
        var maker = RequestMaker(chapter, seed: seed, rules: try await session.rules())
        for request in maker.beginning {
            maker.learn(request, try await session.sendAllowed(request), forAll: true)
        }
        for _ in 0..<count {
            let request = maker.next()
            maker.learn(request, try await session.send(request))
        }
        for request in maker.end { _ = try await session.sendAllowed(request) }
        return session.exchanges
    }

    private static func forms(
        _ chapter: Chapter, _ engine: TestEngine, _ plan: FormsMaker.Plan, _ client: CorpusClient
    ) async throws -> [Exchange] {
        var session = Session(chapter, engine, client)
        var maker = FormsMaker(chapter, plan: plan, rules: try await session.rules())
        for request in maker.beginning { maker.learn(request, try await session.sendAllowed(request)) }
        maker.begin()
        while let request = maker.next() { maker.learn(request, try await session.send(request)) }
        return session.exchanges
    }
}
