import Hummingbird
import Logging
import MergeCore
import MergeService
import NIOCore

/// The values that travel with a request.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The request as it was received.
    let received: ReceivedRequest
    /// The query of the address.
    var query = Query()
    /// The one who sent it; nil where nobody needs a token.
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

    /// Takes room for an answer that is about to be made; a short one needs none.
    ///
    /// - Throws: a 503 `Problem` where other requests and answers hold all that there is.
    func hold(_ bytes: Int) throws(Problem) {
        guard bytes > ByteBudget.small, let lease = received.lease else { return }
        guard lease.grow(by: bytes) else { throw ByteBudget.overloaded }
    }

    /// Returns true where `working` moves what takes time in proportion to so many bytes elsewhere.
    func isLarge(_ bytes: Int) -> Bool {
        received.largeWork != nil && LargeWork.takes(bytes, isPacked: false)
    }

    /// Runs what takes time in proportion to many bytes where small requests do not wait for it.
    func working<Answer>(on bytes: Int, _ work: () async throws -> Answer) async rethrows -> Answer {
        guard let largeWork = received.largeWork else { return try await work() }
        return try await largeWork.run(on: bytes, work)
    }
}
