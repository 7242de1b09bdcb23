import Testing
import TestSupport

/// A client on a bad network: it sends its pushes in order, and repeats each with its key until there is an answer.
struct StubbornClient: Sendable {
    let place: GatewayPlace
    /// Receives the events of the client, if set.
    var events: AsyncStream<Event>.Continuation?
    /// The number of pushes that were sent again because of a missing or unusable answer.
    let disturbed = Counter()

    /// The events that a fault waits for.
    enum Event: Sendable {
        /// A push is about to be sent.
        case sent
        /// A push was answered with 200.
        case merged
    }

    /// A push with its final answer, and the faults before it.
    struct Settled: Sendable {
        let push: Ledger.Push
        let body: [UInt8]
        var isReplayed = false
    }

    /// Sends a minimum of pushes, and continues until it is enough.
    private func settle(
        _ pushes: Int, until isEnough: @Sendable () -> Bool, _ push: (Int) -> Ledger.Push
    ) async throws -> [Settled] {
        var settled: [Settled] = []
        while settled.count < pushes || !isEnough() {
            let push = push(settled.count)
            let answer = try await settle(push)
            settled.append(answer)
            // Some answers are requested again, as if they had been lost.
            if settled.count % 5 == 0 {
                let again = try await settle(push)
                #expect(again.body == answer.body)
                #expect(again.isReplayed)
            }
        }
        return settled
    }

    /// Several clients at once, each with different pushes to the same accounts.
    ///
    /// - Parameters:
    ///   - pushes: the minimum number for each client.
    ///   - isEnough: true when the faults of the test have happened. Clients continue until then, so the test does not
    ///     depend on the speed of processes.
    func settle(
        clients: Int, pushes: Int, until isEnough: @escaping @Sendable () -> Bool = { true }
    ) async throws -> [Settled] {
        try await withThrowingTaskGroup(of: [Settled].self) { group in
            for client in 0..<clients {
                group.addTask {
                    try await settle(pushes, until: isEnough) { index in
                        Ledger.Push(
                            label: "\(client).\(index)", account: 1 + (client + index) % Ledger.accounts,
                            points: 1 + index % 7)
                    }
                }
            }
            defer { events?.finish() }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func settle(_ push: Ledger.Push) async throws -> Settled {
        var count = 0
        while true {
            // After its time limit, the test ends.
            try Task.checkCancellation()
            let port = try await place.port
            events?.yield(.sent)
            count += 1
            if count == 2 { disturbed.increase() }
            guard let answer = try? await HTTPClient.with(port: port, { try await $0.post("/v1/push", push.body()) })
            else { continue }
            switch answer.status {
            case 200:
                events?.yield(.merged)
                return Settled(
                    push: push, body: answer.body, isReplayed: answer.headers["idempotent-replayed"] == "true")
            case 503, 504: break
            case 409 where try answer.json()["code"]?.text == "in-progress": break
            default: throw Shell.Failure(description: "\(answer.status) \(answer.text)")
            }
        }
    }
}

/// The gateway's address at this moment, for clients that outlive it.
actor GatewayPlace {
    private var current: Result<Int, any Error>?
    private var waiting: [CheckedContinuation<Int, any Error>] = []

    /// The port of the gateway that runs, or of the next one.
    var port: Int {
        get async throws {
            if let current { return try current.get() }
            return try await withCheckedThrowingContinuation { waiting.append($0) }
        }
    }

    func open(_ port: Int) { tell(.success(port)) }

    func close() { current = nil }

    /// There will be no other gateway.
    func fail(_ error: any Error) { tell(.failure(error)) }

    private func tell(_ result: Result<Int, any Error>) {
        current = result
        for client in waiting { client.resume(with: result) }
        waiting = []
    }
}
