import Foundation
import Synchronization

extension FieldMergeStore {
    /// Sends a request; returns its answer when the status has arrived.
    ///
    /// - Throws: `ConnectionLost` without an answer.
    func send(
        _ method: String, _ path: String, body: [UInt8]? = nil, accept: String = "application/json",
        timeout: Double = SyncState.timeout
    ) async throws -> (response: TransportResponse, token: Int) {
        let (token, generation) = try await token()
        var headers = [
            "Accept": accept + ", application/problem+json", "Authorization": "Bearer \(token)",
            "User-Agent": "fieldmerge-swift/1.0", "X-Device-ID": device,
        ]
        headers["X-Client"] = client
        headers["X-Who"] = who.withLock { $0 }
        if body != nil { headers["Content-Type"] = "application/json" }
        let request = TransportRequest(
            method: method, path: path, headers: headers, body: body.map { Data($0) }, timeout: timeout)
        do {
            let response = try await transport.send(request)
            context.clockOffset.withLock {
                $0 = ServerDate.offset(response.headers, now: clock.now(), known: $0)
            }
            await keepWho(response.headers["x-who"])
            return (response, generation)
        } catch {
            throw ConnectionLost(reason: Self.reason(error))
        }
    }

    /// Stores the user in the first answer, so that the gateway refuses requests with a token of another user.
    private func keepWho(_ told: String?) async {
        guard let told, who.withLock({ $0 }) == nil else { return }
        who.withLock { $0 = told }
        _ = try? await file.write("who") { try $0.setMeta("who", .string(told)) }
    }

    static func reason(_ error: any Error) -> String {
        (error as? ConnectionLost)?.reason ?? (error as NSError).localizedDescription
    }

    /// Reads an answer whole.
    ///
    /// - Throws: `ConnectionLost` if it breaks off.
    static func whole(_ response: TransportResponse) async throws -> WholeAnswer {
        var body = Data()
        do {
            for try await part in response.body { body.append(part) }
        } catch {
            throw ConnectionLost(reason: reason(error))
        }
        try Task.checkCancellation()
        return WholeAnswer(status: response.status, headers: response.headers, body: body)
    }

    /// Sends a request of the scheduler and reads its answer whole.
    func ask(_ method: String, _ path: String, body: [UInt8]? = nil) async throws -> WholeAnswer {
        let (response, generation) = try await send(method, path, body: body)
        sync.usedToken = generation
        return try await Self.whole(response)
    }

    /// Returns the event of an answer other than 200, for any request.
    func refusal(_ answer: WholeAnswer) -> Scheduler.Event {
        let problem = answer.problem
        if answer.status != 401 { sync.freshAfter = nil }
        switch answer.status {
        case 401:
            note(error: "401", problem)
            return .unauthorized
        case 426 where problem != nil:
            sync.message = problem?["message"].stringValue ?? problem?["detail"].stringValue
            sync.link = problem?["link"].stringValue
            note(error: "426", problem)
            return .upgrade
        case 429, 503, 504: break
        default:
            guard problem?["retry"] == true else {
                let detail = problem?["detail"].stringValue ?? "no answer of a gateway"
                return lost("\(answer.status): \(detail)", problem)
            }
        }
        sync.backoff.retryAfter = answer.retryAfter(now: clock.now())
        note(error: "\(answer.status)", problem)
        return .retry
    }

    func lost(_ reason: String, _ problem: JSONValue? = nil) -> Scheduler.Event {
        note(error: reason, problem)
        return .lost
    }

    func note(error: String, _ problem: JSONValue?) {
        sync.error = error
        sync.problem = problem
        sync.report.error = error
        sync.report.problem = problem
    }

    /// Returns a query; `resources` are the requested resources, nil for all.
    nonisolated func query(_ members: [(String, String)], resources: [String]?) -> String {
        var members = members
        if let resources { members.append(("resources", resources.joined(separator: ","))) }
        let parts = members.map { name, value in
            "\(name)="
                + value.split(separator: ",", omittingEmptySubsequences: false)
                .map { String($0).percentEncoded }.joined(separator: ",")
        }
        return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
    }
}
