import Foundation
import TestSupport

/// Reads what `ExchangeText` writes.
struct ExchangeReader {
    /// The engines that an answer without a name stands for.
    private let engines: [TestEngine]
    private var exchanges: [Exchange] = []
    private var label = ""
    private var lane = 0
    private var request: CorpusRequest?
    private var answers: [TestEngine: [String]] = [:]
    /// Those whose answer was read last.
    private var answering: [TestEngine] = []

    static func read(_ path: String, engines: [TestEngine]) throws -> [Exchange] {
        var reader = ExchangeReader(engines: engines)
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            try reader.take(line)
        }
        reader.finish()
        return reader.exchanges
    }

    private init(engines: [TestEngine]) {
        self.engines = engines
    }

    private mutating func take(_ line: Substring) throws {
        guard let space = line.firstIndex(of: " "), let mark = line.first else { return }
        let rest = line[line.index(after: space)...]
        switch mark {
        case "=": return
        case "#":
            finish()
            (label, lane) = (String(rest), 0)
            if rest.hasPrefix("["), let end = rest.firstIndex(of: "]"), let number = Int(rest[..<end].dropFirst()) {
                (label, lane) = (String(rest[end...].dropFirst(2)), number)
            }
        case ">":
            request = try Self.request(rest)
            request?.label = label
            request?.lane = lane
        case "|": request?.headers.append(Self.header(rest))
        case "<":
            let name = line[..<space].dropFirst()
            answering = engines.filter { name.isEmpty || name == $0.rawValue }
            for engine in answering { answers[engine] = [String(rest)] }
        case "+": for engine in answering { answers[engine]?.append(String(rest)) }
        default: throw Shell.Failure(description: "no line begins with “\(mark)”: \(line.prefix(80))")
        }
    }

    private mutating func finish() {
        if let request { exchanges.append(Exchange(request: request, answers: answers)) }
        (request, answers) = (nil, [:])
    }

    /// - Returns: the request that `METHOD TARGET BODY` stands for.
    static func request(_ line: Substring) throws -> CorpusRequest {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, let method = HTTPClient.Method(rawValue: parts[0].lowercased()) else {
            throw Shell.Failure(description: "this is no request: \(line.prefix(80))")
        }
        return CorpusRequest(
            label: "", method: method, target: String(parts[1]),
            body: parts.count > 2 ? ExchangeText.bytes(parts[2]) : nil)
    }

    private static func header(_ line: Substring) -> (name: String, value: String) {
        let parts = line.split(separator: ":", maxSplits: 1)
        return (String(parts[0]), parts.count > 1 ? String(parts[1].dropFirst()) : "")
    }
}
