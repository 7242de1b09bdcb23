import Foundation
import MergeCore
import Testing
import TestSupport

/// The answers to thousands of recorded requests are the same, byte for byte.
///
/// The requests are in `Tests/Acceptance/Corpus/recorded` with their answers. If an answer has to change, record all again with
/// `FIELDMERGE_RECORD=1`, and review the difference.
@Suite struct CorpusTests {
    private static let isRecording = ProcessInfo.processInfo.environment["FIELDMERGE_RECORD"] == "1"

    @Test(.enabled(if: isRecording, "FIELDMERGE_RECORD=1 records again"), arguments: Chapter.all)
    func recordAnew(_ chapter: Chapter) async throws {
        try await CorpusRecorder.record(chapter)
    }

    // MARK: One after the other

    struct Run: Sendable, CustomStringConvertible {
        let chapter: Chapter
        let engine: TestEngine

        var description: String { "\(chapter) on \(engine)" }
    }

    static let runs = Chapter.all.flatMap { chapter in
        chapter.engines.filter(TestEngine.allCases.contains).map { Run(chapter: chapter, engine: $0) }
    }

    @Test(
        "Requests have the recorded answers", .disabled(if: isRecording, "the answers are being recorded"),
        arguments: runs)
    func chapters(_ run: Run) async throws {
        let exchanges = try ExchangeReader.read(run.chapter.path, engines: run.chapter.engines)
        #expect(!exchanges.isEmpty)
        try await CorpusGateway.with(run.chapter, run.engine) { client async throws in
            var differences = 0
            for exchange in exchanges {
                let answer = try await client.send(exchange.request)
                let recorded = exchange.answers[run.engine]
                if answer == recorded { continue }
                differences += 1
                Issue.record(Self.difference(exchange.request, recorded: recorded, answered: answer))
                // Later differences usually have the same cause.
                if differences == 5 { break }
            }
        }
    }

    private static func difference(
        _ request: CorpusRequest, recorded: CorpusAnswer?, answered: CorpusAnswer
    ) -> Comment {
        let body = request.body.map { ExchangeText.text($0) } ?? ""
        let headers = request.headers.map { "\n| \($0.name): \($0.value)" }.joined()
        let (old, new) = (
            (recorded?.lines ?? []).joined(separator: "\n+ "), answered.lines.joined(separator: "\n+ ")
        )
        let same = zip(old.unicodeScalars, new.unicodeScalars).prefix { $0 == $1 }.count
        return """
            # \(request.label)
            > \(request.method.rawValue.uppercased()) \(request.target) \(body)\(headers)
            < \(old)
            answered otherwise, from character \(same):
            < \(new)
            where “\(Self.around(same, of: old))” is recorded
            and “\(Self.around(same, of: new))” is answered
            """
    }

    private static func around(_ place: Int, of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.dropFirst(max(place - 40, 0)).prefix(160)))
    }

    // MARK: Many at once

    @Test(
        "Clients of different records have the answers of sequential requests, whatever shares a transaction",
        .disabled(if: isRecording, "the answers are being recorded"), arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func crowd(_ engine: TestEngine, _ journal: JournalPlace) async throws {
        let chapter = Chapter.crowd
        let exchanges = try ExchangeReader.read(chapter.path, engines: chapter.engines)
        let lanes = Dictionary(grouping: exchanges, by: \.request.lane)
        #expect(lanes.count >= 20)
        try await CorpusGateway.gateway(chapter, engine, journal: journal) { gateway, version async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in lanes.values {
                    group.addTask {
                        try await gateway.client { session in
                            let client = CorpusClient(session, version: version, hasJournal: false)
                            for exchange in lane {
                                let answer = Self.untagged(try await client.send(exchange.request))
                                let recorded = exchange.answers[engine].map { Self.untagged($0) }
                                if answer == recorded { continue }
                                Issue.record(
                                    Self.difference(exchange.request, recorded: recorded, answered: answer))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// An answer without its `ETag`, whose name depends on the order of all answers.
    private static func untagged(_ answer: CorpusAnswer) -> CorpusAnswer {
        var answer = answer
        answer.headers.removeAll { $0.string.hasPrefix("etag: ") }
        return answer
    }
}
