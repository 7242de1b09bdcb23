import MergeCore
import Synchronization

/// Limits the requests and edits per second and the waiting pushes of each client.
///
/// A client is the name of a token, or issuer and `sub`. Without tokens there is only one client.
final class ClientRates: Sendable {
    private struct Buckets {
        var requests: TokenBucket?
        var edits: TokenBucket?
        /// The pushes without an answer.
        var pushes = 0
    }

    private let requestsPerSecond: Int?
    private let editsPerSecond: Int?
    /// The maximum waiting pushes of a client; nil if clients cannot be distinguished.
    private let share: Int?
    private let clients = Mutex<[ExactText: Buckets]>([:])
    /// The number of clients from which on idle clients are removed.
    private static let many = 10_000

    /// Makes the limits; nil disables a limit.
    ///
    /// - Parameter share: the maximum waiting pushes of a client.
    init(requestsPerSecond: Int?, editsPerSecond: Int?, share: Int?) {
        self.requestsPerSecond = requestsPerSecond
        self.editsPerSecond = editsPerSecond
        self.share = share
    }

    /// Counts a request.
    ///
    /// - Throws: a 429 `Problem` above the limit.
    func request(of who: String, at now: ContinuousClock.Instant = .now) throws(Problem) {
        guard let rate = requestsPerSecond else { return }
        let wait = change(who, at: now) { client -> Int? in
            var bucket = client.requests ?? TokenBucket(rate: rate, now: now)
            defer { client.requests = bucket }
            return bucket.take(1, at: now)
        }
        if let wait { throw Self.over("\(rate) requests", wait: wait) }
    }

    /// Counts the edits of a push.
    ///
    /// - Throws: a 429 `Problem` above the limit.
    func edits(_ count: Int, of who: String, at now: ContinuousClock.Instant = .now) throws(Problem) {
        guard let rate = editsPerSecond, count > 0 else { return }
        let wait = change(who, at: now) { client -> Int? in
            var bucket = client.edits ?? TokenBucket(rate: rate, now: now)
            defer { client.edits = bucket }
            return bucket.take(count, at: now)
        }
        if let wait { throw Self.over("\(rate) edits", wait: wait) }
    }

    /// Counts a waiting push of a client until `endPush`.
    ///
    /// - Throws: a 429 `Problem` above the limit.
    func beginPush(of who: String) throws(Problem) {
        guard let share else { return }
        let isIn = change(who, at: .now) { client in
            guard client.pushes < share else { return false }
            client.pushes += 1
            return true
        }
        guard isIn else {
            throw Problem(
                .overRate, detail: "A client may have \(share) waiting pushes at the same time. Nothing was written.",
                retry: .later(.rate, after: 1))
        }
    }

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

    /// Returns true if a client has no waiting push and full buckets, like a new client.
    private static func isIdle(_ client: Buckets, at now: ContinuousClock.Instant) -> Bool {
        client.pushes == 0 && client.requests?.isFull(at: now) ?? true && client.edits?.isFull(at: now) ?? true
    }

    private static func over(_ bound: String, wait: Int) -> Problem {
        Problem(
            .overRate, detail: "A client may send \(bound) a second. Nothing was written.",
            retry: .later(.rate, after: wait))
    }
}
