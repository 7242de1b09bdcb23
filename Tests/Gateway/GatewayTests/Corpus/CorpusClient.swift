import MergeCore
import TestSupport

/// Sends requests of the corpus, and returns answers in the recorded form.
final class CorpusClient {
    private let session: HTTPClient.Session
    private var names: RunNames

    /// The id of all requests.
    ///
    /// Recorded answers omit it.
    private static let requestID = "corpus"
    /// The headers that are recorded.
    private static let headers = [
        "allow", "content-type", "etag", "idempotent-replayed", "retry-after", "vary", "www-authenticate",
    ]

    private let hasJournal: Bool
    /// The number after which the journal's entries have no name yet.
    private var lastEntry = 0

    init(_ session: HTTPClient.Session, version: String, hasJournal: Bool) {
        self.session = session
        self.hasJournal = hasJournal
        names = RunNames(version: version)
    }

    func send(_ request: CorpusRequest) async throws -> CorpusAnswer {
        if hasJournal, request.target.hasPrefix("/v1/journal") { try await nameEntries() }
        let answer = try await session.send(
            request.method, names.reveal(request.target), headers(of: request), request.body.map { names.reveal($0) })
        var named = names
        let text = ["instance", "request"].reduce(ExchangeText.text(named.hide(answer.body))) { text, name in
            text.replacing(#","\#(name)":"\#(Self.requestID)""#, with: "")
        }
        var recorded = CorpusAnswer(status: answer.status, body: ExactText(text))
        for name in Self.headers {
            guard let value = answer.headers[name], value != Self.usual(name, answer) else { continue }
            recorded.headers.append(ExactText("\(name): \(name == "etag" ? named.hideTag(value) : value)"))
        }
        // Numbers of a preview are rolled back, and some databases use them again.
        if !request.target.contains("preview=true") { names = named }
        return recorded
    }

    /// Has every entry of the journal named in the order of their numbers, whichever of them an answer shows first.
    private func nameEntries() async throws {
        while true {
            let page = try await session.get(
                "/v1/journal?limit=1000&after=\(lastEntry)", ["Authorization": "Bearer " + CorpusGateway.office])
            let entries = try page.json()["entries"]?.array ?? []
            for number in entries.compactMap({ $0["number"]?.int }) {
                _ = names.hide(Array(String(number).utf8))
                lastEntry = number
            }
            if entries.count < 1_000 { return }
        }
    }

    private func headers(of request: CorpusRequest) -> [String: String] {
        var headers = ["X-Request-ID": Self.requestID]
        if request.body != nil { headers["Content-Type"] = "application/json" }
        // Else the client would announce a body of unknown length.
        if request.body == nil, request.method == .post { headers["Content-Length"] = "0" }
        for (name, value) in request.headers {
            headers[name] = value.isEmpty ? nil : names.revealTags(names.reveal(value))
        }
        return headers
    }

    /// - Returns: the value of a header that is not recorded, because the body determines it.
    private static func usual(_ name: String, _ answer: HTTPClient.Answer) -> String? {
        switch name {
        case "content-type":
            answer.body.starts(with: #"{"type":"urn:"#.utf8) ? "application/problem+json" : "application/json"
        case "vary": "Accept-Encoding"
        default: nil
        }
    }
}
