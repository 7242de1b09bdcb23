import Foundation
import MergeCore
import TestSupport

/// Makes the requests of a chapter anew, and records what each engine answers.
enum CorpusRecorder {
    /// The engine from whose answers the next requests are made; the other one is sent the same.
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
            atPath: Repository.root + "Tests/Corpus/recorded", withIntermediateDirectories: true)
        let engines = chapter.engines.map(\.rawValue).joined(separator: " and ")
        try ExchangeText.write(
            exchanges, to: chapter.path,
            head: "= \(exchanges.count) requests to \(engines) with their answers; see Tests/Corpus/README.md")
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
        case .byHand: requests = try byHand(chapter)
        case .crowd(let lanes, let rounds): requests = CrowdMaker.requests(lanes: lanes, rounds: rounds)
        }
        let answers = try await answers(requests, client)
        return zip(requests, answers).map { Exchange(request: $0, answers: [engine: $1]) }
    }

    private static func byHand(_ chapter: Chapter) throws -> [CorpusRequest] {
        var label = ""
        var requests: [CorpusRequest] = []
        for line in try Repository.text("Tests/Corpus/\(chapter.folder)/by-hand.txt").split(separator: "\n") {
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

    private static func random(
        _ chapter: Chapter, _ engine: TestEngine, seed: Int, count: Int, _ client: CorpusClient
    ) async throws -> [Exchange] {
        var exchanges: [Exchange] = []
        func send(_ request: CorpusRequest) async throws -> CorpusAnswer {
            let answer = try await client.send(request)
            exchanges.append(Exchange(request: request, answers: [engine: answer]))
            return answer
        }
        let office = [(name: "Authorization", value: "Bearer " + CorpusGateway.office)]
        var rules = CorpusRequest("rules", .get, "/v1/rules")
        if chapter.needsTokens { rules.headers = office }
        let text = try await send(rules).body.string
        var maker = RequestMaker(chapter, seed: seed, rules: try JSON(text))
        for var request in maker.beginning {
            if chapter.needsTokens { request.headers = office }
            maker.learn(request, try await send(request), forAll: true)
        }
        for _ in 0..<count {
            let request = maker.next()
            maker.learn(request, try await send(request))
        }
        for var request in maker.end {
            if chapter.needsTokens { request.headers = office }
            _ = try await send(request)
        }
        return exchanges
    }
}
