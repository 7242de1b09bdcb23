import Foundation
import MergeCore
import Testing
import TestSupport

/// The recorded requests are many, small on disk, and cover each behaviour that needs no fault.
@Suite(.disabled(if: ProcessInfo.processInfo.environment["FIELDMERGE_RECORD"] == "1", "the answers are being recorded"))
struct CorpusCoverageTests {
    /// The codes of problems that need no fault, no second client at the same moment and no other rules.
    private static let codes: Set<String> = [
        "ambiguous-identity", "check", "content-encoding", "depends-on-refused", "duplicate-member", "duplicate-query",
        "foreign-key", "generated-key", "incomplete-group", "invalid", "invalid-value", "key-reused", "malformed-id",
        "media-type",
        "method-not-allowed", "missing-id", "no-journal", "no-preview", "no-right", "no-such-address", "no-such-entry",
        "no-such-record", "no-token", "not-gzip", "not-json", "not-null",
        "nothing-to-undo", "outside-where", "private", "read-only", "record-too-large", "referenced", "rejected",
        "resync", "rolled-back", "rules-changed", "temporary-id", "too-deep", "too-large", "too-many", "trigger",
        "unique",
        "unknown-field", "unknown-group", "unknown-member", "unknown-query", "unknown-resource", "unknown-section",
        "unknown-temporary", "unreadable-column", "unreadable-record", "value",
    ]

    @Test("The recorded requests cover all outcomes and problems")
    func coverage() throws {
        var (requests, answers) = (0, 0)
        var size = 0
        var statuses: [String: Int] = [:]
        var labels: [String: Int] = [:]
        var outcomes: Set<String> = []
        var codes: Set<String> = []
        for chapter in Chapter.all {
            size += try Data(contentsOf: URL(filePath: chapter.path)).count
            for exchange in try ExchangeReader.read(chapter.path, engines: chapter.engines) {
                requests += 1
                #expect(exchange.answers.count == chapter.engines.count, "\(chapter): \(exchange.request.label)")
                labels[exchange.request.label.split(separator: ":").first.map(String.init) ?? "", default: 0] += 1
                for answer in exchange.answers.values {
                    answers += 1
                    statuses[String(answer.status), default: 0] += 1
                    let body = Array(answer.body.string.utf8)
                    outcomes.formUnion(Self.words(#""outcome":""#, in: body))
                    codes.formUnion(Self.words("urn:fieldmerge:problem:", in: body))
                }
            }
        }
        #expect(requests >= 5_000)
        #expect(size < 10_000_000)
        // Answers omit unchanged groups.
        let missing = Set(OutcomeKind.allCases.map(\.rawValue)).subtracting(outcomes)
        #expect(missing == ["unchanged"])
        #expect(Self.codes.subtracting(codes).isEmpty)
        #expect(codes.subtracting(Self.codes).isEmpty, "the list of codes lacks one")
        print(
            "\(requests) requests with \(answers) recorded answers in \(size / 1_000) kB, by status: \(Self.list(statuses))"
        )
        print("requests: \(Self.list(labels))")
    }

    /// - Returns: the words that follow a text, each up to a quotation mark.
    private static func words(_ text: String, in body: [UInt8]) -> [String] {
        let wanted = Array(text.utf8)
        var found: [String] = []
        var index = 0
        while index + wanted.count < body.count {
            if body[index] == wanted[0], body[index..<index + wanted.count].elementsEqual(wanted) {
                index += wanted.count
                found.append(String(decoding: body[index...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self))
            }
            index += 1
        }
        return found
    }

    private static func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
