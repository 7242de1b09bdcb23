import Hummingbird
import Logging
import MergeCore
import MergeService
import NIOCore

/// The values that travel with a request.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Names the request in the log and in its answer.
    var requestID = ""
    var headers = RequestHeaders()
    /// The path of the address, without its query.
    var path = ""
    /// The query of the address.
    var query = Query()
    /// All of the body, or why there is none.
    ///
    /// Every body is read whole before it means anything, so nobody has to wait for it here.
    var body: Result<ByteBuffer, BodyFault> = .success(ByteBuffer())
    /// The bytes that the request and its answer hold.
    var lease: ByteLease?
    /// The time at which the head of the request had come.
    var arrival: ContinuousClock.Instant = .now
    /// The time by which the request has to be done.
    var deadline: ContinuousClock.Instant = .now
    /// The caller that waits for the answer.
    var caller = Caller()
    /// The executor for what takes its time.
    var largeWork: LargeWork?
    /// The one who sent it; nil where nobody needs a token.
    var bearer: Bearer?
    /// The database's own words for the log, where a request failed because of it.
    let failure = FailureNote()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
    }

    /// Takes room for an answer that is about to be made; a short one needs none.
    ///
    /// - Throws: a 503 `Problem` where other requests and answers hold all that there is.
    func hold(_ bytes: Int) throws(Problem) {
        guard bytes > ByteBudget.small, let lease else { return }
        guard lease.grow(by: bytes) else { throw ByteBudget.overloaded }
    }

    /// Runs what takes time in proportion to many bytes where small requests do not wait for it.
    func working<Answer>(on bytes: Int, _ work: () async throws -> Answer) async rethrows -> Answer {
        guard let largeWork else { return try await work() }
        return try await largeWork.run(on: bytes, work)
    }
}

/// The reason for which the body of a request was not taken.
enum BodyFault: Error {
    case tooLarge
    /// It did not arrive in time.
    case tooSlow
    /// The head of the request is at fault, so its body was not waited for.
    case unwanted(Problem)
}
