import Hummingbird
import Logging
import MergeCore
import MergeService
import NIOCore

struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let received: ReceivedRequest
    var query = Query()
    /// The sender; nil if the gateway needs no tokens.
    var bearer: Bearer?

    init(_ received: ReceivedRequest, source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        self.received = received
    }

    init(source: ApplicationRequestContextSource) {
        self.init(ReceivedRequest(), source: source)
    }

    var headers: RequestHeaders { received.headers }
    var path: String { received.path }
    var deadline: ContinuousClock.Instant { received.deadline }
    var failure: FailureNote { received.failure }

    /// Acquires memory for a long answer.
    ///
    /// - Throws: a 503 `Problem` if the budget is used up.
    func hold(_ bytes: Int) throws(Problem) {
        guard bytes > ByteBudget.small, let lease = received.lease else { return }
        guard lease.grow(by: bytes) else { throw ByteBudget.overloaded }
    }

    /// Returns true if `working` moves work on this many bytes to another executor.
    func isLarge(_ bytes: Int) -> Bool {
        received.largeWork != nil && LargeWork.takes(bytes, isPacked: false)
    }

    /// Runs work on many bytes on an executor that does not delay small requests.
    func working<Answer>(on bytes: Int, _ work: () async throws -> Answer) async rethrows -> Answer {
        guard let largeWork = received.largeWork else { return try await work() }
        return try await largeWork.run(on: bytes, work)
    }
}
