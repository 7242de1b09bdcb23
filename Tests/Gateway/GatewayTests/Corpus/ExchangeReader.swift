import Foundation
import MergeCore
import TestSupport

/// Reads the format of `ExchangeText`.
struct ExchangeReader {
    /// The engines that have an answer without a name.
    private let engines: [TestEngine]
    private var exchanges: [Exchange] = []
    private var label = ""
    private var lane = 0
    private var request: CorpusRequest?
    private var answers: [TestEngine: CorpusAnswer] = [:]
    /// The engines of the last answer.
    private var answering: [TestEngine] = []

    static func read(_ path: String, engines: [TestEngine]) throws -> [Exchange] {
        var reader = ExchangeReader(engines: engines)
        for line in try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n")) {
            try reader.take(Array(line))
        }
        reader.finish()
        return reader.exchanges
    }

    private init(engines: [TestEngine]) {
        self.engines = engines
    }

    private mutating func take(_ line: [UInt8]) throws {
        guard let mark = line.first, let space = line.firstIndex(of: UInt8(ascii: " ")) else { return }
        let rest = String(decoding: line[(space + 1)...], as: UTF8.self)
        switch mark {
        case UInt8(ascii: "="): return
        case UInt8(ascii: "#"): begin(rest)
        case UInt8(ascii: ">"):
            request = try Self.request(rest)
            request?.label = label
            request?.lane = lane
        case UInt8(ascii: "|"): request?.headers.append(Self.header(rest))
        case UInt8(ascii: "<"):
            let name = String(decoding: line[1..<space], as: UTF8.self)
            answering = engines.filter { name.isEmpty || name == $0.rawValue }
            let status = Int(rest.prefix(3)) ?? 0
            let answer = CorpusAnswer(status: status, body: ExactText(String(rest.dropFirst(4))))
            for engine in answering { answers[engine] = answer }
        case UInt8(ascii: "+"): for engine in answering { answers[engine]?.headers.append(ExactText(rest)) }
        default: throw Shell.Failure(description: "no line begins like this one: \(rest.prefix(80))")
        }
    }

    private mutating func begin(_ title: String) {
        finish()
        (label, lane) = (title, 0)
        guard title.hasPrefix("["), let end = title.firstIndex(of: "]"), let number = Int(title[..<end].dropFirst())
        else { return }
        (label, lane) = (String(title[end...].dropFirst(2)), number)
    }

    private mutating func finish() {
        if let request { exchanges.append(Exchange(request: request, answers: answers)) }
        (request, answers) = (nil, [:])
    }

    /// - Returns: the request of a line `METHOD TARGET BODY`.
    static func request(_ line: String) throws -> CorpusRequest {
        let parts = line.utf8.split(separator: UInt8(ascii: " "), maxSplits: 2).map { String($0) ?? "" }
        guard parts.count >= 2, let method = HTTPClient.Method(rawValue: parts[0].lowercased()) else {
            throw Shell.Failure(description: "this is no request: \(line.prefix(80))")
        }
        return CorpusRequest(
            label: "", method: method, target: parts[1], body: parts.count > 2 ? ExchangeText.bytes(parts[2]) : nil)
    }

    private static func header(_ line: String) -> (name: String, value: String) {
        let parts = line.split(separator: ":", maxSplits: 1)
        return (String(parts[0]), parts.count > 1 ? String(parts[1].dropFirst()) : "")
    }
}
