import MergeCore
import Synchronization

/// Limits the requests and edits of each client in a second, and its waiting pushes.
///
/// A client is the name of a token, or issuer and `sub`. Without tokens all requests belong to one client.
final class ClientRates: Sendable {
    private struct Buckets {
        var requests: TokenBucket?
        var edits: TokenBucket?
        /// The pushes that have no answer yet.
        var pushes = 0
    }

    private let requestsPerSecond: Int?
    private let editsPerSecond: Int?
    /// The maximum waiting pushes of one client; nil if clients cannot be told apart.
    private let share: Int?
    private let clients = Mutex<[ExactText: Buckets]>([:])
    /// The number of clients from which on idle clients are removed.
    private static let many = 10_000

    /// - Parameters:
    ///   - requestsPerSecond: nil for no limit.
    ///   - editsPerSecond: nil for no limit.
    ///   - share: the maximum waiting pushes of one client; nil for no limit.
    init(requestsPerSecond: Int?, editsPerSecond: Int?, share: Int?) {
        self.requestsPerSecond = requestsPerSecond
        self.editsPerSecond = editsPerSecond
        self.share = share
    }

    /// Counts a request.
    ///
    /// - Throws: a 429 `Problem` if the client has sent too many requests.
    func request(of who: String, at now: ContinuousClock.Instant = .now) throws(Problem) {
        guard let rate = requestsPerSecond else { return }
        let wait = change(who, at: now) { client -> Int? in
            var bucket = client.requests ?? TokenBucket(rate: rate, now: now)
            defer { client.requests = bucket }
            return bucket.take(1, at: now)
        }
        if let wait { throw Self.over("\(rate) requests", wait) }
    }

    /// Counts the edits of a push.
    ///
    /// - Throws: a 429 `Problem` if the client has sent too many edits.
    func edits(_ count: Int, of who: String, at now: ContinuousClock.Instant = .now) throws(Problem) {
        guard let rate = editsPerSecond, count > 0 else { return }
        let wait = change(who, at: now) { client -> Int? in
            var bucket = client.edits ?? TokenBucket(rate: rate, now: now)
            defer { client.edits = bucket }
            return bucket.take(count, at: now)
        }
        if let wait { throw Self.over("\(rate) edits", wait) }
    }

    /// Counts a waiting push of a client, until `endPush`.
    ///
    /// - Throws: a 429 `Problem` if the client already has its share of waiting pushes.
    func beginPush(of who: String) throws(Problem) {
        guard let share else { return }
        let isIn = change(who, at: .now) { client in
            guard client.pushes < share else { return false }
            client.pushes += 1
            return true
        }
        guard isIn else {
            throw Problem(
                .overRate, detail: "A client may have \(share) pushes waiting at once; nothing was written.",
                retry: .later(.rate, after: 1))
        }
    }

    /// Ends a push that `beginPush` counted.
    func endPush(of who: String) {
        guard share != nil else { return }
        change(who, at: .now) { $0.pushes -= 1 }
    }

    @discardableResult
    private func change<Answer: Sendable>(
        _ who: String, at now: ContinuousClock.Instant, _ update: (inout Buckets) -> Answer
    ) -> Answer {
        let who = ExactText(who)
        return clients.withLock { clients in
            if clients.count >= Self.many, clients[who] == nil {
                clients = clients.filter { !Self.isIdle($0.value, at: now) }
            }
            let answer = update(&clients[who, default: Buckets()])
            if requestsPerSecond == nil, editsPerSecond == nil, clients[who]?.pushes == 0 { clients[who] = nil }
            return answer
        }
    }

    /// Returns true if the client has no waiting push and full buckets, so that its counts can be removed.
    private static func isIdle(_ client: Buckets, at now: ContinuousClock.Instant) -> Bool {
        client.pushes == 0 && client.requests?.isFull(at: now) ?? true && client.edits?.isFull(at: now) ?? true
    }

    private static func over(_ bound: String, _ wait: Int) -> Problem {
        Problem(
            .overRate, detail: "A client may send \(bound) a second; nothing was written.",
            retry: .later(.rate, after: wait))
    }
}
